#include "policy/starlark/resolver.hpp"

namespace gatehouse::policy::starlark {

/// The tree may be deeper than its text is nested: `a + b + c …` leans to the left.
class resolver::deeper {
public:
  deeper(int& depth, position where) : depth_{depth} {
    constexpr int deepest = 1000;
    if (depth_ >= deepest) raise("an expression has too many parts; split it", where);
    ++depth_;
  }
  ~deeper() { --depth_; }
  deeper(const deeper&) = delete;
  deeper& operator=(const deeper&) = delete;

private:
  int& depth_;
};

std::uint32_t resolver::block::add(std::string_view name) {
  const auto [it, is_new] = names.try_emplace(name, *slots);
  if (is_new) ++*slots;
  return it->second;
}

resolver::resolver(std::span<const std::string_view> builtins)
    : module_{nullptr, true, &module_slots_, {}} {
  for (std::uint32_t i = 0; i < builtins.size(); ++i)
    builtins_.emplace(builtins[i], i);
}

void resolver::declare(const statement& s) {
  bind_statement(module_, s);
}
void resolver::resolve(statement& s) {
  visit(module_, s);
}

void resolver::bind_target(block& in, const expression& target) {
  if (target.kind == expression_kind::name) {
    in.add(static_cast<const name_expression&>(target).name);
  } else if (target.kind == expression_kind::list || target.kind == expression_kind::tuple) {
    for (const auto* item : static_cast<const sequence_expression&>(target).items)
      bind_target(in, *item);
  }
}

void resolver::bind_body(block& in, std::span<statement* const> body) {
  for (const auto* s : body)
    bind_statement(in, *s);
}

void resolver::bind_statement(block& in, const statement& s) {
  switch (s.kind) {
  case statement_kind::assignment:
    return bind_target(in, *static_cast<const assignment_statement&>(s).target);
  case statement_kind::augmented:
    return bind_target(in, *static_cast<const augmented_statement&>(s).target);
  case statement_kind::definition:
    return bind_target(in, *static_cast<const definition_statement&>(s).target);
  case statement_kind::loop: {
    const auto& loop = static_cast<const loop_statement&>(s);
    bind_target(in, *loop.target);
    return bind_body(in, loop.body);
  }
  case statement_kind::condition:
    for (const auto& branch : static_cast<const condition_statement&>(s).branches)
      bind_body(in, branch.body);
    return;
  default: return;
  }
}

variable resolver::find(const block& in, const name_expression& name) const {
  std::uint32_t hops = 0;
  for (const auto* b = &in; b; b = b->outer) {
    if (const auto it = b->names.find(name.name); it != b->names.end()) return {hops, it->second};
    hops += b->starts_frame ? 1 : 0;
  }
  if (const auto it = builtins_.find(name.name); it != builtins_.end())
    return {variable::builtin, it->second};
  raise("the name `" + std::string{name.name} + "` is not defined", name.where);
}

void resolver::visit_body(block& in, std::span<statement* const> body) {
  for (auto* s : body)
    visit(in, *s);
}

void resolver::visit(block& in, statement& s) {
  switch (s.kind) {
  case statement_kind::expression: return visit(in, static_cast<expression_statement&>(s).value);
  case statement_kind::assignment: {
    auto& assignment = static_cast<assignment_statement&>(s);
    visit(in, assignment.value);
    visit(in, assignment.type);
    return visit(in, assignment.target);
  }
  case statement_kind::augmented: {
    auto& augmented = static_cast<augmented_statement&>(s);
    visit(in, augmented.value);
    return visit(in, augmented.target);
  }
  case statement_kind::condition:
    for (auto& branch : static_cast<condition_statement&>(s).branches) {
      visit(in, branch.condition);
      visit_body(in, branch.body);
    }
    return;
  case statement_kind::loop: {
    auto& loop = static_cast<loop_statement&>(s);
    visit(in, loop.over);
    visit(in, loop.target);
    return visit_body(in, loop.body);
  }
  case statement_kind::definition: {
    auto& definition = static_cast<definition_statement&>(s);
    visit_function(in, *definition.function);
    return visit(in, definition.target);
  }
  case statement_kind::give_back: return visit(in, static_cast<return_statement&>(s).value);
  case statement_kind::load:
    raise("rule files cannot load other files; put the rules into one file", s.where);
  case statement_kind::leave_loop:
  case statement_kind::next_round:
  case statement_kind::nothing: return;
  }
}

void resolver::visit(block& in, expression* e) {
  if (!e) return;
  const deeper guard{depth_, e->where};
  switch (e->kind) {
  case expression_kind::literal: return;
  case expression_kind::name: {
    auto& name = *static_cast<name_expression*>(e);
    name.target = find(in, name);
    return;
  }
  case expression_kind::list:
  case expression_kind::tuple:
    for (auto* item : static_cast<sequence_expression*>(e)->items)
      visit(in, item);
    return;
  case expression_kind::dict:
    for (auto& item : static_cast<dict_expression*>(e)->items) {
      visit(in, item.key);
      visit(in, item.item);
    }
    return;
  case expression_kind::comprehension:
    return visit_comprehension(in, *static_cast<comprehension_expression*>(e));
  case expression_kind::unary: return visit(in, static_cast<unary_expression*>(e)->operand);
  case expression_kind::binary: {
    auto& binary = *static_cast<binary_expression*>(e);
    visit(in, binary.left);
    return visit(in, binary.right);
  }
  case expression_kind::logical: {
    auto& logical = *static_cast<logical_expression*>(e);
    visit(in, logical.left);
    return visit(in, logical.right);
  }
  case expression_kind::conditional: {
    auto& conditional = *static_cast<conditional_expression*>(e);
    visit(in, conditional.condition);
    visit(in, conditional.then);
    return visit(in, conditional.otherwise);
  }
  case expression_kind::lambda:
    return visit_function(in, *static_cast<lambda_expression*>(e)->function);
  case expression_kind::call: {
    auto& call = *static_cast<call_expression*>(e);
    visit(in, call.callee);
    for (auto& argument : call.arguments)
      visit(in, argument.item);
    return;
  }
  case expression_kind::index: {
    auto& index = *static_cast<index_expression*>(e);
    visit(in, index.object);
    return visit(in, index.at);
  }
  case expression_kind::slice: {
    auto& slice = *static_cast<slice_expression*>(e);
    visit(in, slice.object);
    visit(in, slice.from);
    visit(in, slice.to);
    return visit(in, slice.step);
  }
  case expression_kind::attribute: return visit(in, static_cast<attribute_expression*>(e)->object);
  case expression_kind::formatted:
    for (auto& piece : static_cast<formatted_expression*>(e)->pieces)
      visit(in, piece.item);
    return;
  }
}

void resolver::visit_function(block& in, function_syntax& f) {
  for (auto& p : f.parameters) {
    visit(in, p.type);
    visit(in, p.initial);
  }
  visit(in, f.result_type);
  f.slots = 0;
  block inside{&in, true, &f.slots, {}};
  for (auto& p : f.parameters)
    p.slot = inside.add(p.name);
  bind_body(inside, f.body);
  visit_body(inside, f.body);
}

void resolver::visit_comprehension(block& in, comprehension_expression& c) {
  block inside{&in, false, in.slots, {}};
  bool first = true;
  for (auto& clause : c.clauses) {
    if (clause.target) {
      visit(first ? in : inside, clause.operand);
      bind_target(inside, *clause.target);
      visit(inside, clause.target);
    } else {
      visit(inside, clause.operand);
    }
    first = false;
  }
  visit(inside, c.key);
  visit(inside, c.item);
}

} // namespace gatehouse::policy::starlark
