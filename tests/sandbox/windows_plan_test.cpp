#include "sandbox/windows/windows_plan.hpp"

#include "tests/sandbox/pretended_host.hpp"
#include "tests/sandbox/windows_model.hpp"

using namespace gatehouse;
using namespace gatehouse::tests;

namespace {

using who = windows_identity::kind_t;

/// A workspace C:\w on a host where everything but C:\Windows is private.
struct windows_host {
  permission_profile profile;
  policy::access_context context;
  windows_facts facts;
  windows_request request{sandbox_backend::windows, network_mode::full, {}, false};

  explicit windows_host(std::vector<profile_entry> entries) {
    profile.file_system.entries = std::move(entries);
    context.cwd = R"(C:\w)";
    context.project_roots = {context.cwd};
    facts.drives = {R"(C:\)"};
    facts.system_folders = {R"(C:\Windows)"};
    facts.shared = {{R"(C:\Windows)", true, false}};
    facts.accounts_ready = true;
    facts.random_name = "00112233445566778899aabbccddeeff";
    add(R"(C:\w)");
  }
  void add(const std::string& native, std::string canonical = {}) {
    facts.objects[native] = {true, true, canonical.empty() ? native : std::move(canonical)};
  }
  windows_host& elevated(network_mode network = network_mode::isolated) {
    request.backend = sandbox_backend::windows_elevated;
    request.network = network;
    return *this;
  }
  [[nodiscard]] windows_plan plan() const {
    auto made = make_windows_plan(profile, context, facts, request);
    REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
    return *std::move(made);
  }
  [[nodiscard]] std::string refusal() const {
    const auto made = make_windows_plan(profile, context, facts, request);
    REQUIRE_FALSE(made);
    return made.error().message;
  }
};

const profile_entry root_read = special(special_kind::root, access::read);
const profile_entry workspace_write = special(special_kind::project_roots, access::write);

windows_identity capability_of(std::string root) {
  return {who::capability, std::move(root)};
}

} // namespace

