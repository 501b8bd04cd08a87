#include "policy/starlark/parser.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gatehouse::policy::starlark {
namespace {

struct augmented_symbol {
  std::string_view text;
  binary_operator op;
};
constexpr std::array<augmented_symbol, 11> augmented_symbols{{
    {"+=", binary_operator::add},
    {"-=", binary_operator::subtract},
    {"*=", binary_operator::multiply},
    {"/=", binary_operator::divide},
    {"//=", binary_operator::floor_divide},
    {"%=", binary_operator::modulo},
    {"&=", binary_operator::bit_and},
    {"|=", binary_operator::bit_or},
    {"^=", binary_operator::bit_xor},
    {"<<=", binary_operator::shift_left},
    {">>=", binary_operator::shift_right},
}};

} // namespace

bool parser::parse_top_level(std::vector<statement*>& out) {
  if (token_.where.line == 0) advance();
  statement_line_ = std::max(statement_line_, token_.where.line);
  if (token_.kind == token_kind::end) return false;
  if (token_.kind == token_kind::indent) raise("unexpected indentation", token_.where);
  parse_line(out);
  return true;
}

void parser::parse_line(std::vector<statement*>& out) {
  const nesting guard{*this};
  if (at_keyword("if")) return out.push_back(parse_if());
  if (at_keyword("for")) return out.push_back(parse_for());
  if (at_keyword("def")) return out.push_back(parse_def());
  for (;;) {
    out.push_back(parse_small_statement());
    const bool more = accept_symbol(";");
    if (token_.kind == token_kind::newline) break;
    if (!more) unexpected("the end of the statement");
  }
  advance();
}

statement* parser::parse_small_statement() {
  const auto where = token_.where;
  if (accept_keyword("pass")) return node<statement>(statement_kind::nothing, where);
  if (at_keyword("break") || at_keyword("continue")) {
    const auto kind = at_keyword("break") ? statement_kind::leave_loop : statement_kind::next_round;
    if (loops_ == 0) raise("`" + std::string{token_.text} + "` outside of a loop", where);
    advance();
    return node<statement>(kind, where);
  }
  if (accept_keyword("return")) {
    if (functions_ == 0) raise("`return` outside of a function", where);
    auto* made = node<return_statement>(statement_kind::give_back, where);
    if (token_.kind != token_kind::newline && !at_symbol(";")) made->value = parse_tuple_or_test();
    return made;
  }
  if (at_keyword("load")) return parse_load();
  return parse_assignment_or_expression();
}

statement* parser::parse_load() {
  const auto where = token_.where;
  advance();
  expect_symbol("(", "after `load`");
  while (!at_symbol(")")) {
    if (token_.kind == token_kind::name) {
      advance();
      expect_symbol("=", "after a name in `load`");
    }
    if (token_.kind != token_kind::string) unexpected("a string in `load`");
    advance();
    if (!accept_symbol(",")) break;
  }
  expect_symbol(")", "to close `load`");
  return node<statement>(statement_kind::load, where);
}

statement* parser::parse_assignment_or_expression() {
  const auto where = token_.where;
  auto* first = parse_tuple_or_test();
  if (at_symbol("=") || at_symbol(":")) {
    check_target(first, false);
    auto* made = node<assignment_statement>(statement_kind::assignment, where);
    made->target = first;
    if (accept_symbol(":")) {
      if (first->kind != expression_kind::name)
        raise("only a plain name can have a type annotation", where);
      made->type = parse_test();
    }
    expect_symbol("=", "and a value");
    made->value = parse_tuple_or_test();
    return made;
  }
  const auto is_here = [&](const augmented_symbol& s) { return at_symbol(s.text); };
  const auto op = std::ranges::find_if(augmented_symbols, is_here);
  if (op != augmented_symbols.end()) {
    check_target(first, true);
    advance();
    auto* made = node<augmented_statement>(statement_kind::augmented, where);
    made->target = first;
    made->op = op->op;
    made->value = parse_tuple_or_test();
    return made;
  }
  auto* made = node<expression_statement>(statement_kind::expression, where);
  made->value = first;
  return made;
}

void parser::check_target(const expression* target, bool in_augmented) const {
  switch (target->kind) {
  case expression_kind::name:
  case expression_kind::index:
  case expression_kind::attribute: return;
  case expression_kind::list:
  case expression_kind::tuple:
    if (in_augmented) break;
    for (const auto* item : static_cast<const sequence_expression*>(target)->items)
      check_target(item, false);
    return;
  case expression_kind::slice: raise("a slice cannot be assigned to", target->where);
  default: break;
  }
  raise("this cannot be assigned to", target->where);
}

