#include "sandbox/plan.hpp"

#include "tests/sandbox/pretended_host.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>

using namespace gatehouse;
using namespace gatehouse::sandbox;
using namespace gatehouse::tests;

namespace {

std::string shown(const mount_plan& plan) {
  std::string text;
  for (const auto& s : plan.mounts) {
    switch (s.kind) {
    case mount_kind::read_only_bind: text += "ro " + s.target; break;
    case mount_kind::writable_bind: text += "rw " + s.target; break;
    case mount_kind::device_bind: text += "dev " + s.target; break;
    case mount_kind::devices:
    case mount_kind::processes: continue;
    case mount_kind::empty_folder:
      text += (s.perms == 0 ? "mask " : s.perms == 0111 ? "pass " : "empty ") + s.target;
      break;
    case mount_kind::folder: text += "way " + s.target; break;
    case mount_kind::link: text += "link " + s.target + "=" + s.source; break;
    case mount_kind::denied_file: text += "nofile " + s.target; break;
    case mount_kind::seal: text += "seal " + s.target; break;
    }
    text += "; ";
  }
  return text;
}

const creation_guard* guard_of(const mount_plan& plan, std::string_view at, guarded_operation op) {
  return find_guard(plan.guards, at, op);
}

protected_fact name(const std::string& n, path_fact found) {
  return {"/w/" + n, "/w", std::move(found), "protected name `" + n + "`", false};
}

using op = guarded_operation;

} // namespace

