#include "sandbox/access_tree.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::sandbox {

using policy::is_at_or_below;
using policy::is_below;

bool access_tree::by_component::operator()(const std::string& a,
                                           const std::string& b) const noexcept {
  const auto rank = [](char c) { return c == '/' ? 0 : 1 + static_cast<unsigned char>(c); };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](char x, char y) { return rank(x) < rank(y); });
}

void access_tree::add(const std::string& path, access granted, path_kind kind) {
  const auto [at, added] = places_.try_emplace(path, place{granted, kind, {}});
  if (!added) at->second = {std::max(at->second.granted, granted), kind, {}};
}

void access_tree::add_link(const std::string& path, const std::string& text) {
  places_.try_emplace(path, place{access::read, path_kind::other, text});
}

std::optional<access> access_tree::access_at(std::string_view path) const {
  for (std::string at{path};; at = policy::parent_of(at)) {
    if (const auto found = places_.find(at);
        found != places_.end() && found->second.link_text.empty())
      return found->second.granted;
    if (at == "/") return std::nullopt;
  }
}

bool access_tree::has_write(const std::string& path) const {
  const auto found = places_.find(path);
  return found != places_.end() && found->second.granted == access::write;
}

bool access_tree::has_write_around(std::string_view path) const {
  return access_at(path) == access::write ||
         std::any_of(places_.begin(), places_.end(), [&](const auto& p) {
           return p.second.granted == access::write && is_at_or_below(p.first, path);
         });
}

std::optional<std::string> access_tree::nearest_write(std::string_view path) const {
  for (std::string at{path};; at = policy::parent_of(at)) {
    if (has_write(at)) return at;
    if (at == "/") return std::nullopt;
  }
}

bool access_tree::has_grant_below(places::const_iterator at) const {
  const std::string& folder = at->first;
  for (++at; at != places_.end() && is_below(at->first, folder); ++at)
    if (at->second.granted != access::deny) return true;
  return false;
}

void access_tree::emit_below(std::vector<mount_step>& steps, places::const_iterator& at,
                             const std::string& folder, std::optional<access> around) const {
  while (at != places_.end() && is_below(at->first, folder)) {
    const auto& [path, here] = *at;
    const bool hidden = !around || *around == access::deny;
    if (!here.link_text.empty()) {
      if (hidden) steps.push_back({mount_kind::link, path, here.link_text, 0});
      ++at;
      continue;
    }
    bool seal = false;
    if (here.granted == access::deny && !hidden) {
      if (here.kind == path_kind::directory) {
        const bool reopened = has_grant_below(at);
        steps.push_back({mount_kind::empty_folder, path, {}, reopened ? 0111U : 0U});
        seal = true;
      } else {
        steps.push_back({mount_kind::denied_file, path, {}, 0});
      }
    } else if (here.granted == access::write) {
      const bool device = is_below(path, "/dev") && !is_below(path, "/dev/shm");
      steps.push_back(
          {device ? mount_kind::device_bind : mount_kind::writable_bind, path, path, 0});
    } else if (here.granted == access::read && around != access::read) {
      steps.push_back({mount_kind::read_only_bind, path, path, 0});
    }
    const auto inside =
        here.granted == access::deny && !around ? around : std::optional{here.granted};
    const std::string& below = path;
    ++at;
    emit_below(steps, at, below, inside);
    if (seal) steps.push_back({mount_kind::seal, below, {}, 0});
  }
}

std::vector<mount_step> access_tree::mounts() const {
  std::vector<mount_step> steps;
  auto at = places_.begin();
  std::optional<access> base;
  if (at != places_.end() && at->first == "/") {
    if (at->second.granted != access::deny) base = at->second.granted;
    ++at;
  }
  if (base)
    steps.push_back(
        {*base == access::write ? mount_kind::writable_bind : mount_kind::read_only_bind, "/", "/",
         0});
  else
    steps.push_back({mount_kind::empty_folder, "/", {}, 0755});
  steps.push_back({mount_kind::devices, "/dev", {}, 0});
  steps.push_back({mount_kind::processes, "/proc", {}, 0});
  // uid 0 may write kernel settings wherever they are shown writable.
  if (base == access::write)
    steps.push_back({mount_kind::read_only_bind, "/proc/sys", "/proc/sys", 0});
  emit_below(steps, at, "/", base);
  if (!base) steps.push_back({mount_kind::seal, "/", {}, 0});
  return steps;
}

std::vector<std::string> access_tree::write_paths() const {
  std::vector<std::string> paths{"/dev"};
  for (const auto& [path, here] : places_)
    if (here.granted == access::write &&
        std::none_of(paths.begin(), paths.end(),
                     [&](const std::string& p) { return is_at_or_below(path, p); }))
      paths.push_back(path);
  return paths;
}

} // namespace gatehouse::sandbox
