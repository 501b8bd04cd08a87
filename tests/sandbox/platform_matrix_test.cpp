// §92a: one profile means the same on every platform. A generated matrix of (profile, path,
// operation) is answered by the evaluator and by the model of each backend's plan; they agree, or
// the backend refuses the profile. What the Linux kernel itself says stands in kernel_matrix_test.
#include "policy/access.hpp"
#include "policy/path_text.hpp"
#include "sandbox/capabilities.hpp"
#include "sandbox/windows/windows_path.hpp"

#include "tests/sandbox/seatbelt_model.hpp"
#include "tests/sandbox/view_model.hpp"
#include "tests/sandbox/windows_model.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::sandbox;
using tests::temp_folder;

namespace {

constexpr int rounds = 240;

/// What exists below the test's folder, and what does not.
constexpr std::array existing{
    "",           "/w",         "/w/a",     "/w/a/b",         "/w/a/b/f",      "/w/a/g",
    "/w/x.env",   "/w/a/y.env", "/w/.git",  "/w/.git/config", "/w/.git/hooks", "/w/.git/hooks/h",
    "/w/.vscode", "/w/a-b",     "/w/a-b/f", "/w/sub",         "/w/sub/f",      "/o",
    "/o/p",       "/o/p/q",     "/o/r",     "/o/x.env"};
constexpr std::array missing{
    "/w/n",      "/w/a/n",     "/w/.codex", "/w/.codex/c", "/w/.github/hooks",
    "/w/a/.git", "/w/a/n.env", "/w/.git/n", "/w/.bashrc",  "/w/sub/.envrc",
    "/o/n",      "/o/p/n"};

/// Spellings of the same places through links, and what they are.
constexpr std::array<std::pair<const char*, const char*>, 4> aliases{
    {{"/w/link", "/w/a/b"}, {"/w/link/f", "/w/a/b/f"}, {"/w/out", "/o"}, {"/w/out/p", "/o/p"}}};

void plant(const temp_folder& s) {
  for (const std::string p : existing) {
    const auto name = p.substr(p.rfind('/') + 1);
    const bool folder =
        name == "b" || std::any_of(existing.begin(), existing.end(), [&](const std::string& other) {
          return policy::is_below(other, p.empty() ? "/" : p);
        });
    if (!folder) s.write("t" + p, "text\n");
  }
  s.link("a/b", "t/w/link");
  s.link("../o", "t/w/out");
}

/// Random, but made of what can go wrong: nested grants, parts of parts, denials, patterns.
permission_profile make_profile(std::mt19937& random, const std::string& base) {
  permission_profile profile;
  auto& entries = profile.file_system.entries;
  const auto one_of = [&](const auto& list) { return std::string{list[random() % list.size()]}; };
  switch (random() % 4) {
  case 0: break;
  case 1:
    entries.push_back({special_path{special_kind::root, {}, {}}, gatehouse::access::write, false});
    break;
  default:
    entries.push_back({special_path{special_kind::root, {}, {}}, gatehouse::access::read, false});
  }
  if (random() % 3 != 0)
    entries.push_back(
        {special_path{special_kind::project_roots, {}, {}}, gatehouse::access::write, false});
  for (auto count = random() % 5; count > 0; --count) {
    const auto kind = random() % 7;
    const auto path = base + (kind == 0   ? one_of(missing)
                              : kind == 1 ? std::string{aliases[random() % aliases.size()].first}
                                          : one_of(existing));
    entries.push_back({literal_path{path}, static_cast<gatehouse::access>(random() % 3), false});
  }
  constexpr std::array patterns{"**/*.env", "/w/*/g",   "/w/a/**",  "/**/h",
                                "/o/[p-q]", "/w/out/*", "/w/link/?"};
  if (random() % 4 == 0) {
    const auto pattern = one_of(patterns);
    entries.push_back(
        {glob_path{pattern[0] == '/' ? base + pattern : pattern}, gatehouse::access::deny, false});
  }
  profile.network = random() % 2 ? network_policy::enabled : network_policy::restricted;
  return profile;
}

std::string shown(const permission_profile& profile) {
  std::string text;
  for (const auto& e : profile.file_system.entries)
    text += describe(e.path) + " " + std::string{to_string(e.access)} + "; ";
  return text;
}

bool grants_missing(const permission_profile& profile, const policy::access_answer& answer) {
  const auto* literal =
      answer.entry ? std::get_if<literal_path>(&profile.file_system.entries[*answer.entry].path)
                   : nullptr;
  return literal && look_at(literal->path).kind == path_kind::missing;
}

struct tally {
  int cells = 0, agreed = 0, refused = 0, plans = 0;
};

/// The questions of one profile, put to one model. `form` makes a path what the evaluator knows.
template <class Read, class Write>
void compare(tally& t, const permission_profile& profile, const policy::access_context& context,
             const std::function<std::string(const std::string&)>& form, const Read& may_read,
             const Write& may_write, bool needs_existing = false) {
  ++t.plans;
  const auto ask = [&](const std::string& path, bool exists) {
    const auto answer = policy::evaluate_access(profile, context, form(path));
    CAPTURE(path);
    CAPTURE(answer.decided_by);
    if (exists) {
      const bool readable = answer.granted != gatehouse::access::deny;
      const bool read = may_read(path);
      CHECK(read == readable);
      t.agreed += read == readable ? 1 : 0;
      ++t.cells;
    }
    bool writable = answer.granted == gatehouse::access::write;
    // Linux has nothing to mount for a grant of what does not exist (the plan warns of it):
    // stricter.
    const bool written = may_write(path, exists);
    if (!exists && writable && !written && needs_existing && grants_missing(profile, answer))
      writable = false;
    CHECK(written == writable);
    t.agreed += written == writable ? 1 : 0;
    ++t.cells;
  };
  for (const std::string p : existing)
    ask(p, true);
  for (const std::string p : missing)
    ask(p, false);
}

struct matrix {
  temp_folder scratch;
  std::string base = scratch / "t";
  policy::access_context context;

