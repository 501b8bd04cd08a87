#include "actors/patch_intake.hpp"

#include "policy/rules/rule_file.hpp"
#include "tests/actors/flow_driver.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

using kind = requirement_kind;
using mode = approval_mode;

std::string add(const std::string& path) {
  return "*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch";
}
std::string update(const std::string& path) {
  return "*** Begin Patch\n*** Update File: " + path + "\n@@\n-x\n+y\n*** End Patch";
}

/// A workspace `ws` beside a folder `out`.
struct workspace {
  tests::temp_folder base;
  judgement_terms terms;
  call_plan plan = plan_for(mode::on_request, workspace_write_profile());
  std::string ws = base.folder("ws");
  std::string out = base.folder("out");

  workspace() {
    with_rules("");
    terms.context.protected_names = policy::default_protected_names();
    terms.search = {ws, ws, "/usr/bin:/bin", {}};
    plan.what.cwd = plan.policy_cwd = ws;
    plan.workspace_roots = {ws};
  }
  void with_rules(std::string_view text) {
    std::vector<policy::rule_file> files;
    files.push_back(policy::read_rule_file(text, "test.rules", {}));
    terms.rules = std::make_shared<const policy::rule_set>(std::move(files));
  }
  patch_intake take(const std::string& text) {
    plan.what.argv = {"apply_patch", text};
    auto taken = take_in_patch(plan, terms);
    REQUIRE_MESSAGE(taken, taken.error().message);
    REQUIRE(*taken);
    return std::move(**taken);
  }
  exec_requirement requirement(const std::string& text) {
    return take(text).evaluation.requirement;
  }
};

bool names(const exec_requirement& requirement, const std::string& word) {
  return requirement.reason.find(word) != std::string::npos;
}

} // namespace

