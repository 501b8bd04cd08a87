#pragma once

#include "protocol/permission_profile.hpp"
#include "sandbox/plan.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// What is granted where, by canonical path: the nearest place at or above a path decides. Places
/// exist on the host. On one place deny beats write beats read (§62).
class access_tree {
public:
  void add(const std::string& path, access granted, path_kind kind);
  /// A link that leads to a granted place; made anew where the view does not show the host's own.
  void add_link(const std::string& place, const std::string& text);

  /// Nothing where no place lies at or above `path`.
  [[nodiscard]] std::optional<access> access_at(std::string_view path) const;
  [[nodiscard]] bool has(const std::string& path) const { return places_.contains(path); }
  [[nodiscard]] bool has_write(const std::string& path) const;
  /// Is `path` itself or anything below it writable?
  [[nodiscard]] bool has_write_around(std::string_view path) const;
  /// The deepest writable place at or above `path`.
  [[nodiscard]] std::optional<std::string> nearest_write(std::string_view path) const;

  /// The steps, each place before what lies below it, so that the narrowest wins last (§78).
  [[nodiscard]] std::vector<mount_step> mounts() const;
  /// The topmost writable places, and /dev.
  [[nodiscard]] std::vector<std::string> write_paths() const;

private:
  struct place {
    access granted = access::read;
    path_kind kind = path_kind::directory;
    std::string link_text; ///< a link; its grant is read
  };
  /// Every component sorts before what follows it, so that a place comes right before its own.
  struct by_component {
    bool operator()(const std::string& a, const std::string& b) const noexcept;
  };
  using places = std::map<std::string, place, by_component>;

  class emitter;

  places places_;
};

} // namespace gatehouse::sandbox