statement* parser::parse_if() {
  auto* made = node<condition_statement>(statement_kind::condition, token_.where);
  std::vector<condition_branch> branches;
  advance();
  do {
    auto* condition = parse_test();
    branches.push_back({condition, parse_body()});
  } while (accept_keyword("elif"));
  if (accept_keyword("else")) branches.push_back({nullptr, parse_body()});
  made->branches = kept(branches);
  return made;
}

statement* parser::parse_for() {
  auto* made = node<loop_statement>(statement_kind::loop, token_.where);
  advance();
  made->target = parse_targets("a loop variable");
  if (!accept_keyword("in")) unexpected("`in`");
  made->over = parse_tuple_or_test();
  ++loops_;
  made->body = parse_body();
  --loops_;
  return made;
}

statement* parser::parse_def() {
  const auto where = token_.where;
  auto* made = node<definition_statement>(statement_kind::definition, where);
  auto* function = heap_.make<function_syntax>();
  advance();
  made->target = node<name_expression>(expression_kind::name, token_.where);
  made->target->name = expect_name("the name of the function");
  made->function = function;
  function->name = made->target->name;
  function->where = where;
  expect_symbol("(", "and the parameters");
  function->parameters = parse_parameters(")", true);
  expect_symbol(")", "to close the parameters");
  if (accept_symbol("->")) function->result_type = parse_test();
  const auto outer_loops = std::exchange(loops_, 0);
  ++functions_;
  function->body = parse_body();
  --functions_;
  loops_ = outer_loops;
  return made;
}

std::span<statement*> parser::parse_body() {
  expect_symbol(":", "and a body");
  std::vector<statement*> body;
  if (token_.kind != token_kind::newline) {
    if (at_keyword("if") || at_keyword("for") || at_keyword("def"))
      unexpected("a simple statement or a new line");
    parse_line(body);
    return kept(body);
  }
  advance();
  if (token_.kind != token_kind::indent) unexpected("an indented body");
  advance();
  while (token_.kind != token_kind::dedent) {
    if (token_.kind == token_kind::indent) raise("unexpected indentation", token_.where);
    parse_line(body);
  }
  advance();
  return kept(body);
}

std::span<parameter> parser::parse_parameters(std::string_view close, bool with_types) {
  std::vector<parameter> parameters;
  bool after_star = false;
  bool after_default = false;
  while (!at_symbol(close)) {
    if (parameters.size() > 255) raise("a function has more than 255 parameters", token_.where);
    if (!parameters.empty() && parameters.back().kind == parameter_kind::mapping)
      unexpected("nothing after the `**` parameter");
    const auto where = token_.where;
    if (at_symbol("*") && after_star) raise("a second `*` among the parameters", where);
    if (accept_symbol("*")) {
      after_star = true;
      if (!accept_symbol(",")) {
        auto p = parse_parameter(with_types, true);
        if (p.initial) raise("the `*` parameter cannot have a default", where);
        p.kind = parameter_kind::sequence;
        parameters.push_back(p);
        if (!accept_symbol(",")) break;
      } else if (token_.kind != token_kind::name) {
        unexpected("a keyword-only parameter after `*`");
      }
      continue;
    }
    const bool is_mapping = accept_symbol("**");
    auto p = parse_parameter(with_types, after_star);
    if (is_mapping) {
      if (p.initial) raise("the `**` parameter cannot have a default", where);
      p.kind = parameter_kind::mapping;
    } else if (!after_star) {
      if (after_default && !p.initial)
        raise("a parameter without a default follows one with a default", where);
      after_default = after_default || p.initial;
    }
    parameters.push_back(p);
    if (!accept_symbol(",")) break;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (parameters[i].name == parameters[j].name)
        raise("the parameter `" + std::string{parameters[i].name} + "` appears twice",
              parameters[i].where);
  return kept(parameters);
}

parameter parser::parse_parameter(bool with_types, bool after_star) {
  parameter p{};
  p.kind = after_star ? parameter_kind::keyword_only : parameter_kind::normal;
  p.where = token_.where;
  p.name = expect_name("a parameter name");
  if (with_types && accept_symbol(":")) p.type = parse_test();
  if (accept_symbol("=")) p.initial = parse_test();
  return p;
}

} // namespace gatehouse::policy::starlark
