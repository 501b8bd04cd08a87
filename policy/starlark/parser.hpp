#pragma once

#include "policy/starlark/arena.hpp"
#include "policy/starlark/lexer.hpp"
#include "policy/starlark/syntax.hpp"

#include <memory_resource>
#include <vector>

namespace gatehouse::policy::starlark {

/// Reads statements of the dialect one by one into an arena. Throws `failure`.
class parser {
public:
  /// `steps` is counted up by every token read and compared with `step_limit`.
  struct budget {
    std::uint64_t steps = 0;
    std::uint64_t step_limit;
  };

  parser(std::string_view text, position where, lexer::context in, arena& heap, budget& spent);

  /// Parses the next statement line of the file (several with `;`) and appends it; false at the
  /// end.
  bool parse_top_level(std::vector<statement*>& out);

  /// Line on which the statement began that was parsed, or failed to parse, last.
  [[nodiscard]] std::uint32_t statement_line() const noexcept { return statement_line_; }

  /// A lone expression that fills the whole text.
  expression* parse_lone_expression();

private:
  static constexpr int deepest_nesting = 200;
  struct nesting {
    explicit nesting(parser& p) : of{p} {
      if (of.depth_ >= deepest_nesting)
        raise("this is nested more than " + std::to_string(deepest_nesting) + " levels deep",
              of.token_.where);
      ++of.depth_;
    }
    ~nesting() { --of.depth_; }
    nesting(const nesting&) = delete;
    nesting& operator=(const nesting&) = delete;
    parser& of;
  };

  void advance();
  [[nodiscard]] bool at_symbol(std::string_view text) const;
  [[nodiscard]] bool at_keyword(std::string_view text) const;
  bool accept_symbol(std::string_view text);
  bool accept_keyword(std::string_view text);
  void expect_symbol(std::string_view text, std::string_view purpose);
  std::string_view expect_name(std::string_view purpose);
  [[noreturn]] void unexpected(std::string_view wanted) const;

  void parse_line(std::vector<statement*>& out);
  statement* parse_small_statement();
  statement* parse_assignment_or_expression();
  statement* parse_if();
  statement* parse_for();
  statement* parse_def();
  statement* parse_load();
  std::span<statement*> parse_body();
  std::span<parameter> parse_parameters(std::string_view close, bool with_types);
  parameter parse_parameter(bool with_types, bool after_star);

  expression* parse_tuple_or_test();
  expression* parse_test();
  expression* parse_lambda();
  expression* parse_or();
  expression* parse_and();
  expression* parse_not();
  expression* parse_comparison();
  expression* parse_operators(int level);
  expression* parse_unary();
  expression* parse_postfix();
  expression* parse_primary();
  expression* parse_string();
  expression* parse_formatted(const token& literal);
  expression* parse_number();
  expression* parse_parenthesised();
  expression* parse_list();
  expression* parse_dict();
  expression* parse_call(expression* callee);
  expression* parse_index(expression* object);
  expression* parse_comprehension(position where, expression* key, expression* item,
                                  std::string_view close);
  expression* parse_targets(std::string_view purpose);
  expression* parse_target_item();
  void check_target(const expression* target, bool in_augmented) const;

  template <class Node, class Kind>
  Node* node(Kind kind, position where) {
    auto* made = heap_.make<Node>();
    made->kind = kind;
    made->where = where;
    return made;
  }
  template <class T>
  std::span<T> kept(const std::vector<T>& items) {
    return heap_.copy(std::span<const T>{items});
  }

  arena& heap_;
  budget& spent_;
  lexer lexer_;
  token token_;
  std::uint32_t statement_line_;
  int depth_ = 0;
  int functions_ = 0; ///< `def`s around the current statement
  int loops_ = 0;     ///< `for`s around it, within its function
};

} // namespace gatehouse::policy::starlark
