#include "policy/starlark/evaluator.hpp"

#include "policy/starlark/each_item.hpp"
#include "policy/starlark/operators.hpp"

namespace gatehouse::policy::starlark {

evaluator::evaluator(arena& heap, limits bounds, std::span<const value> builtins)
    : heap_{heap}, limits_{bounds}, builtins_{builtins} {}

void evaluator::open_module(std::uint32_t slots) {
  frame_ = heap_.make<frame>();
  frame_->slots = heap_.make_array<value>(slots);
}

void evaluator::spend(std::uint64_t steps) {
  if (steps > limits_.steps - steps_)
    throw failure{"the rule file needs more than " + std::to_string(limits_.steps) +
                      " steps to evaluate",
                  {},
                  true};
  steps_ += steps;
}

void evaluator::run(const statement& s) {
  run_one(s);
}

evaluator::completion evaluator::run_body(std::span<statement* const> body) {
  for (const auto* s : body)
    if (const auto c = run_one(*s); c != completion::normal) return c;
  return completion::normal;
}

evaluator::completion evaluator::run_one(const statement& s) {
  const depth_guard guard{depth_};
  here_ = s.where;
  spend(1);
  switch (s.kind) {
  case statement_kind::expression:
    evaluate(*static_cast<const expression_statement&>(s).value);
    return completion::normal;
  case statement_kind::assignment:
    run_assignment(static_cast<const assignment_statement&>(s));
    return completion::normal;
  case statement_kind::augmented:
    run_augmented(static_cast<const augmented_statement&>(s));
    return completion::normal;
  case statement_kind::condition:
    for (const auto& branch : static_cast<const condition_statement&>(s).branches)
      if (!branch.condition || truth(evaluate(*branch.condition))) return run_body(branch.body);
    return completion::normal;
  case statement_kind::loop: return run_loop(static_cast<const loop_statement&>(s));
  case statement_kind::definition: {
    const auto& definition = static_cast<const definition_statement&>(s);
    assign(*definition.target, make_function(*definition.function));
    return completion::normal;
  }
  case statement_kind::give_back: {
    const auto* result = static_cast<const return_statement&>(s).value;
    returned_ = result ? evaluate(*result) : none();
    return completion::give_back;
  }
  case statement_kind::leave_loop: return completion::leave_loop;
  case statement_kind::next_round: return completion::next_round;
  case statement_kind::nothing:
  case statement_kind::load: return completion::normal;
  }
  return completion::normal;
}

evaluator::completion evaluator::run_loop(const loop_statement& loop) {
  const auto over = evaluate(*loop.over);
  auto ended = completion::normal;
  here_ = loop.over->where;
  each_item(*this, over, [&](const value& item) {
    assign(*loop.target, item);
    const auto c = run_body(loop.body);
    if (c == completion::give_back) ended = c;
    return c == completion::normal || c == completion::next_round;
  });
  return ended;
}

void evaluator::run_assignment(const assignment_statement& s) {
  const auto v = evaluate(*s.value);
  here_ = s.where;
  if (s.type) require_type(s.type, v, "the value");
  assign(*s.target, v);
}

void evaluator::run_augmented(const augmented_statement& s) {
  if (s.target->kind == expression_kind::index) {
    const auto& target = static_cast<const index_expression&>(*s.target);
    const auto object = evaluate(*target.object);
    const auto at = evaluate(*target.at);
    here_ = s.where;
    const auto before = index(*this, object, at);
    const auto operand = evaluate(*s.value);
    here_ = s.where;
    assign_index(*this, object, at, apply_in_place(*this, s.op, before, operand));
    return;
  }
  const auto before = evaluate(*s.target);
  const auto operand = evaluate(*s.value);
  here_ = s.where;
  assign(*s.target, apply_in_place(*this, s.op, before, operand));
}

value& evaluator::slot_of(const variable& target) {
  auto* f = frame_;
  for (auto hops = target.hops; hops > 0; --hops)
    f = f->outer;
  return f->slots[target.slot];
}

void evaluator::assign(const expression& target, const value& v) {
  switch (target.kind) {
  case expression_kind::name:
    slot_of(static_cast<const name_expression&>(target).target) = v;
    return;
  case expression_kind::index: {
    const auto& to = static_cast<const index_expression&>(target);
    const auto object = evaluate(*to.object);
    const auto at = evaluate(*to.at);
    here_ = target.where;
    return assign_index(*this, object, at, v);
  }
  case expression_kind::list:
  case expression_kind::tuple: return unpack(static_cast<const sequence_expression&>(target), v);
  default: raise("the attributes of values cannot be assigned to", target.where);
  }
}

void evaluator::unpack(const sequence_expression& targets, const value& v) {
  here_ = targets.where;
  const auto items = tuple_from(*this, v).tuple->items;
  if (items.size() != targets.items.size())
    raise("cannot unpack " + std::to_string(items.size()) + " values into " +
          std::to_string(targets.items.size()) + " variables");
  for (std::size_t i = 0; i < items.size(); ++i)
    assign(*targets.items[i], items[i]);
}

value evaluator::evaluate(const expression& e) {
  const depth_guard guard{depth_};
  spend(1);
  switch (e.kind) {
  case expression_kind::literal: return static_cast<const literal_expression&>(e).constant;
  case expression_kind::name: return evaluate_name(static_cast<const name_expression&>(e));
  case expression_kind::list:
  case expression_kind::tuple: return evaluate_sequence(static_cast<const sequence_expression&>(e));
  case expression_kind::dict: return evaluate_dict(static_cast<const dict_expression&>(e));
  case expression_kind::comprehension:
    return evaluate_comprehension(static_cast<const comprehension_expression&>(e));
  case expression_kind::unary: return evaluate_unary(static_cast<const unary_expression&>(e));
  case expression_kind::binary: {
    const auto& binary = static_cast<const binary_expression&>(e);
    const auto left = evaluate(*binary.left);
    const auto right = evaluate(*binary.right);
    here_ = e.where;
    return apply(*this, binary.op, left, right);
  }
  case expression_kind::logical: {
    const auto& logical = static_cast<const logical_expression&>(e);
    const auto left = evaluate(*logical.left);
    return truth(left) == logical.is_and ? evaluate(*logical.right) : left;
  }
  case expression_kind::conditional: {
    const auto& conditional = static_cast<const conditional_expression&>(e);
    return evaluate(truth(evaluate(*conditional.condition)) ? *conditional.then
                                                            : *conditional.otherwise);
  }
  case expression_kind::lambda:
    return make_function(*static_cast<const lambda_expression&>(e).function);
  case expression_kind::call: return evaluate_call(static_cast<const call_expression&>(e));
  case expression_kind::index: {
    const auto& at = static_cast<const index_expression&>(e);
    const auto object = evaluate(*at.object);
    const auto key = evaluate(*at.at);
    here_ = e.where;
    return index(*this, object, key);
  }
  case expression_kind::slice: return evaluate_slice(static_cast<const slice_expression&>(e));
  case expression_kind::attribute: {
    const auto& attribute = static_cast<const attribute_expression&>(e);
    const auto object = evaluate(*attribute.object);
    here_ = e.where;
    const auto found = find_attribute(*this, object, attribute.name);
    if (found.is(value_kind::unbound))
      raise("a value of type " + std::string{type_name(object)} + " has no `" +
            std::string{attribute.name} + "`");
    return found;
  }
  case expression_kind::formatted:
    return evaluate_formatted(static_cast<const formatted_expression&>(e));
  }
  return none();
}

value evaluator::evaluate_name(const name_expression& e) {
  if (e.target.hops == variable::builtin) return builtins_[e.target.slot];
  const auto v = slot_of(e.target);
  if (v.is(value_kind::unbound))
    raise("the variable `" + std::string{e.name} + "` is used before it has a value", e.where);
  return v;
}

value evaluator::evaluate_sequence(const sequence_expression& e) {
  const auto items = heap_.make_array<value>(e.items.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i] = evaluate(*e.items[i]);
  if (e.kind == expression_kind::list) return new_list(*this, items);
  auto* made = heap_.make<tuple_object>();
  made->items = items;
  return of(made);
}

value evaluator::evaluate_dict(const dict_expression& e) {
  const auto made = new_dict(*this);
  for (const auto& item : e.items) {
    const auto key = evaluate(*item.key);
    const auto v = evaluate(*item.item);
    here_ = item.key->where;
    if (find_key(*this, *made.dict, key))
      raise("the key " + repr_of(*this, key) + " appears twice in a dict");
    set_key(*this, *made.dict, key, v);
  }
  return made;
}

value evaluator::evaluate_comprehension(const comprehension_expression& e) {
  const auto made = e.key ? new_dict(*this) : new_list(*this, {});
  run_clauses(e, 0, made);
  return made;
}

void evaluator::run_clauses(const comprehension_expression& e, std::size_t from,
                            const value& into) {
  const depth_guard guard{depth_};
  if (from == e.clauses.size()) {
    if (e.key) {
      const auto key = evaluate(*e.key);
      const auto item = evaluate(*e.item);
      here_ = e.key->where;
      set_key(*this, *into.dict, key, item);
    } else {
      into.list->items.push_back(evaluate(*e.item));
    }
    return;
  }
  const auto& clause = e.clauses[from];
  const auto operand = evaluate(*clause.operand);
  if (!clause.target) {
    if (truth(operand)) run_clauses(e, from + 1, into);
    return;
  }
  here_ = clause.operand->where;
  each_item(*this, operand, [&](const value& item) {
    assign(*clause.target, item);
    run_clauses(e, from + 1, into);
    return true;
  });
}

value evaluator::evaluate_slice(const slice_expression& e) {
  const auto part = [&](const expression* p) { return p ? evaluate(*p) : none(); };
  const auto object = evaluate(*e.object);
  const auto from = part(e.from);
  const auto to = part(e.to);
  const auto step = part(e.step);
  here_ = e.where;
  return slice(*this, object, from, to, step);
}

value evaluator::evaluate_formatted(const formatted_expression& e) {
  std::string text;
  for (const auto& piece : e.pieces) {
    if (!piece.item) {
      text += piece.text;
      continue;
    }
    const auto v = evaluate(*piece.item);
    here_ = piece.item->where;
    text += piece.as_repr ? repr_of(*this, v) : text_of(*this, v);
  }
  return make_string(heap_, text);
}

} // namespace gatehouse::policy::starlark
