#include "sandbox/view_shares.hpp"

#include "policy/path_text.hpp"

#include <algorithm>

namespace gatehouse::sandbox {
namespace {

bool binds(mount_kind kind) {
  return kind == mount_kind::read_only_bind || kind == mount_kind::writable_bind ||
         kind == mount_kind::device_bind;
}

/// The whole tree of the host is there, so that every further source can be seen in it.
void divide_whole_tree(std::span<const mount_step> mounts, const std::string& console,
                       view_shares& shares) {
  shares.by_bwrap.push_back(mounts.front());
  for (const auto& step : mounts.subspan(1)) {
    shares.by_inner.push_back(step);
    if (step.kind == mount_kind::devices && !console.empty())
      shares.by_inner.push_back({mount_kind::device_bind, step.target + "/console", console, 0});
  }
}

/// Only what is granted is there: denials inside it are left to the inner stage, and what lies
/// below them. So are the devices, for which the host's are shown until then: bubblewrap would
/// give up the mounts to make its own.
void divide_granted(std::span<const mount_step> mounts, const std::string& console,
                    view_shares& shares) {
  std::vector<std::string> masks;
  for (const auto& step : mounts) {
    if (step.kind == mount_kind::devices) {
      shares.by_bwrap.push_back({mount_kind::device_bind, step.target, step.target, 0});
      shares.by_inner.push_back({mount_kind::devices, step.target, step.target, 0});
      if (!console.empty())
        shares.by_inner.push_back({mount_kind::device_bind, step.target + "/console", console, 0});
      masks.push_back(step.target);
      continue;
    }
    const bool masked = std::any_of(masks.begin(), masks.end(), [&](const std::string& mask) {
      return policy::is_at_or_below(step.target, mask);
    });
    const bool masks_folder = step.kind == mount_kind::empty_folder && step.target != "/";
    if (masks_folder) masks.push_back(step.target);
    const bool inner = masked || masks_folder || step.kind == mount_kind::denied_file;
    (inner ? shares.by_inner : shares.by_bwrap).push_back(step);
    if (step.kind == mount_kind::processes)
      shares.by_inner.push_back({mount_kind::seal, step.target, {}, 0});
  }
}

} // namespace

view_shares share_view(std::span<const mount_step> mounts, const std::string& console) {
  view_shares shares;
  if (!mounts.empty() && binds(mounts.front().kind) && mounts.front().target == "/")
    divide_whole_tree(mounts, console, shares);
  else
    divide_granted(mounts, console, shares);
  return shares;
}

} // namespace gatehouse::sandbox
