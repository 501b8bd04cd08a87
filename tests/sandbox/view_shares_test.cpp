#include "sandbox/view_shares.hpp"

#include "tests/sandbox/pretended_host.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::sandbox;
using namespace gatehouse::tests;

namespace {

using kinds = std::vector<std::pair<mount_kind, std::string>>;

kinds of(const std::vector<mount_step>& steps) {
  kinds list;
  for (const auto& step : steps)
    list.emplace_back(step.kind, step.target);
  return list;
}

} // namespace

TEST_SUITE("sandbox.view_shares") {
  TEST_CASE("§77 §78 with the whole tree in view bubblewrap makes one mount") {
    pretended_host host{workspace({path("/w/.env", access::deny)})};
    host.facts.paths["/w/.env"] = pretended_host::file("/w/.env");
    const auto shares = share_view(host.plan().mounts, {});
    CHECK(of(shares.by_bwrap) == kinds{{mount_kind::read_only_bind, "/"}});
    CHECK(of(shares.by_inner) == kinds{{mount_kind::devices, "/dev"},
                                       {mount_kind::processes, "/proc"},
                                       {mount_kind::writable_bind, "/t"},
                                       {mount_kind::writable_bind, "/tmp"},
                                       {mount_kind::writable_bind, "/w"},
                                       {mount_kind::denied_file, "/w/.env"}});
  }

  TEST_CASE("§119 the terminal of standard output is /dev/console, as bubblewrap has it") {
    const pretended_host host{workspace()};
    const auto shares = share_view(host.plan().mounts, "/dev/pts/4");
    CHECK(shares.by_inner[1] ==
          mount_step{mount_kind::device_bind, "/dev/console", "/dev/pts/4", 0});
  }

  TEST_CASE("§79 what is granted one by one comes from bubblewrap, but not the denials in it") {
    pretended_host host{{path("/g", access::read), path("/g/no", access::deny),
                         path("/g/no/yes", access::write), path("/g/f", access::deny),
                         path("/h", access::write)}};
    for (const auto* p : {"/g", "/g/no", "/g/no/yes", "/h"})
      host.facts.paths[p] = pretended_host::folder(p);
    host.facts.paths["/g/f"] = pretended_host::file("/g/f");
    const auto shares = share_view(host.plan().mounts, "/dev/pts/4");
    CHECK(of(shares.by_bwrap) == kinds{{mount_kind::empty_folder, "/"},
                                       {mount_kind::device_bind, "/dev"},
                                       {mount_kind::processes, "/proc"},
                                       {mount_kind::read_only_bind, "/g"},
                                       {mount_kind::writable_bind, "/h"},
                                       {mount_kind::seal, "/"}});
    CHECK(of(shares.by_inner) == kinds{{mount_kind::devices, "/dev"},
                                       {mount_kind::device_bind, "/dev/console"},
                                       {mount_kind::seal, "/proc"},
                                       {mount_kind::denied_file, "/g/f"},
                                       {mount_kind::empty_folder, "/g/no"},
                                       {mount_kind::writable_bind, "/g/no/yes"},
                                       {mount_kind::seal, "/g/no"}});
  }
}
