#include "sandbox/capabilities.hpp"

#include "tests/sandbox/pretended_host.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace gatehouse;
using namespace gatehouse::tests;

namespace {

std::vector<capability> asked_for(std::vector<profile_entry> entries,
                                  network_mode network = network_mode::full) {
  pretended_host host{std::move(entries)};
  std::vector<capability> found;
  for (const auto& need : needs_of(host.profile, host.context, network))
    found.push_back(need.what);
  std::sort(found.begin(), found.end());
  return found;
}

const profile_entry root_read = special(special_kind::root, access::read);

} // namespace

TEST_SUITE("sandbox.capabilities") {
  TEST_CASE("§92 what a profile asks for follows from its entries and what they mean together") {
    using enum capability;
    CHECK(asked_for({root_read}) == std::vector{limited_write, network_on});
    CHECK(asked_for({root_read}, network_mode::isolated) ==
          std::vector{limited_write, network_off});
    CHECK(asked_for({path("/w", access::read)}) == std::vector{restricted_read, network_on});
    CHECK(asked_for({special(special_kind::root, access::write)}) ==
          std::vector{limited_write, whole_disk_write, network_on});
    CHECK(asked_for({root_read, path("/s", access::deny), path("/s/a", access::read)}) ==
          std::vector{limited_write, denied_paths, reopened_reads, network_on});
    CHECK(asked_for({root_read, glob("**/*.env")}) ==
          std::vector{limited_write, denied_globs, network_on});
    CHECK(asked_for({root_read, path("/w", access::write), path("/w/docs", access::read),
                     path("/w/docs/out", access::write)}) ==
          std::vector{limited_write, read_only_parts, reopened_writes, network_on});
    CHECK(asked_for({root_read, path("/dev/dri", access::write)}) ==
          std::vector{limited_write, device_grants, network_on});
    CHECK(asked_for({root_read}, network_mode::proxy_only) ==
          std::vector{limited_write, network_proxy_only});
  }

  TEST_CASE("§92 §63 a grant below a protected name is a writable part of a read-only part") {
    pretended_host host{
        {root_read, path("/w", access::write), path("/w/.git/hooks", access::write)}};
    host.context.protected_names = {".git"};
    const auto needs = needs_of(host.profile, host.context, network_mode::full);
    CHECK(std::count(needs.begin(), needs.end(),
                     capability_need{capability::protected_names, "protected name `.git`"}) == 1);
    CHECK(std::count(needs.begin(), needs.end(),
                     capability_need{capability::reopened_writes, "`/w/.git/hooks` write"}) == 1);
  }

  TEST_CASE("§60 profiles that somebody else enforces ask for nothing") {
    pretended_host host{{}};
    host.profile = danger_full_access_profile();
    CHECK(needs_of(host.profile, host.context, network_mode::full).empty());
  }

  TEST_CASE(
      "§141 §91 a restricted token cannot express everything, and what it cannot is refused") {
    const auto refused = [](std::vector<profile_entry> entries, network_mode network) {
      pretended_host host{std::move(entries)};
      const auto answer = check_expressible(sandbox_backend::windows,
                                            needs_of(host.profile, host.context, network));
      return answer ? std::string{} : answer.error().message;
    };
    CHECK(refused(workspace(), network_mode::full).empty());
    for (const auto& [entries, network] :
         std::vector<std::pair<std::vector<profile_entry>, network_mode>>{
             {workspace(), network_mode::isolated},
             {workspace(), network_mode::proxy_only},
             {workspace({path("/w/secret", access::deny)}), network_mode::full},
             {workspace({glob("**/*.env")}), network_mode::full},
             {{special(special_kind::minimal, access::read)}, network_mode::full},
             {workspace({path("/w/a", access::read), path("/w/a/b", access::write)}),
              network_mode::full},
             {{special(special_kind::root, access::write)}, network_mode::full}}) {
      const auto message = refused(entries, network);
      CAPTURE(message);
      CHECK(message.find("refusing to run unsandboxed") == 0);
    }
    CHECK(refused(workspace({path("/w/secret", access::deny)}), network_mode::isolated) ==
          "refusing to run unsandboxed: the windows backend cannot express no network (the network "
          "is restricted): a token does not limit the network; denied paths (`/w/secret` deny): a "
          "write-restricted token leaves reading open");
  }

  TEST_CASE("§140 Linux is more than Landlock: what Landlock alone cannot hold, the view does") {
    std::size_t more = 0;
    for (const auto& row : capability_table()) {
      const bool alone = find_cell(sandbox_backend::landlock, row.what).expressed;
      const bool view = find_cell(sandbox_backend::linux_bubblewrap, row.what).expressed;
      CAPTURE(row.name);
      CHECK((view || !alone));
      more += view && !alone ? 1 : 0;
    }
    CHECK(more >= 5);
  }

  TEST_CASE("§92 the documentation shows the table that selection reads") {
    const char* source = std::getenv("GATEHOUSE_SOURCE_DIR");
    REQUIRE(source);
    std::ifstream file{std::string{source} + "/docs/platforms.md"};
    std::stringstream text;
    text << file.rdbuf();
    const bool same = text.str().find(capability_table_text()) != std::string::npos;
    CHECK_MESSAGE(same, "docs/platforms.md must hold this table:\n", capability_table_text());
  }
}
