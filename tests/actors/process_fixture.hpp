#pragma once

#include "actors/process_manager.hpp"
#include "actors/tool_call.hpp"
#include "protocol/shell_argv.hpp"
#include "reactor/actor_scheduler.hpp"
#include "tests/actors/flow_driver.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace gatehouse::test {

/// Long enough for a sanitized build on a machine that is busy.
constexpr std::chrono::seconds process_hang_guard{300};

/// The sessions of one thread on the real kernel: calls are judged, orchestrated and run in the
/// real boundary.
struct process_stage {
  explicit process_stage(permission_profile profile = workspace_write_profile())
      : profile_{std::move(profile)} {
    reactor::run_actors_on(loop, config);
    system.emplace(config);
    auto& host = terms.process.host;
    host.loop = &loop;
    host.helper = tests::built("gatehouse-sandbox");
    host.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "GH_MARK=" + mark()};
    host.context.slash_tmp_is_directory = true;
    host.end_grace = std::chrono::milliseconds{100};
    terms.process.interrupt_grace = std::chrono::milliseconds{100};
    terms.ids = actors::process_store::increasing_ids();
    terms.yields.least = terms.yields.poll_least = std::chrono::milliseconds{1};
    judgement.rules = std::make_shared<const policy::rule_set>();
    judgement.search = {folder.path(), folder.path(), "/usr/bin:/bin", {}};
  }
  ~process_stage() {
    close();
    system.reset();
  }

  void open() {
    terms.make_call = [this](const actors::runtime_actor& runtime) -> actors::tool_call_actor {
      actors::orchestrator_partners partners;
      partners.reviewer = terms.reviewer;
      partners.runtime = runtime;
      return system->spawn<actors::tool_call>(judgement, std::move(partners));
    };
    manager = system->spawn<actors::process_manager>(terms);
  }
  void close() {
    if (manager) caf::anon_send_exit(manager, caf::exit_reason::user_shutdown);
    if (terms.reviewer) caf::anon_send_exit(terms.reviewer, caf::exit_reason::user_shutdown);
    manager = nullptr;
    terms.reviewer = nullptr;
    CHECK(reactor::run_until_actors_done(loop, *system, std::chrono::seconds{30}));
  }

  /// Sends a message to the manager; the slot is filled when it answers.
  template <class Reply, class... Args>
  std::shared_ptr<std::optional<Reply>> ask(Args... args) {
    if (!manager) open();
    auto slot = std::make_shared<std::optional<Reply>>();
    system->spawn([to = manager, slot, args...](caf::event_based_actor* self) {
      self->request(to, caf::infinite, args...).then([slot](const Reply& reply) { *slot = reply; });
    });
    return slot;
  }
  template <class Reply>
  Reply wait(const std::shared_ptr<std::optional<Reply>>& slot) {
    REQUIRE(loop.run_until([&] { return slot->has_value(); }, process_hang_guard));
    return **slot;
  }

  actors::exec_request_ptr request(const std::string& script, std::chrono::milliseconds yield,
                                   bool tty = false) {
    actors::exec_request r;
    r.start.plan = plan_for(approval_mode::on_request, profile_);
    r.start.plan.call_id = "call-" + std::to_string(++calls_);
    r.start.plan.what.argv = shell_argv("/bin/sh", script, false);
    r.start.plan.what.tty = tty;
    r.start.plan.what.cwd = r.start.plan.policy_cwd = folder.path();
    r.start.plan.workspace_roots = {folder.path()};
    r.yield = yield;
    return std::make_shared<const actors::exec_request>(std::move(r));
  }
  actors::exec_reply exec(const std::string& script,
                          std::chrono::milliseconds yield = std::chrono::seconds{20},
                          bool tty = false) {
    return *wait(ask<actors::exec_reply_ptr>(actors::run_v, request(script, yield, tty)));
  }
  actors::exec_reply write(int id, const std::string& chars,
                           std::chrono::milliseconds yield = std::chrono::milliseconds{250}) {
    actors::stdin_request r;
    r.call_id = "write-" + std::to_string(++calls_);
    r.session_id = id;
    r.chars = chars;
    r.yield = yield;
    return *wait(ask<actors::exec_reply_ptr>(
        actors::run_v, std::make_shared<const actors::stdin_request>(std::move(r))));
  }
  std::vector<actors::process_info> list() {
    return wait(ask<actors::process_list_ptr>(actors::list_v))->sessions;
  }
  /// Polls until the process has ended; `text` gets what the polls said.
  actors::exec_reply finish(int id, std::string& text) {
    for (int i = 0; i < 1000; ++i) {
      auto reply = write(id, "", std::chrono::milliseconds{200});
      text += reply.result.output;
      if (!reply.result.session_id) return reply;
    }
    FAIL("the session never ended");
    return {};
  }

  /// Waits until a session has said `word`.
  bool heard(int id, const std::string& word) {
    const auto said = [&] {
      return wait(ask<actors::process_transcript_ptr>(actors::read_v, id, actors::whole_transcript))
                 ->text.find(word) != std::string::npos;
    };
    return loop.run_until(said, std::chrono::seconds{20});
  }

  /// Processes of this stage that are alive or not reaped.
  static std::size_t processes_of(const std::string& mark) {
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
      std::ifstream file{entry.path() / "environ", std::ios::binary};
      // By operator<<, which survives a process that ends while it is read.
      std::ostringstream text;
      text << file.rdbuf();
      n += text.str().find("GH_MARK=" + mark) != std::string::npos;
    }
    return n;
  }
  bool no_process_left() {
    return loop.run_until([this] { return processes_of(mark()) == 0; }, std::chrono::seconds{10});
  }
  [[nodiscard]] std::string mark() const { return std::filesystem::path{folder.path()}.filename(); }

  tests::temp_folder folder;
  reactor::event_loop loop;
  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  actors::judgement_terms judgement;
  actors::process_manager_terms terms;
  actors::process_manager_actor manager;

private:
  permission_profile profile_;
  int calls_ = 0;
};

/// Children of this process, zombies included.
inline std::size_t own_children() {
  std::size_t n = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{task.path() / "children"};
    n += static_cast<std::size_t>(
        std::distance(std::istream_iterator<int>{file}, std::istream_iterator<int>{}));
  }
  return n;
}

inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{}));
}

} // namespace gatehouse::test
