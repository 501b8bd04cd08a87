#include "policy/starlark/parser.hpp"

#include <algorithm>
#include <optional>

namespace gatehouse::policy::starlark {

parser::parser(std::string_view text, position where, lexer::context in, arena& heap, budget& spent)
    : heap_{heap}, spent_{spent}, lexer_{text, where, in}, statement_line_{where.line} {}

void parser::advance() {
  if (++spent_.steps > spent_.step_limit)
    throw failure{"the rule file is too long to read: too many tokens", token_.where, true};
  token_ = lexer_.next();
}

bool parser::at_symbol(std::string_view text) const {
  return token_.kind == token_kind::symbol && token_.text == text;
}
bool parser::at_keyword(std::string_view text) const {
  return token_.kind == token_kind::keyword && token_.text == text;
}
bool parser::accept_symbol(std::string_view text) {
  if (!at_symbol(text)) return false;
  advance();
  return true;
}
bool parser::accept_keyword(std::string_view text) {
  if (!at_keyword(text)) return false;
  advance();
  return true;
}

void parser::expect_symbol(std::string_view text, std::string_view purpose) {
  if (!accept_symbol(text)) unexpected("`" + std::string{text} + "` " + std::string{purpose});
}

std::string_view parser::expect_name(std::string_view purpose) {
  if (token_.kind != token_kind::name) unexpected(purpose);
  const auto name = token_.text;
  advance();
  return name;
}

void parser::unexpected(std::string_view wanted) const {
  std::string found;
  switch (token_.kind) {
  case token_kind::end: found = "the end of the file"; break;
  case token_kind::newline: found = "the end of the line"; break;
  case token_kind::indent: found = "indentation"; break;
  case token_kind::dedent: found = "the end of the block"; break;
  case token_kind::string: found = "a string"; break;
  default: found = "`" + std::string{token_.text.substr(0, 40)} + "`"; break;
  }
  raise("expected " + std::string{wanted} + ", found " + found, token_.where);
}

expression* parser::parse_lone_expression() {
  advance();
  auto* made = parse_tuple_or_test();
  if (token_.kind != token_kind::end) unexpected("the end of the expression");
  return made;
}

expression* parser::parse_tuple_or_test() {
  const auto where = token_.where;
  auto* first = parse_test();
  if (!at_symbol(",")) return first;
  std::vector<expression*> items{first};
  while (accept_symbol(",")) {
    if (token_.kind == token_kind::newline || token_.kind == token_kind::end || at_symbol("=") ||
        at_symbol(")") || at_symbol("]") || at_symbol(";") || at_symbol(":"))
      break;
    items.push_back(parse_test());
  }
  auto* made = node<sequence_expression>(expression_kind::tuple, where);
  made->items = kept(items);
  return made;
}

expression* parser::parse_test() {
  const nesting guard{*this};
  if (at_keyword("lambda")) return parse_lambda();
  const auto where = token_.where;
  auto* value = parse_or();
  if (!accept_keyword("if")) return value;
  auto* made = node<conditional_expression>(expression_kind::conditional, where);
  made->then = value;
  made->condition = parse_or();
  if (!accept_keyword("else")) unexpected("`else`");
  made->otherwise = parse_test();
  return made;
}

expression* parser::parse_lambda() {
  auto* made = node<lambda_expression>(expression_kind::lambda, token_.where);
  auto* function = heap_.make<function_syntax>();
  made->function = function;
  function->name = "lambda";
  function->where = token_.where;
  advance();
  function->parameters = parse_parameters(":", false);
  expect_symbol(":", "and the value of the lambda");
  auto* result = node<return_statement>(statement_kind::give_back, token_.where);
  result->value = parse_test();
  function->body = kept(std::vector<statement*>{result});
  return made;
}

expression* parser::parse_or() {
  auto* left = parse_and();
  while (at_keyword("or")) {
    auto* made = node<logical_expression>(expression_kind::logical, left->where);
    advance();
    made->left = left;
    made->right = parse_and();
    left = made;
  }
  return left;
}

expression* parser::parse_and() {
  auto* left = parse_not();
  while (at_keyword("and")) {
    auto* made = node<logical_expression>(expression_kind::logical, left->where);
    advance();
    made->is_and = true;
    made->left = left;
    made->right = parse_not();
    left = made;
  }
  return left;
}

expression* parser::parse_not() {
  const nesting guard{*this};
  if (!at_keyword("not")) return parse_comparison();
  auto* made = node<unary_expression>(expression_kind::unary, token_.where);
  advance();
  made->op = unary_operator::negate;
  made->operand = parse_not();
  return made;
}

expression* parser::parse_comparison() {
  const auto comparison = [&]() -> std::optional<binary_operator> {
    if (at_symbol("==")) return binary_operator::equal;
    if (at_symbol("!=")) return binary_operator::not_equal;
    if (at_symbol("<")) return binary_operator::less;
    if (at_symbol(">")) return binary_operator::greater;
    if (at_symbol("<=")) return binary_operator::less_equal;
    if (at_symbol(">=")) return binary_operator::greater_equal;
    if (at_keyword("in")) return binary_operator::in;
    if (at_keyword("not")) return binary_operator::not_in;
    return std::nullopt;
  };
  auto* left = parse_operators(0);
  const auto op = comparison();
  if (!op) return left;
  advance();
  if (*op == binary_operator::not_in && !accept_keyword("in")) unexpected("`in` after `not`");
  auto* made = node<binary_expression>(expression_kind::binary, left->where);
  made->op = *op;
  made->left = left;
  made->right = parse_operators(0);
  if (comparison()) raise("comparisons cannot be chained; join them with `and`", token_.where);
  return made;
}

expression* parser::parse_operators(int level) {
  const auto here = [&]() -> std::optional<binary_operator> {
    switch (level) {
    case 0: return at_symbol("|") ? std::optional{binary_operator::bit_or} : std::nullopt;
    case 1: return at_symbol("^") ? std::optional{binary_operator::bit_xor} : std::nullopt;
    case 2: return at_symbol("&") ? std::optional{binary_operator::bit_and} : std::nullopt;
    case 3:
      if (at_symbol("<<")) return binary_operator::shift_left;
      if (at_symbol(">>")) return binary_operator::shift_right;
      return std::nullopt;
    case 4:
      if (at_symbol("+")) return binary_operator::add;
      if (at_symbol("-")) return binary_operator::subtract;
      return std::nullopt;
    default:
      if (at_symbol("*")) return binary_operator::multiply;
      if (at_symbol("/")) return binary_operator::divide;
      if (at_symbol("//")) return binary_operator::floor_divide;
      if (at_symbol("%")) return binary_operator::modulo;
      return std::nullopt;
    }
  };
  constexpr int last_level = 5;
  const auto operand = [&] {
    return level == last_level ? parse_unary() : parse_operators(level + 1);
  };
  auto* left = operand();
  while (const auto op = here()) {
    auto* made = node<binary_expression>(expression_kind::binary, left->where);
    advance();
    made->op = *op;
    made->left = left;
    made->right = operand();
    left = made;
  }
  return left;
}

expression* parser::parse_unary() {
  const nesting guard{*this};
  std::optional<unary_operator> op;
  if (at_symbol("-")) op = unary_operator::minus;
  if (at_symbol("+")) op = unary_operator::plus;
  if (at_symbol("~")) op = unary_operator::invert;
  if (!op) return parse_postfix();
  auto* made = node<unary_expression>(expression_kind::unary, token_.where);
  advance();
  made->op = *op;
  made->operand = parse_unary();
  return made;
}

expression* parser::parse_postfix() {
  auto* object = parse_primary();
  for (;;) {
    if (at_symbol("(")) {
      object = parse_call(object);
    } else if (at_symbol("[")) {
      object = parse_index(object);
    } else if (accept_symbol(".")) {
      auto* made = node<attribute_expression>(expression_kind::attribute, object->where);
      made->object = object;
      made->name = expect_name("a name after `.`");
      object = made;
    } else {
      return object;
    }
  }
}

expression* parser::parse_call(expression* callee) {
  auto* made = node<call_expression>(expression_kind::call, callee->where);
  made->callee = callee;
  advance();
  std::vector<argument> arguments;
  bool after_named = false;
  bool after_sequence = false;
  bool after_mapping = false;
  while (!at_symbol(")")) {
    argument next{};
    const auto where = token_.where;
    if (accept_symbol("**")) {
      next.kind = argument_kind::mapping;
    } else if (accept_symbol("*")) {
      next.kind = argument_kind::sequence;
    }
    next.item = parse_test();
    if (next.kind == argument_kind::positional && next.item->kind == expression_kind::name &&
        accept_symbol("=")) {
      next.kind = argument_kind::named;
      next.name = static_cast<name_expression*>(next.item)->name;
      next.item = parse_test();
    }
    if (after_mapping) raise("an argument after `**`", where);
    if (next.kind == argument_kind::sequence && after_sequence)
      raise("a second `*` argument", where);
    if (next.kind == argument_kind::positional && (after_named || after_sequence))
      raise("a positional argument after a named one", where);
    after_named = after_named || next.kind == argument_kind::named;
    after_sequence = after_sequence || next.kind == argument_kind::sequence;
    after_mapping = after_mapping || next.kind == argument_kind::mapping;
    arguments.push_back(next);
    if (!accept_symbol(",")) break;
  }
  expect_symbol(")", "to close the call");
  made->arguments = kept(arguments);
  return made;
}

expression* parser::parse_index(expression* object) {
  advance();
  expression* first = at_symbol(":") ? nullptr : parse_tuple_or_test();
  if (accept_symbol("]")) {
    auto* made = node<index_expression>(expression_kind::index, object->where);
    made->object = object;
    made->at = first;
    return made;
  }
  auto* made = node<slice_expression>(expression_kind::slice, object->where);
  made->object = object;
  made->from = first;
  expect_symbol(":", "or `]`");
  if (!at_symbol(":") && !at_symbol("]")) made->to = parse_test();
  if (accept_symbol(":") && !at_symbol("]")) made->step = parse_test();
  expect_symbol("]", "to close the slice");
  return made;
}

expression* parser::parse_primary() {
  const auto where = token_.where;
  switch (token_.kind) {
  case token_kind::name: {
    auto* made = node<name_expression>(expression_kind::name, where);
    made->name = token_.text;
    advance();
    return made;
  }
  case token_kind::string: return parse_string();
  case token_kind::integer:
  case token_kind::real: return parse_number();
  default: break;
  }
  if (at_symbol("(")) return parse_parenthesised();
  if (at_symbol("[")) return parse_list();
  if (at_symbol("{")) return parse_dict();
  if (accept_symbol("...")) {
    auto* made = node<literal_expression>(expression_kind::literal, where);
    made->constant = ellipsis();
    return made;
  }
  unexpected("an expression");
}

expression* parser::parse_parenthesised() {
  const auto where = token_.where;
  advance();
  if (accept_symbol(")")) return node<sequence_expression>(expression_kind::tuple, where);
  auto* inner = parse_tuple_or_test();
  expect_symbol(")", "to close the parenthesis");
  return inner;
}

expression* parser::parse_list() {
  const auto where = token_.where;
  advance();
  std::vector<expression*> items;
  while (!at_symbol("]")) {
    items.push_back(parse_test());
    if (items.size() == 1 && at_keyword("for"))
      return parse_comprehension(where, nullptr, items.front(), "]");
    if (!accept_symbol(",")) break;
  }
  expect_symbol("]", "to close the list");
  auto* made = node<sequence_expression>(expression_kind::list, where);
  made->items = kept(items);
  return made;
}

expression* parser::parse_dict() {
  const auto where = token_.where;
  advance();
  std::vector<dict_item> items;
  while (!at_symbol("}")) {
    auto* key = parse_test();
    expect_symbol(":", "after the key (there are no set literals)");
    auto* item = parse_test();
    if (items.empty() && at_keyword("for")) return parse_comprehension(where, key, item, "}");
    items.push_back({key, item});
    if (!accept_symbol(",")) break;
  }
  expect_symbol("}", "to close the dict");
  auto* made = node<dict_expression>(expression_kind::dict, where);
  made->items = kept(items);
  return made;
}

expression* parser::parse_comprehension(position where, expression* key, expression* item,
                                        std::string_view close) {
  auto* made = node<comprehension_expression>(expression_kind::comprehension, where);
  made->key = key;
  made->item = item;
  std::vector<comprehension_clause> clauses;
  while (!at_symbol(close)) {
    if (accept_keyword("for")) {
      auto* target = parse_targets("a loop variable");
      if (!accept_keyword("in")) unexpected("`in`");
      clauses.push_back({target, parse_or()});
    } else if (accept_keyword("if")) {
      clauses.push_back({nullptr, parse_or()});
    } else {
      unexpected("`for`, `if` or the end of the comprehension");
    }
  }
  advance();
  made->clauses = kept(clauses);
  return made;
}

expression* parser::parse_targets(std::string_view purpose) {
  const auto where = token_.where;
  if (token_.kind != token_kind::name && token_.kind != token_kind::symbol) unexpected(purpose);
  auto* first = parse_target_item();
  if (!at_symbol(",")) return first;
  std::vector<expression*> items{first};
  while (accept_symbol(",")) {
    if (at_keyword("in")) break;
    items.push_back(parse_target_item());
  }
  auto* made = node<sequence_expression>(expression_kind::tuple, where);
  made->items = kept(items);
  return made;
}

expression* parser::parse_target_item() {
  auto* item = parse_postfix();
  check_target(item, false);
  return item;
}

} // namespace gatehouse::policy::starlark