TEST_SUITE("sandbox.plan") {
  TEST_CASE("§64 §92a a grant below what a deny glob matches opens nothing again") {
    pretended_host host{{special(special_kind::root, access::read), glob("/w/a/**"),
                         path("/w/a/b/f", access::read), path("/w/k/f", access::write)}};
    host.facts.paths["/w/a/b/f"] = pretended_host::file("/w/a/b/f");
    host.facts.paths["/w/k/f"] = pretended_host::file("/w/k/f");
    host.facts.paths["/w/a"] = pretended_host::folder("/w/a");
    host.facts.glob_matches.push_back({"/w/a/**", "/w/a/b", pretended_host::folder("/w/a/b")});
    // … and what a link leads to.
    host.facts.glob_matches.push_back({"/w/a/**", "/w/a/link", pretended_host::folder("/w/k")});
    for (const auto& step : host.plan().mounts)
      CHECK_FALSE((step.target == "/w/a/b/f" || step.target == "/w/k/f"));
  }

  TEST_CASE("§130 read-only is one bind and private devices") {
    const pretended_host host{read_only_profile().file_system.entries};
    CHECK(host.plan().mounts == std::vector<mount_step>{{mount_kind::read_only_bind, "/", "/", 0},
                                                        {mount_kind::devices, "/dev", {}, 0},
                                                        {mount_kind::processes, "/proc", {}, 0}});
    CHECK(host.plan().write_paths == std::vector<std::string>{"/dev"});
    CHECK(host.plan().guards.empty());
  }

  TEST_CASE("§78 §130 workspace-write on a repository costs four mounts more") {
    pretended_host host{workspace()};
    host.facts.protected_paths = {name(".git", pretended_host::folder("/w/.git"))};
    CHECK(shown(host.plan()) == "ro /; rw /t; rw /tmp; rw /w; ro /w/.git; ");
    CHECK(host.plan().write_paths == std::vector<std::string>{"/dev", "/t", "/tmp", "/w"});
  }

  TEST_CASE(
      "§78 BR-063 the read-only part comes after the writable one, whatever the entries' order") {
    pretended_host host{{path("/w/a", access::read), path("/w/a/b", access::write),
                         special(special_kind::project_roots, access::write),
                         special(special_kind::root, access::read)}};
    host.facts.paths["/w/a"] = pretended_host::folder("/w/a");
    host.facts.paths["/w/a/b"] = pretended_host::folder("/w/a/b");
    CHECK(shown(host.plan()) == "ro /; rw /w; ro /w/a; rw /w/a/b; ");
  }

  TEST_CASE(
      "§78 a name that sorts before the slash does not come between a folder and its content") {
    pretended_host host{workspace(
        {path("/w/a", access::deny), path("/w/a/b", access::read), path("/w/a-x", access::deny)})};
    for (const auto* p : {"/w/a", "/w/a/b", "/w/a-x"})
      host.facts.paths[p] = pretended_host::folder(p);
    CHECK(shown(host.plan()) == "ro /; rw /t; rw /tmp; rw /w; pass /w/a; ro /w/a/b; seal /w/a; "
                                "mask /w/a-x; seal /w/a-x; ");
  }

  TEST_CASE("§79 restricted reading starts from nothing and ends sealed") {
    pretended_host host{{special(special_kind::minimal, access::read),
                         special(special_kind::project_roots, access::write),
                         path("/srv/data", access::read)}};
    for (const auto& p : policy::minimal_paths())
      host.facts.paths[p] = pretended_host::missing(p, "/");
    host.facts.paths["/usr"] = pretended_host::folder("/usr");
    host.facts.paths["/bin"] = {path_kind::directory, "/usr/bin", {}, {{"/bin", "usr/bin"}}};
    host.facts.paths["/srv/data"] = {
        path_kind::directory, "/disk/data", {}, {{"/srv/data", "../disk/data"}}};
    CHECK(shown(host.plan()) == "empty /; link /bin=usr/bin; ro /disk/data; "
                                "link /srv/data=../disk/data; ro /usr; rw /w; seal /; ");
    CHECK(host.plan().warnings.empty());
  }

  TEST_CASE("§62 what is denied is masked: a file, a folder, a folder with a reopened part") {
    pretended_host host{workspace({path("/w/.env", access::deny), path("/w/priv", access::deny),
                                   path("/srv", access::deny), path("/srv/pub", access::write)})};
    host.facts.paths["/w/.env"] = pretended_host::file("/w/.env");
    for (const auto* p : {"/w/priv", "/srv", "/srv/pub"})
      host.facts.paths[p] = pretended_host::folder(p);
    CHECK(shown(host.plan()) == "ro /; pass /srv; rw /srv/pub; seal /srv; rw /t; rw /tmp; rw /w; "
                                "nofile /w/.env; mask /w/priv; seal /w/priv; ");
    CHECK(denied_file_count(host.plan().mounts) == 1);
  }

  TEST_CASE("§62 a denied parent of the workspace shows only the workspace") {
    pretended_host host{workspace({path("/p", access::deny)})};
    host.context.project_roots = {"/p/w"};
    host.facts.paths["/p"] = pretended_host::folder("/p");
    host.facts.paths["/p/w"] = pretended_host::folder("/p/w");
    CHECK(shown(host.plan()) == "ro /; pass /p; rw /p/w; seal /p; rw /t; rw /tmp; ");
  }

  TEST_CASE("§62 folders on the way to a reopened part can be passed and not listed") {
    pretended_host host{workspace({path("/w/d", access::deny), path("/w/d/x/y/f", access::read),
                                   path("/w/d/x/z", access::write)})};
    host.facts.paths["/w/d"] = pretended_host::folder("/w/d");
    host.facts.paths["/w/d/x/y/f"] = pretended_host::file("/w/d/x/y/f");
    host.facts.paths["/w/d/x/z"] = pretended_host::folder("/w/d/x/z");
    CHECK(shown(host.plan()) == "ro /; rw /t; rw /tmp; rw /w; pass /w/d; way /w/d/x; way /w/d/x/y; "
                                "ro /w/d/x/y/f; rw /w/d/x/z; seal /w/d; ");
  }

  TEST_CASE("a deny below what is not granted at all needs nothing") {
    pretended_host host{
        {special(special_kind::project_roots, access::write), path("/x", access::deny)}};
    host.facts.paths["/x"] = pretended_host::folder("/x");
    CHECK(shown(host.plan()) == "empty /; rw /w; seal /; ");
  }

  TEST_CASE("§D12 a missing denied path is guarded, never made") {
    pretended_host host{workspace({path("/w/no/pe", access::deny), path("/srv/no", access::deny)})};
    host.facts.paths["/w/no/pe"] = pretended_host::missing("/w/no/pe", "/w");
    host.facts.paths["/srv/no"] = pretended_host::missing("/srv/no", "/srv");
    const auto plan = host.plan();
    CHECK(shown(plan) == "ro /; rw /t; rw /tmp; rw /w; ");
    CHECK(plan.guards == std::vector<creation_guard>{
                             {"/w", "/w/no/pe", guard_kind::closed, false, "`/w/no/pe` deny"}});
    CHECK(guard_of(plan, "/w/no/pe", op::create_file));
    CHECK(guard_of(plan, "/w/no/pe/x", op::make_directory));
    CHECK_FALSE(guard_of(plan, "/w/no", op::make_directory));
    CHECK(guard_of(plan, "/w/no", op::place));
    CHECK_FALSE(guard_of(plan, "/w/no/pes", op::create_file));
  }

  TEST_CASE("§62 what is granted but missing may be made, and never placed") {
    pretended_host host{workspace({path("/w/no/pe", access::write)})};
    host.facts.paths["/w/no/pe"] = pretended_host::missing("/w/no/pe", "/w");
    const auto plan = host.plan();
    for (const char* at : {"/w/no", "/w/no/pe"}) {
      CAPTURE(at);
      CHECK(guard_of(plan, at, op::place));
      CHECK_FALSE(guard_of(plan, at, op::make_directory));
      CHECK_FALSE(guard_of(plan, at, op::create_file));
    }
    CHECK_FALSE(guard_of(plan, "/w/no/pe/x", op::place));
  }

  TEST_CASE("§62 of two entries for one place the wider one leaves no guard") {
    pretended_host host{{special(special_kind::root, access::read), path("/", access::write)}};
    const auto plan = host.plan();
    CHECK_FALSE(guard_of(plan, "/dev/null", op::change));
    CHECK_FALSE(guard_of(plan, "/x", op::create_file));
  }

  TEST_CASE(
      "§64 what is denied where nobody can look refuses the plan, if a command could get there") {
    struct row {
      int unseen;
      const char* folder;
      bool refused;
    };
    for (const auto& [unseen, folder, refused] :
         {row{EACCES, "/w/no", true}, {EACCES, "/srv", false}, {ENAMETOOLONG, "/srv", true}}) {
      const auto& place = folder; // clang 14 captures no structured binding
      CAPTURE(place);
      auto fact = pretended_host::missing(std::string{folder} + "/.env", folder);
      fact.unseen = unseen;
      pretended_host host{workspace({path("/x/.env", access::deny), glob("/x/**")})};
      host.facts.paths["/x/.env"] = fact;
      pretended_host matched{workspace({glob("/x/**")})};
      matched.facts.glob_matches = {{"/x/**", "/x/.env", fact, false}};
      for (const auto* one : {&host, &matched}) {
        const auto plan = make_mount_plan(one->profile, one->context, one->facts);
        CHECK(plan.has_value() != refused);
        if (!plan) CHECK(plan.error().message.find(folder) != std::string::npos);
      }
    }
  }

  TEST_CASE("§62 a missing name that is only readable inside a writable folder cannot be made") {
    pretended_host host{workspace({path("/w/docs", access::read)})};
    host.facts.paths["/w/docs"] = pretended_host::missing("/w/docs", "/w");
    CHECK(guard_of(host.plan(), "/w/docs", op::make_directory));
    CHECK(host.plan().warnings.empty());
  }

  TEST_CASE("§D12 §D14 BR-044 a missing protected name is guarded against every way of making it") {
    pretended_host host{workspace()};
    host.facts.protected_paths = {
        name(".gatehouse", pretended_host::missing("/w/.gatehouse", "/w"))};
    const auto plan = host.plan();
    CHECK(shown(plan) == "ro /; rw /t; rw /tmp; rw /w; ");
    for (auto o : {op::create_file, op::make_directory, op::place}) {
      const auto* guard = guard_of(plan, "/w/.gatehouse", o);
      REQUIRE(guard);
      CHECK(guard->why == "protected name `.gatehouse`");
    }
    CHECK_FALSE(guard_of(plan, "/w/sub/.gatehouse", op::make_directory));
  }

  TEST_CASE("§63 an explicit write entry leaves out the protection, a narrower one opens a part") {
    pretended_host host{workspace({path("/w/.git", access::write)})};
    host.facts.paths["/w/.git"] = pretended_host::folder("/w/.git");
    host.facts.protected_paths = {name(".git", pretended_host::folder("/w/.git"))};
    CHECK(shown(host.plan()) == "ro /; rw /t; rw /tmp; rw /w; rw /w/.git; ");

    pretended_host part{workspace({path("/w/.git/hooks", access::write)})};
    part.facts.paths["/w/.git/hooks"] = pretended_host::folder("/w/.git/hooks");
    part.facts.protected_paths = host.facts.protected_paths;
    CHECK(shown(part.plan()) == "ro /; rw /t; rw /tmp; rw /w; ro /w/.git; rw /w/.git/hooks; ");
  }

  TEST_CASE("§63 BR-104 of a protected link the target is read-only and the link stays") {
    pretended_host host{workspace()};
    host.facts.protected_paths = {
        name(".agents", {path_kind::directory, "/w/real", {}, {{"/w/.agents", "real"}}})};
    const auto plan = host.plan();
    CHECK(shown(plan) == "ro /; rw /t; rw /tmp; rw /w; ro /w/real; ");
    CHECK(guard_of(plan, "/w/.agents", op::remove));
    CHECK(guard_of(plan, "/w/.agents", op::place));
    CHECK_FALSE(guard_of(plan, "/w/.agents", op::create_file));
  }

  TEST_CASE("§63 a protected link out of the writable roots needs only to stay") {
    pretended_host host{workspace()};
    host.facts.protected_paths = {
        name(".vscode", {path_kind::directory, "/srv/v", {}, {{"/w/.vscode", "/srv/v"}}})};
    CHECK(shown(host.plan()) == "ro /; rw /t; rw /tmp; rw /w; ");
    CHECK(guard_of(host.plan(), "/w/.vscode", op::remove));
  }

  TEST_CASE("§63 a protected link to its own root cannot make the root read-only, and says so") {
    pretended_host host{workspace()};
    host.facts.protected_paths = {
        name(".agents", {path_kind::directory, "/w", {}, {{"/w/.agents", "."}}})};
    CHECK(shown(host.plan()) == "ro /; rw /t; rw /tmp; rw /w; ");
    CHECK(host.plan().warnings.size() == 1);
  }

  TEST_CASE(
      "§63 BR-062 a git folder that a pointer names is protected, missing or not, and stays") {
    pretended_host host{workspace()};
    host.facts.protected_paths = {
        name(".git", pretended_host::file("/w/.git")),
        {"/w/x/gd", "/w", pretended_host::folder("/w/x/gd"), "git folder of `/w`", true},
        {"/w/gone", "/w", pretended_host::missing("/w/gone", "/w"), "git folder of `/w`", true}};
    const auto plan = host.plan();
    CHECK(shown(plan) == "ro /; rw /t; rw /tmp; rw /w; ro /w/.git; ro /w/x/gd; ");
    CHECK(guard_of(plan, "/w/gone", op::make_directory));
    CHECK(guard_of(plan, "/w/gone/hooks", op::make_directory));
    CHECK(guard_of(plan, "/w/x", op::remove));
    CHECK_FALSE(guard_of(plan, "/w/y", op::remove));
  }

  TEST_CASE("§D3 a writable root cannot be led elsewhere for the next command") {
    pretended_host host{workspace({path("/tmp/l/w", access::write)})};
    host.facts.paths["/tmp/l/w"] = {path_kind::directory, "/tmp/a/w", {}, {{"/tmp/l", "a"}}};
    const auto plan = host.plan();
    CHECK(guard_of(plan, "/tmp/l", op::remove));
    CHECK(guard_of(plan, "/tmp/l", op::place));
    CHECK(guard_of(plan, "/tmp/a", op::remove));
    CHECK_FALSE(guard_of(plan, "/tmp/b", op::remove));
  }

  TEST_CASE(
      "BR-045 BR-071 matches of a deny glob are masked, also behind links, and new ones guarded") {
    pretended_host host{workspace({glob("/w/**/*.env")})};
    host.facts.glob_matches = {
        {"/w/**/*.env", "/w/.env", pretended_host::file("/w/.env")},
        {"/w/**/*.env",
         "/w/l.env",
         {path_kind::file, "/srv/target", {}, {{"/w/l.env", "/srv/target"}}}},
        {"/w/**/*.env", "/w/d.env", pretended_host::folder("/w/d.env")}};
    const auto plan = host.plan();
    CHECK(shown(plan) == "ro /; nofile /srv/target; rw /t; rw /tmp; rw /w; nofile /w/.env; "
                         "mask /w/d.env; seal /w/d.env; ");
    CHECK(guard_of(plan, "/w/a/late.env", op::create_file));
    CHECK(guard_of(plan, "/w/late.env/x", op::create_file));
    CHECK(guard_of(plan, "/w/late.env", op::remove));
    CHECK_FALSE(guard_of(plan, "/tmp/late.env", op::create_file));
    CHECK(guard_of(plan, "/w/l.env", op::remove));
  }

  TEST_CASE("BR-071 a folder cannot be moved out of a pattern that names it") {
    pretended_host host{workspace({glob("/w/secret/*.txt"), path("/w/x/key", access::deny)})};
    host.facts.paths["/w/secret"] = pretended_host::folder("/w/secret");
    host.facts.paths["/w/x/key"] = pretended_host::file("/w/x/key");
    host.facts.glob_matches = {
        {"/w/secret/*.txt", "/w/secret/a.txt", pretended_host::file("/w/secret/a.txt")}};
    const auto plan = host.plan();
    CHECK(guard_of(plan, "/w/secret", op::remove));
    CHECK(guard_of(plan, "/w/x", op::remove));

    pretended_host by_name{workspace({glob("/w/**/*.env")})};
    by_name.facts.glob_matches = {{"/w/**/*.env", "/w/a/.env", pretended_host::file("/w/a/.env")}};
    CHECK_FALSE(guard_of(by_name.plan(), "/w/a", op::remove));
  }

  TEST_CASE("§64 an invalid deny glob is an error that names it") {
    const pretended_host host{workspace({glob("/w/[z-a]")})};
    CHECK(host.failure().code == errc::invalid_profile);
    CHECK(host.failure().message.find("/w/[z-a]") != std::string::npos);
  }

  TEST_CASE("§64 a deny glob that could not be expanded to its end starts nothing") {
    pretended_host host{workspace({glob("/**/x")})};
    host.facts.unexpanded_globs = {{"/**/x", "more than 5 entries"}};
    CHECK(host.failure().message.find("`/**/x`") != std::string::npos);
    CHECK_FALSE(host.failure().remedy.empty());
  }

  TEST_CASE("§8 §69 what cannot be enforced on this host is refused by name, never weakened") {
    CHECK(pretended_host{workspace({path("C:\\repo", access::write)})}.failure().message.find(
              "C:\\repo") != std::string::npos);
    CHECK(pretended_host{workspace({{glob_path{"/w/*"}, access::read, false}})}
              .failure()
              .message.find("`/w/*` read") != std::string::npos);
    CHECK(pretended_host{
              workspace({{special_path{special_kind::unknown, {}, ":vault"}, access::deny}})}
              .failure()
              .message.find("`:vault` deny") != std::string::npos);
    pretended_host proc{workspace({path("/proc/sys", access::write)})};
    proc.facts.paths["/proc/sys"] = pretended_host::folder("/proc/sys");
    CHECK(proc.failure().message.find("`/proc/sys` write") != std::string::npos);
    pretended_host device{workspace({path("/dev/kvm", access::read)})};
    device.facts.paths["/dev/kvm"] = {path_kind::other, "/dev/kvm", {}, {}};
    CHECK(device.failure().message.find("`/dev/kvm` read") != std::string::npos);
  }

  TEST_CASE("a device is bound as a device, the private ones need nothing, /dev/shm holds files") {
    pretended_host host{
        workspace({path("/dev/kvm", access::write), path("/dev/null", access::write),
                   path("/dev/shm/w", access::write)})};
    host.facts.paths["/dev/kvm"] = {path_kind::other, "/dev/kvm", {}, {}};
    host.facts.paths["/dev/null"] = {path_kind::other, "/dev/null", {}, {}};
    host.facts.paths["/dev/shm/w"] = pretended_host::folder("/dev/shm/w");
    CHECK(shown(host.plan()) == "ro /; dev /dev/kvm; rw /dev/shm/w; rw /t; rw /tmp; rw /w; ");
  }

  TEST_CASE("a missing grant is said, unless its entry expects that or it is granted anyway") {
    pretended_host host{workspace({path("/srv/new", access::write),
                                   path("/w/new", access::write),
                                   {literal_path{"/srv/skip"}, access::write, true}})};
    host.facts.paths["/srv/new"] = pretended_host::missing("/srv/new", "/srv");
    host.facts.paths["/w/new"] = pretended_host::missing("/w/new", "/w");
    host.facts.paths["/srv/skip"] = pretended_host::missing("/srv/skip", "/srv");
    const auto plan = host.plan();
    REQUIRE(plan.warnings.size() == 1);
    CHECK(plan.warnings[0].find("/srv/new") != std::string::npos);
  }

  TEST_CASE("W2 even a writable root does not make kernel settings writable") {
    const pretended_host host{{special(special_kind::root, access::write)}};
    CHECK(shown(host.plan()) == "rw /; ro /proc/sys; ro /sys; ");
  }

  TEST_CASE(
      "§D13 what is hidden is denied whatever the profile grants, and an unrestricted one still "
      "cannot change the programs that hide it") {
    const std::vector<std::string> hidden{"/state/tokens"};
    const profile_entry denied{literal_path{"/state/tokens"}, access::deny, true};
    policy::access_context context;
    context.protected_names = {".git"};
    context.protected_paths = {"/opt/gatehouse"};
    auto profile = read_only_profile();
    hide(profile, context, hidden);
    CHECK(profile.file_system.entries.back() == denied);
    CHECK(context.protected_names.size() == 1);

    permission_profile wide;
    wide.file_system.restricted = false;
    auto unchanged = wide;
    hide(unchanged, context, {});
    CHECK(unchanged == wide);
    hide(wide, context, hidden);
    CHECK(wide.file_system.restricted);
    CHECK(wide.file_system.entries ==
          std::vector{special(special_kind::root, access::write), denied});
    CHECK(context.protected_names.empty());
    CHECK(context.protected_paths == std::vector<std::string>{"/opt/gatehouse"});
  }

  TEST_CASE("facts of another profile are a broken invariant, not a weaker plan") {
    pretended_host host{workspace({path("/elsewhere", access::deny)})};
    CHECK(host.failure().code == errc::internal);
  }
}
