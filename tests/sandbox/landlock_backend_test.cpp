#include "sandbox/landlock_backend.hpp"

#include "tests/sandbox/pretended_host.hpp"

#include <algorithm>
#include <map>

using namespace gatehouse;
using namespace gatehouse::tests;

namespace {

const profile_entry root_read = special(special_kind::root, access::read);

/// /w holds .git (with hooks and config), src and a.
pretended_host repository(std::vector<profile_entry> entries) {
  pretended_host host{std::move(entries)};
  for (const auto* p : {"/w/.git", "/w/.git/hooks", "/w/src", "/w/src/gen"})
    host.facts.paths[p] = pretended_host::folder(p);
  host.facts.protected_paths.push_back(
      {"/w/.git", "/w", pretended_host::folder("/w/.git"), "protected name `.git`", false});
  host.facts.protected_paths.push_back({"/w/.codex", "/w",
                                        pretended_host::missing("/w/.codex", "/w"),
                                        "protected name `.codex`", false});
  return host;
}

std::vector<std::string> children(const std::string& folder) {
  static const std::map<std::string, std::vector<std::string>> known{
      {"/w", {"/w/.git", "/w/a", "/w/src"}},
      {"/w/src", {"/w/src/gen", "/w/src/main.c"}},
      {"/w/.git", {"/w/.git/config", "/w/.git/hooks"}}};
  const auto found = known.find(folder);
  return found == known.end() ? std::vector<std::string>{} : found->second;
}

std::vector<std::string> without_devices(std::vector<std::string> paths) {
  std::erase_if(paths, [](const std::string& p) { return p.starts_with("/dev/"); });
  return paths;
}

using words = std::vector<std::string>;

} // namespace

TEST_SUITE("sandbox.landlock_backend") {
  TEST_CASE(
      "§83 a writable folder is granted whole, or by the children beside its read-only parts") {
    const auto whole =
        make_landlock_plan(pretended_host{{root_read, path("/w", access::write)}}.plan(), children);
    REQUIRE(whole.has_value());
    CHECK(without_devices(whole->grants) == words{"/w"});
    CHECK(whole->read_only_paths.empty());

    const auto beside =
        make_landlock_plan(repository({root_read, path("/w", access::write)}).plan(), children);
    REQUIRE(beside.has_value());
    CHECK(without_devices(beside->grants) == words{"/w/a", "/w/src"});
    CHECK(without_devices(beside->write_paths) == words{"/w"});
    CHECK(beside->read_only_paths == words{"/w/.git"});
  }

  TEST_CASE("§83 §63 a part may not move, and what is missing may not come to be") {
    const auto plan = make_landlock_plan(
        repository({root_read, path("/w", access::write), path("/w/src/gen", access::read)}).plan(),
        children);
    REQUIRE(plan.has_value());
    CHECK(without_devices(plan->grants) == words{"/w/a", "/w/src/main.c"});
    for (const auto* moved : {"/w/.git", "/w/src", "/w/src/gen"})
      CHECK(find_guard(plan->guards, moved, guarded_operation::remove));
    CHECK(find_guard(plan->guards, "/w/.codex", guarded_operation::make_directory));
    CHECK_FALSE(find_guard(plan->guards, "/w/a", guarded_operation::remove));
  }

  TEST_CASE("§83 a writable part of a read-only part is a grant of its own") {
    const auto plan = make_landlock_plan(
        repository({root_read, path("/w", access::write), path("/w/.git/hooks", access::write)})
            .plan(),
        children);
    REQUIRE(plan.has_value());
    CHECK(without_devices(plan->grants) == words{"/w/a", "/w/src", "/w/.git/hooks"});
    CHECK(without_devices(plan->write_paths) == words{"/w", "/w/.git/hooks"});
  }

  TEST_CASE("§83 what Landlock cannot stand for is refused by name") {
    struct row {
      const char* name;
      std::vector<profile_entry> entries;
      const char* words;
    };
    const row table[] = {
        {"a restricted view", {path("/w", access::write)}, "leaves everything readable"},
        {"a denied folder", {root_read, path("/w", access::deny)}, "`/w`"},
        {"everything writable", {special(special_kind::root, access::write)}, "limits writing"},
    };
    for (const auto& r : table) {
      CAPTURE(r.name);
      const auto plan = make_landlock_plan(pretended_host{r.entries}.plan(), children);
      REQUIRE_FALSE(plan.has_value());
      CHECK(plan.error().message.find("refusing to run unsandboxed") == 0);
      CHECK(plan.error().message.find(r.words) != std::string::npos);
    }
  }

  TEST_CASE("§83 of the devices only those that carry nothing are writable") {
    const auto plan = make_landlock_plan(pretended_host{{root_read}}.plan(), children);
    REQUIRE(plan.has_value());
    CHECK(plan->grants ==
          words{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"});
  }
}
