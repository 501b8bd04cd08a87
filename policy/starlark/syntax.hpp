#pragma once

#include "policy/starlark/value.hpp"

#include <span>
#include <string_view>

namespace gatehouse::policy::starlark {

/// Nodes live in an arena and point into it; `kind` says which struct a node is.
enum class expression_kind : std::uint8_t {
  literal,
  name,
  list,
  tuple,
  dict,
  comprehension,
  unary,
  binary,
  logical,
  conditional,
  lambda,
  call,
  index,
  slice,
  attribute,
  formatted, ///< f"…"
};

enum class unary_operator : std::uint8_t { plus, minus, invert, negate };

enum class binary_operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  equal,
  not_equal,
  less,
  greater,
  less_equal,
  greater_equal,
  in,
  not_in,
};

std::string_view to_string(binary_operator op) noexcept;

/// Where a name's value is found, filled in by `resolve`.
struct variable {
  static constexpr std::uint32_t builtin = UINT32_MAX;
  std::uint32_t hops = 0; ///< frames outward; `builtin`: `slot` is an index into the builtins
  std::uint32_t slot = 0;
};

struct expression {
  expression_kind kind;
  position where;
};

struct literal_expression : expression {
  value constant;
};
struct name_expression : expression {
  std::string_view name;
  variable target;
};
/// list and tuple
struct sequence_expression : expression {
  std::span<expression*> items;
};
struct dict_item {
  expression* key;
  expression* item;
};
struct dict_expression : expression {
  std::span<dict_item> items;
};
/// `for target in over` when `over` is set before `condition`; else `if condition`.
struct comprehension_clause {
  expression* target; ///< null: an `if`
  expression* operand;
};
struct comprehension_expression : expression {
  expression* key; ///< null: a list
  expression* item;
  std::span<comprehension_clause> clauses;
};
struct unary_expression : expression {
  unary_operator op;
  expression* operand;
};
struct binary_expression : expression {
  binary_operator op;
  expression* left;
  expression* right;
};
struct logical_expression : expression {
  bool is_and;
  expression* left;
  expression* right;
};
struct conditional_expression : expression {
  expression* condition;
  expression* then;
  expression* otherwise;
};
struct index_expression : expression {
  expression* object;
  expression* at;
};
struct slice_expression : expression {
  expression* object;
  expression* from; ///< null: left out
  expression* to;
  expression* step;
};
struct attribute_expression : expression {
  expression* object;
  std::string_view name;
};

enum class argument_kind : std::uint8_t { positional, named, sequence, mapping };
struct argument {
  argument_kind kind;
  std::string_view name; ///< of a named one
  expression* item;
};
struct call_expression : expression {
  expression* callee;
  std::span<argument> arguments;
};

struct format_piece {
  std::string_view text; ///< when there is no `item`
  expression* item;
  bool as_repr;
};
struct formatted_expression : expression {
  std::span<format_piece> pieces;
};

enum class parameter_kind : std::uint8_t { normal, keyword_only, sequence, mapping };
struct parameter {
  parameter_kind kind;
  std::string_view name;
  position where;
  expression* type;    ///< null: none
  expression* initial; ///< default value; null: none
  std::uint32_t slot;  ///< filled in by `resolve`
};

struct statement;

struct function_syntax {
  std::string_view name; ///< "lambda" for one
  position where;
  std::span<parameter> parameters;
  expression* result_type; ///< null: none
  std::span<statement*> body;
  std::uint32_t slots; ///< variables of a call; filled in by `resolve`
};
struct lambda_expression : expression {
  function_syntax* function;
};

enum class statement_kind : std::uint8_t {
  expression,
  assignment,
  augmented,
  condition,
  loop,
  definition,
  give_back,
  leave_loop,
  next_round,
  nothing,
  load,
};

struct statement {
  statement_kind kind;
  position where;
};

struct expression_statement : statement {
  expression* value;
};
struct assignment_statement : statement {
  expression* target;
  expression* type; ///< null: none
  expression* value;
};
struct augmented_statement : statement {
  expression* target;
  binary_operator op;
  expression* value;
};
struct condition_branch {
  expression* condition; ///< null: `else`
  std::span<statement*> body;
};
struct condition_statement : statement {
  std::span<condition_branch> branches;
};
struct loop_statement : statement {
  expression* target;
  expression* over;
  std::span<statement*> body;
};
struct definition_statement : statement {
  name_expression* target;
  function_syntax* function;
};
struct return_statement : statement {
  expression* value; ///< null: None
};

} // namespace gatehouse::policy::starlark
