#include "policy/starlark/parser.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gatehouse::policy::starlark {
namespace {

struct augmented_symbol {
  std::string_view text;
  binary_operator op;
};
constexpr std::array<augmented_symbol, 10> augmented_symbols{{
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
}};

} // namespace

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

// Statements

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
      made->type = parse_type();
    }
    expect_symbol("=", "and a value");
    made->value = parse_tuple_or_test();
    return made;
  }
  const auto is_here = [&](const augmented_symbol& s) { return at_symbol(s.text); };
  auto op = std::optional<binary_operator>{};
  if (const auto it = std::ranges::find_if(augmented_symbols, is_here);
      it != augmented_symbols.end())
    op = it->op;
  else if (at_symbol(">>="))
    op = binary_operator::shift_right;
  if (op) {
    check_target(first, true);
    advance();
    auto* made = node<augmented_statement>(statement_kind::augmented, where);
    made->target = first;
    made->op = *op;
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
  if (accept_symbol("->")) function->result_type = parse_type();
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
  if (with_types && accept_symbol(":")) p.type = parse_type();
  if (accept_symbol("=")) p.initial = parse_test();
  return p;
}

expression* parser::parse_type() {
  return parse_test();
}

// Expressions

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