  matrix() {
    plant(scratch);
    context.cwd = base + "/w";
    context.project_roots = {context.cwd};
    context.slash_tmp_is_directory = false;
    context.protected_names = policy::default_protected_names();
  }

  [[nodiscard]] std::string below(const std::string& path) const { return base + path; }

  /// The same host seen by Windows: /tmp/x/t/w is C:\tmp\x\t\w.
  [[nodiscard]] static std::string native(std::string path) {
    std::replace(path.begin(), path.end(), '/', '\\');
    return "C:" + path;
  }
  [[nodiscard]] policy::access_context windows_context() const {
    auto c = context;
    c.cwd = native(c.cwd);
    c.project_roots = {c.cwd};
    return c;
  }
  [[nodiscard]] static permission_profile windows_profile(permission_profile profile) {
    for (auto& e : profile.file_system.entries)
      if (auto* literal = std::get_if<literal_path>(&e.path)) literal->path = native(literal->path);
    return profile;
  }
  [[nodiscard]] windows_facts facts_of_windows(const permission_profile& profile) const {
    windows_facts facts;
    facts.accounts_ready = true;
    facts.drives = {"C:\\"};
    facts.random_name = "0";
    const auto add = [&](const std::string& path, bool exists) {
      facts.objects[native(path)] = {exists, exists, native(path)};
    };
    for (const std::string p : existing)
      add(base + p, true);
    for (const auto& [alias, real] : aliases)
      facts.objects[native(base + alias)] = {true, true, native(base + real)};
    for (const auto& e : profile.file_system.entries)
      if (const auto* literal = std::get_if<literal_path>(&e.path))
        facts.objects.try_emplace(literal->path, windows_object{});
    return facts;
  }
};

void check_tally(const char* backend, const tally& t, int least_cells) {
  CAPTURE(std::string{backend});
  MESSAGE(std::string{backend}, ": ", t.cells, " cells of ", t.plans, " profiles agree, ",
          t.refused, " profiles refused");
  CHECK(t.agreed == t.cells);
  CHECK(t.cells >= least_cells);
  CHECK(t.plans + t.refused == rounds);
}

} // namespace