TEST_SUITE("actors.patch_intake") {
  TEST_CASE(
      "§7 §11 a patch for another machine is refused by its name, an ordinary command is not") {
    workspace w;
    w.terms.elsewhere = true;
    w.plan.what.environment_id = "build";
    w.plan.what.argv = {"ls"};
    CHECK_FALSE(*take_in_patch(w.plan, w.terms));
    for (const std::vector<std::string>& argv :
         {std::vector<std::string>{"apply_patch", add("a")},
          std::vector<std::string>{"bash", "-c", "apply_patch <<'EOF'\n" + add("a") + "\nEOF"}}) {
      w.plan.what.argv = argv;
      const auto taken = take_in_patch(w.plan, w.terms);
      REQUIRE(taken);
      REQUIRE(*taken);
      CHECK_FALSE((*taken)->plan.what.patch);
      const auto& requirement = (*taken)->evaluation.requirement;
      CHECK(requirement.kind == kind::forbidden);
      CHECK(requirement.refused_by == refused_by::handler);
      CHECK(names(requirement, "`build`"));
    }
  }

  TEST_CASE("§11 an ordinary command is none of ours, and a near miss is refused by the handler") {
    workspace w;
    w.plan.what.argv = {"ls"};
    CHECK_FALSE(*take_in_patch(w.plan, w.terms));
    w.plan.what.argv = {"bash", "-c", "true; apply_patch x"};
    const auto near = take_in_patch(w.plan, w.terms);
    REQUIRE(near);
    REQUIRE(*near);
    CHECK_FALSE((*near)->plan.what.patch);
    CHECK((*near)->evaluation.requirement.kind == kind::forbidden);
    CHECK((*near)->evaluation.requirement.refused_by == refused_by::handler);
  }

  TEST_CASE("§11 inside the writable folders nothing is asked and nothing is opened") {
    workspace w;
    const auto taken = w.take(add("a/b"));
    CHECK(taken.evaluation.requirement.kind == kind::skip);
    CHECK_FALSE(taken.evaluation.requirement.bypass_sandbox);
    CHECK(taken.plan.what.sandbox_permissions == sandbox_permissions::use_default);
    CHECK_FALSE(taken.plan.widened_profile);
    CHECK(taken.plan.what.patch->changes ==
          std::vector<file_change>{{change_kind::add, w.ws + "/a/b", "", "a/b"}});
    w.plan.approval.mode = mode::untrusted;
    CHECK(w.requirement(add("a")).kind == kind::needs_approval);
  }

  TEST_CASE("§11 outside of them each file is named, and exactly its folder is opened") {
    workspace w;
    w.base.folder("out/deep");
    const auto taken = w.take("*** Begin Patch\n*** Add File: in\n*** Add File: ../out/a\n*** Add "
                              "File: ../out/new/b\n*** Add File: ../out/deep/c\n*** End Patch");
    CHECK(taken.evaluation.requirement.kind == kind::needs_approval);
    for (const auto* name : {"/a", "/new/b", "/deep/c"})
      CHECK(names(taken.evaluation.requirement, w.out + name));
    CHECK_FALSE(names(taken.evaluation.requirement, w.ws + "/in"));
    CHECK(taken.plan.what.sandbox_permissions == sandbox_permissions::with_additional_permissions);
    REQUIRE(taken.plan.what.additional_permissions);
    CHECK(taken.plan.what.additional_permissions->entries ==
          std::vector<profile_entry>{{literal_path{w.out}, access::write, false}});
    REQUIRE(taken.plan.widened_profile);
    CHECK(taken.may_verify_first);
  }

  TEST_CASE("§11 §129 outside is refused where nobody may be asked") {
    workspace w;
    w.plan.approval.mode = mode::never;
    CHECK(w.requirement(add("../out/a")).kind == kind::forbidden);
    w.plan.approval.mode = mode::granular;
    w.plan.approval.granular.sandbox_approval = false;
    CHECK(w.requirement(add("../out/a")).kind == kind::forbidden);
    w.plan.approval.granular.sandbox_approval = true;
    CHECK(w.requirement(add("../out/a")).kind == kind::needs_approval);
  }

  TEST_CASE("§11 what a call asks for besides is no authority for its patch") {
    workspace w;
    w.plan.what.sandbox_permissions = sandbox_permissions::require_escalated;
    CHECK(w.take(add("a")).plan.what.sandbox_permissions == sandbox_permissions::use_default);
    w.plan.what.sandbox_permissions = sandbox_permissions::with_additional_permissions;
    w.plan.what.additional_permissions.emplace().entries = {
        {literal_path{w.out}, access::write, false}};
    w.plan.widened_profile = danger_full_access_profile();
    CHECK(w.requirement(add("../out/a")).kind == kind::needs_approval);
  }

  TEST_CASE("§15 inside a sticky grant nothing is asked") {
    workspace w;
    w.plan.what.sandbox_permissions = sandbox_permissions::with_additional_permissions;
    w.plan.what.additional_permissions.emplace().entries = {
        {literal_path{w.out}, access::write, false}};
    w.plan.widened_profile = w.plan.profile;
    w.plan.widened_profile->file_system.entries.push_back(
        {literal_path{w.out}, access::write, false});
    w.plan.permissions_preapproved = true;
    const auto taken = w.take(add("../out/a"));
    CHECK(taken.evaluation.requirement.kind == kind::skip);
    CHECK(taken.plan.permissions_preapproved);
    CHECK(call_flow::first_boundary(taken.plan, taken.evaluation.requirement)
              .first_attempt_sandboxed);
    w.base.folder("else");
    const auto more = w.take(add("../else/a"));
    CHECK(more.evaluation.requirement.kind == kind::needs_approval);
    CHECK_FALSE(more.plan.permissions_preapproved);
    CHECK(more.plan.what.additional_permissions->entries.size() == 2);
  }

  TEST_CASE("§63 a protected place is refused by every way to it, §64 a denied one too") {
    workspace w;
    w.base.write("ws/.git/HEAD", "ref: refs/heads/main\n");
    w.base.write("ws/sub/repo/.git/HEAD", "ref: refs/heads/main\n");
    w.base.link(".git", "ws/innocent");
    w.base.write("ws/f", "x\n");
    w.base.write("ws/key", "x\n");
    for (const auto& text :
         {add(".git/hooks/x"), add("sub/../.git/config"), add("innocent/hooks/x"),
          add("sub/repo/.git/hooks/x"), add(".bashrc"),
          std::string{"*** Begin Patch\n*** Delete File: .git/HEAD\n*** End Patch"},
          std::string{"*** Begin Patch\n*** Update File: f\n*** Move to: .claude/f\n@@\n-x\n+y\n"
                      "*** End Patch"}}) {
      CAPTURE(text);
      const auto requirement = w.requirement(text);
      CHECK(requirement.kind == kind::forbidden);
      CHECK(names(requirement, "refused by protected"));
    }
    w.plan.profile.file_system.entries.push_back(
        {literal_path{w.ws + "/key"}, access::deny, false});
    w.base.link("key", "ws/l");
    for (const auto& text : {update("key"), update("l"), add("key")})
      CHECK(w.requirement(text).kind == kind::forbidden);
  }

  TEST_CASE("§63 an opened folder does not open what is protected in it") {
    workspace w;
    w.base.write("out/.git/HEAD", "ref: refs/heads/main\n");
    CHECK(w.requirement("*** Begin Patch\n*** Add File: ../out/a\n*** Add File: ../out/.claude/b\n"
                        "*** End Patch")
              .kind == kind::forbidden);
  }

  TEST_CASE("a link of the workspace to the outside counts as the outside") {
    workspace w;
    w.base.link("../out", "ws/l");
    const auto requirement = w.requirement(add("l/a"));
    CHECK(requirement.kind == kind::needs_approval);
    CHECK(names(requirement, w.out + "/a"));
  }

  TEST_CASE("§108 a patch is applied without network, also where commands have a managed one") {
    workspace w;
    w.plan.managed_network = true;
    w.plan.profile.network = network_policy::enabled;
    const auto taken = w.take(add("a"));
    CHECK_FALSE(taken.plan.managed_network);
    const auto boundary = call_flow::first_boundary(taken.plan, taken.evaluation.requirement);
    CHECK(boundary.first_attempt_sandboxed);
    CHECK(boundary.network == network_mode::isolated);
  }

  TEST_CASE("no patch opens the whole file system") {
    workspace w;
    CHECK(w.requirement(add("/no-such-file-of-ours")).kind == kind::forbidden);
  }

  TEST_CASE("§24 a rule about apply_patch restricts patches, and an allow does not widen them") {
    workspace w;
    w.with_rules("prefix_rule(pattern=[\"apply_patch\"], decision=\"prompt\", "
                 "justification=\"look first\")\n");
    const auto asked = w.requirement(add("a"));
    CHECK(asked.kind == kind::needs_approval);
    CHECK(names(asked, "look first"));
    CHECK(asked.proposed_amendment.empty());
    w.with_rules("prefix_rule(pattern=[\"apply_patch\"], decision=\"allow\")\n");
    CHECK(w.requirement(add("../out/a")).kind == kind::needs_approval);
    CHECK_FALSE(w.requirement(add("a")).bypass_sandbox);
  }

  TEST_CASE("a patch that cannot be read is an error with its reason") {
    workspace w;
    const auto message = [&](std::vector<std::string> argv) {
      w.plan.what.argv = std::move(argv);
      const auto taken = take_in_patch(w.plan, w.terms);
      return taken ? std::string{} : taken.error().message;
    };
    CHECK(message({"apply_patch", "x"}).starts_with("patch line 1"));
    CHECK(message({"bash", "-c", "cd no-such && apply_patch '" + add("a") + "'"})
              .find("does not exist") != std::string::npos);
    CHECK(message({"apply_patch", "*** Begin Patch\n*** Environment ID: other\n*** Add File: "
                                  "a\n*** End Patch"})
              .find("environment other") != std::string::npos);
    CHECK(message({"apply_patch", "*** Begin Patch\n*** Environment ID: local\n*** Add File: "
                                  "a\n*** End Patch"})
              .empty());
  }

  TEST_CASE("§56 a move touches two files") {
    workspace w;
    w.base.write("ws/f", "x\n");
    const auto taken = w.take("*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@\n-x\n+y\n"
                              "*** Add File: f\n+z\n*** End Patch");
    CHECK(touched_paths(taken.plan.what.patch->changes) ==
          std::vector<std::string>{w.ws + "/f", w.ws + "/g"});
  }
}
