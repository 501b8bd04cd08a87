#include "sandbox/access_tree.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <iterator>
#include <set>
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

/// Walks the places in order and writes the steps for each.
class access_tree::emitter {
public:
  explicit emitter(const places& all) : all_{all}, at_{all.begin()} {}

  std::vector<mount_step> run() {
    std::optional<access> base;
    if (at_ != all_.end() && at_->first == "/") {
      if (at_->second.granted != access::deny) base = at_->second.granted;
      ++at_;
    }
    if (base)
      bind(*base, "/");
    else
      steps_.push_back({mount_kind::empty_folder, "/", {}, 0755});
    steps_.push_back({mount_kind::devices, "/dev", {}, 0});
    steps_.push_back({mount_kind::processes, "/proc", {}, 0});
    // uid 0 may write kernel settings wherever they are shown writable.
    if (base == access::write) bind(access::read, "/proc/sys");
    below("/", {base, {}});
    if (!base) steps_.push_back({mount_kind::seal, "/", {}, 0});
    return std::move(steps_);
  }

private:
  /// What surrounds a place: nothing (not granted), or the access of the nearest place above, and
  /// for a denied one where the denial begins.
  struct surroundings {
    std::optional<access> granted;
    std::string denied_from;
    [[nodiscard]] bool hidden() const { return !granted || *granted == access::deny; }
  };

  void bind(access granted, const std::string& path) {
    const bool device = is_below(path, "/dev") && !is_below(path, "/dev/shm");
    steps_.push_back({granted == access::read ? mount_kind::read_only_bind
                      : device                ? mount_kind::device_bind
                                              : mount_kind::writable_bind,
                      path, path, 0});
  }

  /// The folders from a denial down to a reopened place may be passed, not listed.
  void make_way(const std::string& path, const std::string& denied_from) {
    if (denied_from.empty()) return;
    std::vector<std::string> way;
    for (std::string folder{policy::parent_of(path)}; is_below(folder, denied_from);
         folder = policy::parent_of(folder))
      way.push_back(folder);
    for (auto folder = way.rbegin(); folder != way.rend(); ++folder)
      if (made_.insert(*folder).second) steps_.push_back({mount_kind::folder, *folder, {}, 0111});
  }

  [[nodiscard]] bool is_reopened(places::const_iterator denied) const {
    auto at = std::next(denied);
    for (; at != all_.end() && is_below(at->first, denied->first); ++at)
      if (at->second.granted != access::deny) return true;
    return false;
  }

  void below(const std::string& folder, const surroundings& around) {
    while (at_ != all_.end() && is_below(at_->first, folder)) {
      const auto here = at_++;
      const auto& [path, place] = *here;
      if (!place.link_text.empty()) {
        if (!around.hidden()) continue;
        make_way(path, around.denied_from);
        steps_.push_back({mount_kind::link, path, place.link_text, 0});
      } else if (place.granted == access::deny) {
        deny(here, around);
      } else {
        if (place.granted == access::write || around.granted != access::read) {
          make_way(path, around.denied_from);
          bind(place.granted, path);
        }
        below(path, {place.granted, {}});
      }
    }
  }

  void deny(places::const_iterator here, const surroundings& around) {
    const auto& [path, place] = *here;
    const bool reopened = is_reopened(here);
    if (!around.hidden() && place.kind != path_kind::directory) {
      steps_.push_back({mount_kind::denied_file, path, {}, 0});
    } else if (!around.hidden()) {
      steps_.push_back({mount_kind::empty_folder, path, {}, reopened ? 0111U : 0U});
      below(path, {access::deny, path});
      steps_.push_back({mount_kind::seal, path, {}, 0});
    } else if (!around.granted && reopened) {
      steps_.push_back({mount_kind::folder, path, {}, 0111});
      below(path, {access::deny, path});
    } else {
      below(path, around);
    }
  }

  const places& all_;
  places::const_iterator at_;
  std::set<std::string> made_;
  std::vector<mount_step> steps_;
};

std::vector<mount_step> access_tree::mounts() const {
  return emitter{places_}.run();
}

std::vector<std::string> access_tree::write_paths() const {
  std::vector<std::string> paths{"/dev"};
  for (const auto& one : places_)
    if (one.second.granted == access::write &&
        std::none_of(paths.begin(), paths.end(),
                     [&](const std::string& p) { return is_at_or_below(one.first, p); }))
      paths.push_back(one.first);
  return paths;
}

} // namespace gatehouse::sandbox