TEST_SUITE("sandbox.platform_matrix") {
  TEST_CASE("§92a §130 every backend's model says what the evaluator says, or refuses") {
    matrix m;
    std::mt19937 random{20240922};
    tally view, landlock, mac, token, account;
    for (int round = 0; round < rounds; ++round) {
      const auto profile = make_profile(random, m.base);
      const auto network =
          profile.network == network_policy::enabled ? network_mode::full : network_mode::isolated;
      const auto text = shown(profile);
      CAPTURE(text);
      const auto facts = gather_host_facts(profile, m.context);
      const auto context = with_facts(m.context, facts);
      auto plain = m.context; // without what only Linux looks for
      plain.canonical_paths = context.canonical_paths;
      auto unwatched = context; // names that do not exist yet are watched on Linux only
      unwatched.nested_roots.clear();
      const auto needs = needs_of(profile, context, network);
      const auto posix = [&](const std::string& p) { return m.below(p); };

      auto plan = make_mount_plan(profile, m.context, facts);
      REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().message));
      const tests::view_model kernel{*plan};
      compare(
          view, profile, context, posix,
          [&](const std::string& p) { return kernel.may_read(m.below(p)); },
          [&](const std::string& p, bool exists) { return kernel.may_write(m.below(p), exists); },
          true);

      const auto alone = check_expressible(sandbox_backend::landlock, needs)
                             ? make_landlock_plan(*plan, children_on_host)
                             : result<landlock_plan>{error{}};
      if (alone) {
        const tests::landlock_model model{*alone};
        compare(
            landlock, profile, context, posix, [](const std::string&) { return true; },
            [&](const std::string& p, bool exists) { return model.may_write(m.below(p), exists); },
            true);
        for (const std::string p : existing)
          if (model.kernel_grants(m.below(p)))
            CHECK(policy::evaluate_access(profile, context, m.below(p)).granted ==
                  gatehouse::access::write);
      } else {
        ++landlock.refused;
      }

      const auto policy = make_seatbelt_policy(profile, m.context, facts, {network, {}});
      if (policy) {
        const tests::seatbelt_model model{*policy};
        compare(
            mac, profile, unwatched, posix,
            [&](const std::string& p) { return model.may_read(m.below(p)); },
            [&](const std::string& p, bool) { return model.may_write(m.below(p)); });
        CHECK(model.may_connect("example.org:443") == (network == network_mode::full));
      } else {
        ++mac.refused;
      }

      for (auto& [backend, t] :
           {std::pair<sandbox_backend, tally&>{sandbox_backend::windows, token},
            {sandbox_backend::windows_elevated, account}}) {
        const auto native_profile = matrix::windows_profile(profile);
        const auto native_facts = m.facts_of_windows(native_profile);
        const auto seen = view_for_policy(native_profile, m.windows_context(), native_facts);
        REQUIRE(seen);
        const auto made = make_windows_plan(native_profile, m.windows_context(), native_facts,
                                            {backend, network, {}, false});
        if (!made) {
          CHECK(made.error().message.find("refusing to run unsandboxed") == 0);
          ++t.refused;
          continue;
        }
        const tests::windows_model model{*made, native_facts};
        const auto form = [&](const std::string& p) {
          return parse_windows_path(matrix::native(m.below(p)))->policy_form();
        };
        compare(
            t, seen->profile, seen->context, form,
            [&](const std::string& p) { return model.may_read(form(p)); },
            [&](const std::string& p, bool) { return model.may_write(form(p)); });
        // One contract: the evaluator's answer is that of the other platforms.
        for (const std::string p : existing)
          CHECK(policy::evaluate_access(seen->profile, seen->context, form(p)).granted ==
                policy::evaluate_access(profile, plain, m.below(p)).granted);
        CHECK(model.may_connect(false, 443) == (network == network_mode::full));
      }
    }
    check_tally("linux", view, 10'000);
    check_tally("landlock", landlock, 1'000);
    check_tally("seatbelt", mac, 10'000);
    check_tally("windows", token, 500);
    check_tally("windows-elevated", account, 2'000);
  }

  TEST_CASE("§130 the built-in profiles behave alike wherever they are held") {
    matrix m;
    struct row {
      const char* name;
      permission_profile profile;
      bool write_workspace, write_outside;
    };
    const row table[] = {{"read-only", read_only_profile(), false, false},
                         {"workspace-write", workspace_write_profile(), true, false}};
    for (auto r : table) {
      CAPTURE(r.name);
      const auto facts = gather_host_facts(r.profile, m.context);
      const auto policy = make_seatbelt_policy(r.profile, m.context, facts, {});
      REQUIRE(policy);
      const tests::seatbelt_model mac{*policy};
      auto plan = make_mount_plan(r.profile, m.context, facts);
      REQUIRE(plan);
      const auto alone = make_landlock_plan(*plan, children_on_host);
      REQUIRE(alone);
      const auto native_facts = m.facts_of_windows(r.profile);
      const auto made =
          make_windows_plan(r.profile, m.windows_context(), native_facts,
                            {sandbox_backend::windows_elevated, network_mode::isolated, {}, false});
      REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
      const tests::windows_model windows{*made, native_facts};
      const tests::view_model view{*plan};
      const tests::landlock_model landlock{*alone};
      for (const auto& [path, write] : {std::pair<std::string, bool>{"/w/a/g", r.write_workspace},
                                        {"/w/.git/config", false},
                                        {"/o/r", r.write_outside}}) {
        const auto p = m.below(path);
        const auto w = parse_windows_path(matrix::native(p))->policy_form();
        const auto& name = path; // clang 14 captures no structured binding
        CAPTURE(name);
        CHECK(view.may_read(p));
        CHECK(mac.may_read(p));
        CHECK(windows.may_read(w));
        CHECK(view.may_write(p, true) == write);
        CHECK(landlock.may_write(p, true) == write);
        CHECK(mac.may_write(p) == write);
        CHECK(windows.may_write(w) == write);
      }
      CHECK_FALSE(mac.may_connect("example.org:443"));
      CHECK_FALSE(windows.may_connect(false, 443));
    }
  }
}
