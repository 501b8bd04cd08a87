#pragma once

#include "policy/path_text.hpp"
#include "sandbox/landlock_backend.hpp"
#include "sandbox/plan.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse::tests {

/// Answers questions as the kernel does with the mounts and guards of a plan: the last step that
/// covers a path decides. Guards for names at any depth are left out: what they keep from coming to
/// be is more than a profile asks for, and no other platform can do it.
class view_model {
public:
  explicit view_model(sandbox::mount_plan plan) : plan_{std::move(plan)} {}

  [[nodiscard]] bool may_read(const std::string& path) const {
    return find(path) != shown::nothing;
  }
  /// To change what is there, or to make what is not.
  [[nodiscard]] bool may_write(const std::string& path, bool exists) const {
    if (find(exists ? path : std::string{policy::parent_of(path)}) != shown::writable) return false;
    return exists || !find_guard(plan_.guards, path, sandbox::guarded_operation::create_file, true);
  }

private:
  enum class shown { nothing, readable, writable };

  [[nodiscard]] shown find(const std::string& path) const {
    using kind = sandbox::mount_kind;
    auto last = shown::nothing;
    for (const auto& step : plan_.mounts) {
      if (!policy::is_at_or_below(path, step.target)) continue;
      switch (step.kind) {
      case kind::read_only_bind: last = shown::readable; break;
      case kind::writable_bind: last = shown::writable; break;
      case kind::empty_folder:
      case kind::denied_file:
      case kind::folder: last = shown::nothing; break;
      default: break;
      }
    }
    return last;
  }

  sandbox::mount_plan plan_;
};

/// The same for Landlock alone: what the supervisor performs, of which the kernel's own grants must
/// be a part.
class landlock_model {
public:
  explicit landlock_model(sandbox::landlock_plan plan) : plan_{std::move(plan)} {}

  [[nodiscard]] bool may_write(const std::string& path, bool exists) const {
    const auto where = exists ? path : std::string{policy::parent_of(path)};
    if (deepest(plan_.write_paths, where) <= deepest(plan_.read_only_paths, where)) return false;
    return exists || !find_guard(plan_.guards, path, sandbox::guarded_operation::create_file, true);
  }
  [[nodiscard]] bool kernel_grants(const std::string& path) const {
    return deepest(plan_.grants, path) > 0;
  }

private:
  static std::size_t deepest(const std::vector<std::string>& places, const std::string& path) {
    std::size_t longest = 0;
    for (const auto& place : places)
      if (policy::is_at_or_below(path, place)) longest = std::max(longest, place.size());
    return longest;
  }

  sandbox::landlock_plan plan_;
};

} // namespace gatehouse::tests
