#include "sandbox/landlock_backend.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

namespace gatehouse::sandbox {
namespace {

using policy::is_at_or_below;
using policy::is_below;

/// What a command needs of the host's /dev; everything else in there is somebody else's.
constexpr std::array<const char*, 6> plain_devices{"/dev/null",   "/dev/zero",    "/dev/full",
                                                   "/dev/random", "/dev/urandom", "/dev/tty"};

error cannot(const mount_step& step, std::string_view why) {
  return {errc::boundary_unavailable,
          "refusing to run unsandboxed: the landlock backend cannot express `" + step.target +
              "`: " + std::string{why},
          "change the profile, or use the linux backend"};
}

bool is_base(const mount_step& step) {
  return step.target == "/" && step.kind == mount_kind::read_only_bind;
}

class granter {
public:
  granter(const landlock_plan& plan, const list_children& children)
      : plan_{plan}, children_{children} {}

  std::vector<std::string> run() {
    for (const auto& root : plan_.write_paths)
      grant(root);
    return std::move(grants_);
  }

private:
  [[nodiscard]] bool holds_part(const std::string& path) const {
    return std::any_of(plan_.read_only_paths.begin(), plan_.read_only_paths.end(),
                       [&](const auto& part) { return is_below(part, path); });
  }
  [[nodiscard]] bool is_part(const std::string& path) const {
    return std::find(plan_.read_only_paths.begin(), plan_.read_only_paths.end(), path) !=
           plan_.read_only_paths.end();
  }

  void grant(const std::string& path) {
    if (!holds_part(path)) return grants_.push_back(path);
    for (const auto& child : children_(path))
      if (!is_part(child)) grant(child);
  }

  const landlock_plan& plan_;
  const list_children& children_;
  std::vector<std::string> grants_;
};

} // namespace

std::vector<std::string> children_on_host(const std::string& folder) {
  std::vector<std::string> children;
  std::error_code failure;
  for (std::filesystem::directory_iterator at{folder, failure}, end; !failure && at != end;
       at.increment(failure)) {
    std::error_code unknown;
    if (!at->is_symlink(unknown) && !unknown) children.push_back(at->path().string());
  }
  std::sort(children.begin(), children.end());
  return children;
}

result<landlock_plan> make_landlock_plan(const mount_plan& view, const list_children& children) {
  landlock_plan plan;
  if (std::none_of(view.mounts.begin(), view.mounts.end(), is_base))
    return error{errc::boundary_unavailable,
                 "refusing to run unsandboxed: the landlock backend leaves everything readable "
                 "and limits writing; this profile asks for something else",
                 "grant `:root` read and nothing more of it, or use the linux backend"};
  for (const auto& step : view.mounts) {
    switch (step.kind) {
    case mount_kind::devices:
    case mount_kind::processes: break;
    case mount_kind::read_only_bind:
      if (is_base(step)) break;
      plan.read_only_paths.push_back(step.target);
      // Moved away, it would be an ordinary part of the writable folder.
      plan.guards.push_back({std::string{policy::parent_of(step.target)}, step.target,
                             guard_kind::keep, false, "read-only part `" + step.target + "`"});
      break;
    case mount_kind::writable_bind:
      if (is_at_or_below(step.target, "/dev") || is_at_or_below(step.target, "/proc") ||
          is_at_or_below(step.target, "/sys"))
        return cannot(step, "it is the host's own");
      plan.write_paths.push_back(step.target);
      break;
    case mount_kind::device_bind: return cannot(step, "the host's /dev is in view");
    case mount_kind::empty_folder:
    case mount_kind::folder:
    case mount_kind::link:
    case mount_kind::denied_file:
    case mount_kind::seal: return cannot(step, "this backend leaves reading open");
    }
  }
  plan.grants = granter{plan, children}.run();
  for (const auto* device : plain_devices) {
    plan.write_paths.emplace_back(device);
    plan.grants.emplace_back(device);
  }
  plan.guards.insert(plan.guards.end(), view.guards.begin(), view.guards.end());
  plan.warnings = view.warnings;
  return plan;
}

} // namespace gatehouse::sandbox
