#pragma once

#include "policy/starlark/syntax.hpp"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gatehouse::policy::starlark {

/// Finds out, before anything runs, which variable every name means: assignments make names local
/// to their function, comprehensions have names of their own, the rest is looked up outward.
class resolver {
public:
  /// @param builtins their order gives `variable::slot`; outlives the resolver
  explicit resolver(std::span<const std::string_view> builtins);

  /// Notes the names that a top-level statement binds in the module. All before any `resolve`.
  void declare(const statement& s);
  /// Fills in the variables of one top-level statement. Throws `failure` for an unknown name.
  void resolve(statement& s);
  /// Variables of the module, so far.
  [[nodiscard]] std::uint32_t slots() const noexcept { return module_slots_; }

private:
  struct block {
    block* outer;
    bool starts_frame;
    std::uint32_t* slots; ///< of the frame it lies in
    std::unordered_map<std::string_view, std::uint32_t> names;

    std::uint32_t add(std::string_view name);
  };
  class deeper;

  static void bind_target(block& in, const expression& target);
  void bind_statement(block& in, const statement& s);
  void bind_body(block& in, std::span<statement* const> body);
  void visit(block& in, statement& s);
  void visit_body(block& in, std::span<statement* const> body);
  void visit(block& in, expression* e);
  void visit_function(block& in, function_syntax& f);
  void visit_comprehension(block& in, comprehension_expression& c);

  std::unordered_map<std::string_view, std::uint32_t> builtins_;
  std::uint32_t module_slots_ = 0;
  block module_;
  int depth_ = 0;

  [[nodiscard]] variable find(const block& in, const name_expression& name) const;
};

} // namespace gatehouse::policy::starlark
