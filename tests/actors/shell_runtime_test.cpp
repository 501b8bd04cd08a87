#include "actors/shell_runtime.hpp"

#include "reactor/actor_scheduler.hpp"
#include "tests/actors/flow_driver.hpp"
#include "tests/support/temp_folder.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <filesystem>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace std::chrono_literals;

namespace {

class asker : public caf::event_based_actor {
public:
  asker(caf::actor_config& config, runtime_actor runtime, attempt_ptr what,
        std::optional<attempt_result>* got)
      : caf::event_based_actor{config}, runtime_{std::move(runtime)}, what_{std::move(what)},
        got_{got} {}
  caf::behavior make_behavior() override {
    request(runtime_, caf::infinite, run_v, what_).then([this](const attempt_result_ptr& result) {
      *got_ = *result;
      quit();
    });
    runtime_ = nullptr;
    return {[](cancel_atom) {}};
  }

private:
  runtime_actor runtime_;
  attempt_ptr what_;
  std::optional<attempt_result>* got_;
};

attempt_ptr some_attempt(const std::string& folder) {
  auto plan = plan_for(approval_mode::on_request, workspace_write_profile());
  plan.what.cwd = plan.policy_cwd = folder;
  plan.workspace_roots = {folder};
  call_flow machine{std::move(plan)};
  return find<flow::start_attempt>(machine.step(requires_(requirement_kind::skip)))->what;
}

/// A runtime whose helper says "up" and then waits; `on_up` runs when it has said so.
std::optional<attempt_result> run_until_up(const std::function<void(const runtime_actor&)>& on_up) {
  tests::temp_folder folder;
  reactor::event_loop loop;
  caf::actor_system_config config;
  reactor::run_actors_on(loop, config);
  std::optional<caf::actor_system> system{config};
  shell_terms terms;
  terms.loop = &loop;
  terms.helper = folder.write("helper", "#!/bin/sh\necho up; exec sleep 600\n");
  std::filesystem::permissions(terms.helper, std::filesystem::perms::owner_all);
  terms.environment = {"PATH=/usr/bin:/bin"};
  terms.default_timeout = 1h;
  bool up = false;
  terms.on_output = [&](const attempt_terms&, output_stream, std::string_view) { up = true; };
  std::optional<attempt_result> got;
  runtime_actor runtime = system->spawn<shell_runtime>(terms);
  system->spawn<asker>(runtime, some_attempt(folder.path()), &got);
  CHECK(loop.run_until([&] { return up; }, 30s));
  on_up(runtime);
  CHECK(loop.run_until([&] { return got.has_value(); }, 30s));
  caf::anon_send_exit(runtime, caf::exit_reason::user_shutdown);
  runtime = nullptr;
  CHECK(reactor::run_until_actors_done(loop, *system, 30s));
  system.reset();
  return got;
}

} // namespace

TEST_SUITE("actors.shell_runtime") {
  TEST_CASE("§99a the end of the runtime ends what runs, and its caller gets an answer") {
    const auto got = run_until_up([](const runtime_actor& runtime) {
      caf::anon_send_exit(runtime, caf::exit_reason::user_shutdown);
    });
    REQUIRE(got);
    CHECK(got->record.ending == attempt_ending::cancelled);
  }

  TEST_CASE("§95 a cancellation ends the attempt of that call only") {
    const auto got = run_until_up([](const runtime_actor& runtime) {
      caf::anon_send(runtime, cancel_v, std::string{"another call"});
      caf::anon_send(runtime, cancel_v, std::string{"call-1"});
    });
    REQUIRE(got);
    CHECK(got->record.ending == attempt_ending::cancelled);
    CHECK(got->output.stdout_text == "up\n");
  }
}