TEST_SUITE("sandbox.windows_plan") {
  TEST_CASE("§86 §87 a restricted token has one capability for each writable root") {
    windows_host host{{root_read, workspace_write, path(R"(D:\out)", access::write)}};
    host.add(R"(D:\out)");
    const auto plan = host.plan();
    CHECK(plan.token.write_restricted);
    CHECK(plan.token.privileges_dropped);
    CHECK(plan.token.account.kind == who::user);
    CHECK(plan.token.restricting == std::vector<windows_identity>{capability_of("/c:/w"),
                                                                  capability_of("/d:/out"),
                                                                  {who::logon, {}},
                                                                  {who::everyone, {}}});
    CHECK(plan.entries ==
          std::vector<acl_entry>{
              {acl_kind::allow_write, capability_of("/c:/w"), R"(C:\w)", R"(C:\w)", false},
              {acl_kind::allow_write, capability_of("/d:/out"), R"(D:\out)", R"(D:\out)", false}});
    CHECK(plan.filters.empty());
    CHECK(plan.job == job_limits{});
    CHECK(plan.desktop == "GatehouseSandbox-00112233445566778899aabbccddeeff");
    CHECK_FALSE(plan.pseudo_console);
    CHECK(windows_host{{root_read}}.plan().token.restricting.front() == capability_of({}));
  }

  TEST_CASE("§88 what refuses is put in place first, by the name given and by what it really is") {
    windows_host host{{root_read, workspace_write, path(R"(C:\w\docs)", access::read)}};
    host.context.protected_names = {".Git"};
    host.add(R"(C:\w\docs)", R"(C:\w\real)");
    const auto plan = host.plan();
    CHECK(plan.entries ==
          std::vector<acl_entry>{
              {acl_kind::deny_write, capability_of("/c:/w"), R"(C:\w\.git)", R"(C:\w\.git)", true},
              {acl_kind::deny_write, capability_of("/c:/w"), R"(C:\w\docs)", R"(C:\w\real)", false},
              {acl_kind::allow_write, capability_of("/c:/w"), R"(C:\w)", R"(C:\w)", false}});
    const windows_model model{plan, host.facts};
    CHECK(model.may_write("/c:/w/a"));
    CHECK_FALSE(model.may_write("/c:/w/real/a"));
    CHECK_FALSE(model.may_write("/c:/w/.git/config"));
    CHECK(model.may_read("/c:/w/.git/config"));
    CHECK_FALSE(model.may_write("/c:/x"));
  }

  TEST_CASE("§88 whatever step fails, what was done is taken back in the opposite order") {
    windows_host host{{root_read, workspace_write, path(R"(C:\w\docs)", access::read)}};
    host.context.protected_names = {".git"};
    const auto plan = host.plan();
    for (std::size_t applied = 0; applied <= plan.entries.size() + 1; ++applied) {
      auto undone = rollback_of(plan, applied);
      std::reverse(undone.begin(), undone.end());
      REQUIRE(undone.size() == std::min(applied, plan.entries.size()));
      CHECK(std::equal(undone.begin(), undone.end(), plan.entries.begin()));
    }
  }

  TEST_CASE("§89 the filters follow the account: all, all but the proxy, or none") {
    const auto off = windows_host{{root_read}}.elevated().plan();
    CHECK(off.token.account.kind == who::offline_account);
    const windows_facts none;
    CHECK_FALSE(windows_model(off, none).may_connect(true, 3128));
    CHECK_FALSE(windows_model(off, none).may_listen());

    windows_host proxied{{root_read}};
    proxied.elevated(network_mode::proxy_only).request.proxy_ports = {3128};
    const windows_model model{proxied.plan(), none};
    CHECK(model.may_connect(true, 3128));
    CHECK_FALSE(model.may_connect(true, 22));
    CHECK_FALSE(model.may_connect(false, 3128));
    CHECK_FALSE(model.may_listen());

    const auto on = windows_host{{root_read}}.elevated(network_mode::full).plan();
    CHECK(on.token.account.kind == who::online_account);
    CHECK(windows_model(on, none).may_connect(false, 443));
  }

  TEST_CASE("§86 an account of its own reads what it is granted and nothing more") {
    windows_host host{{special(special_kind::minimal, access::read), workspace_write,
                       path(R"(C:\w\secret)", access::deny), path(R"(C:\data)", access::read)}};
    host.add(R"(C:\w\secret)");
    host.add(R"(C:\data)");
    const auto plan = host.elevated().plan();
    CHECK(plan.entries.front() == acl_entry{acl_kind::deny_all,
                                            {who::offline_account, {}},
                                            R"(C:\w\secret)",
                                            R"(C:\w\secret)",
                                            false});
    const windows_model model{plan, host.facts};
    CHECK(model.may_read("/c:/data/a"));
    CHECK_FALSE(model.may_write("/c:/data/a"));
    CHECK(model.may_write("/c:/w/a"));
    CHECK_FALSE(model.may_read("/c:/w/secret/a"));
    CHECK_FALSE(model.may_read("/c:/users/me/a"));
    CHECK(model.may_read("/c:/windows/system32/a"));
  }

  TEST_CASE("§91 §141 what cannot be held is refused, and the refusal names it") {
    const auto says = [](const windows_host& host, std::string_view words) {
      const auto message = host.refusal();
      CAPTURE(message);
      CHECK(message.find("refusing to run unsandboxed") == 0);
      CHECK(message.find(words) != std::string::npos);
    };
    windows_host off{{root_read, workspace_write}};
    off.request.network = network_mode::isolated;
    says(off, "no network");
    says(windows_host{{root_read, path(R"(C:\w\s)", access::deny)}}, "denied paths");
    says(windows_host{{root_read, glob("**/*.env")}}.elevated(), "denied globs");
    says(windows_host{{workspace_write}}, "reading limited to folders");

    windows_host unprepared{{root_read}};
    unprepared.elevated().facts.accounts_ready = false;
    says(unprepared, "accounts");
    says(windows_host{{root_read}}.elevated(network_mode::proxy_only), "there is no proxy");

    windows_host open{{root_read, workspace_write}};
    open.facts.shared.push_back({R"(C:\Public)", true, true});
    says(open, R"(every account may write `C:\Public`)");
    windows_host seen{{workspace_write}};
    seen.elevated();
    says(seen, R"(every account may read `C:\Windows`)");
    windows_host inside{{root_read, workspace_write, path(R"(C:\w\docs)", access::read)}};
    inside.facts.shared.push_back({R"(C:\w)", true, true});
    says(inside, R"(`C:\w`)");
  }

  TEST_CASE("§85 a path of another platform, a device or an unknown short name is refused") {
    for (const auto* p : {"/srv/x", R"(C:x)", R"(C:\w\NUL)", R"(C:\w\a:b)", R"(C:\PROGRA~1)"})
      CHECK(windows_host{{root_read, path(p, access::write)}}.refusal().find(p) !=
            std::string::npos);
    windows_host known{{root_read, path(R"(C:\PROGRA~1)", access::write)}};
    known.add(R"(C:\PROGRA~1)", R"(C:\Program Files)");
    CHECK(windows_model(known.plan(), known.facts).may_write("/c:/program files/a"));
  }

  TEST_CASE("§90 a terminal is a pseudo-console, and always on a desktop of its own") {
    windows_host host{{root_read}};
    host.request.tty = true;
    CHECK(host.plan().pseudo_console);
    CHECK(host.plan().desktop.starts_with("GatehouseSandbox-"));
  }
}
