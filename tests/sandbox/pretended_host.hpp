#pragma once

#include "sandbox/plan.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace gatehouse::tests {

using namespace gatehouse::sandbox;

inline profile_entry path(std::string p, access a) {
  return {literal_path{std::move(p)}, a, false};
}
inline profile_entry glob(std::string p) {
  return {glob_path{std::move(p)}, access::deny, false};
}
inline profile_entry special(special_kind k, access a) {
  return {special_path{k, {}, {}}, a, false};
}

/// A profile and invented facts about a host: a workspace /w, a $TMPDIR /t, and /tmp.
struct pretended_host {
  permission_profile profile;
  policy::access_context context;
  host_facts facts;

  explicit pretended_host(std::vector<profile_entry> entries) {
    profile.file_system.entries = std::move(entries);
    context.cwd = "/w";
    context.project_roots = {"/w"};
    context.tmpdir = "/t";
    facts.paths["/"] = folder("/");
    for (const auto* p : {"/w", "/t", "/tmp"})
      facts.paths[p] = folder(p);
  }

  static path_fact folder(const std::string& p) { return {path_kind::directory, p, {}, {}}; }
  static path_fact file(const std::string& p) { return {path_kind::file, p, {}, {}}; }
  static path_fact missing(const std::string& p, const std::string& in) {
    return {path_kind::missing, p, in, {}};
  }

  mount_plan plan() const {
    auto made = make_mount_plan(profile, context, facts);
    REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
    return *std::move(made);
  }
  error failure() const {
    const auto made = make_mount_plan(profile, context, facts);
    REQUIRE_FALSE(made.has_value());
    return made.error();
  }
};

/// The entries of workspace-write, and more.
inline std::vector<profile_entry> workspace(std::vector<profile_entry> more = {}) {
  auto entries = workspace_write_profile().file_system.entries;
  entries.insert(entries.end(), more.begin(), more.end());
  return entries;
}

} // namespace gatehouse::tests
