#pragma once

#include "policy/starlark/arena.hpp"
#include "policy/starlark/syntax.hpp"
#include "policy/starlark/value.hpp"

#include <span>
#include <string>
#include <vector>

namespace gatehouse::policy::starlark {

/// Runs resolved statements. Everything throws `failure`; `here()` says where it stood.
class evaluator {
public:
  struct limits {
    std::uint64_t steps;
    int call_depth; ///< frames: the module, functions and builtins
  };

  evaluator(arena& heap, limits bounds, std::span<const value> builtins);

  /// Makes the module's variables. Call once, when all statements are resolved.
  void open_module(std::uint32_t slots);
  /// Runs one top-level statement. After a failure the next one may still be run.
  void run(const statement& s);

  value call(const value& callee, const call_arguments& arguments);
  value call(const value& callee, std::span<const value> positional);

  /// Counts work that a loop inside a builtin does.
  void spend(std::uint64_t steps);

  [[nodiscard]] arena& heap() noexcept { return heap_; }
  [[nodiscard]] position here() const noexcept { return here_; }

private:
  enum class completion : std::uint8_t { normal, leave_loop, next_round, give_back };
  class frame_guard;
  /// Bounds how deep the interpreter itself recurses, whatever the program nests.
  class depth_guard {
  public:
    explicit depth_guard(int& depth) : depth_{depth} {
      constexpr int deepest = 2000;
      if (depth_ >= deepest) raise("this is nested too deeply to evaluate");
      ++depth_;
    }
    ~depth_guard() { --depth_; }
    depth_guard(const depth_guard&) = delete;
    depth_guard& operator=(const depth_guard&) = delete;

  private:
    int& depth_;
  };

  completion run_body(std::span<statement* const> body);
  completion run_one(const statement& s);
  completion run_loop(const loop_statement& loop);
  void run_assignment(const assignment_statement& s);
  void run_augmented(const augmented_statement& s);
  void assign(const expression& target, const value& v);
  void unpack(const sequence_expression& targets, const value& v);

  value evaluate(const expression& e);
  value evaluate_name(const name_expression& e);
  value evaluate_sequence(const sequence_expression& e);
  value evaluate_dict(const dict_expression& e);
  value evaluate_comprehension(const comprehension_expression& e);
  void run_clauses(const comprehension_expression& e, std::size_t from, const value& into);
  value evaluate_call(const call_expression& e);
  value evaluate_slice(const slice_expression& e);
  value evaluate_unary(const unary_expression& e);
  value evaluate_formatted(const formatted_expression& e);
  value make_function(const function_syntax& f);
  value call_function(const function_object& f, const call_arguments& arguments);
  void bind(const function_object& f, const call_arguments& arguments, frame& into);

  /// Does `v` have the annotated type? Throws when `type` is not one.
  bool conforms(const expression& type, const value& v);
  bool conforms_elements(const index_expression& type, const value& v);
  void require_type(const expression* type, const value& v, const std::string& what);

  value& slot_of(const variable& target);

  arena& heap_;
  limits limits_;
  std::span<const value> builtins_;
  frame* frame_ = nullptr;
  value returned_ = none();
  std::uint64_t steps_ = 0;
  int calls_ = 1; ///< the module's own frame
  int depth_ = 0;
  position here_;
};

} // namespace gatehouse::policy::starlark
