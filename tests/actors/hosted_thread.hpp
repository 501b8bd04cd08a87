#pragma once

#include "actors/thread_host.hpp"
#include "reactor/clock.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse::test {

/// Keeps every event that a thread publishes.
struct event_recorder : actors::thread_subscriber {
  void on_event(const thread_event_ptr& event) override { events.push_back(event); }

  template <class T>
  [[nodiscard]] std::vector<T> all() const {
    std::vector<T> found;
    for (const auto& event : events)
      if (const auto* what = std::get_if<T>(&event->what)) found.push_back(*what);
    return found;
  }
  /// The questions that a person may answer, as they came.
  [[nodiscard]] std::vector<review_request> questions() const {
    std::vector<review_request> found;
    for (const auto& asked : all<thread_events::review_asked>())
      if (asked.who == reviewer_kind::user) found.push_back(asked.question);
    return found;
  }
  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> found;
    for (const auto& said : all<thread_events::warning>())
      found.push_back(said.text);
    return found;
  }

  std::vector<thread_event_ptr> events;
};

/// The terms of a thread whose helper is a script: what it writes to descriptor 3 is the report.
struct scripted_terms {
  tests::temp_folder folder;
  actors::thread_terms terms;

  explicit scripted_terms(const std::string& script) {
    terms.judgement.rules = std::make_shared<const policy::rule_set>();
    terms.judgement.search = {folder.path(), folder.path(), "/usr/bin:/bin", {}};
    terms.shell.helper = folder.write("helper", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(terms.shell.helper, std::filesystem::perms::owner_all);
    terms.shell.environment = {"PATH=/usr/bin:/bin"};
    terms.shell.end_grace = std::chrono::milliseconds{100};
    terms.nobody_reason = "no one";
    terms.session.cwd = terms.session.context.cwd = folder.path();
    terms.session.context.project_roots = {folder.path()};
    terms.session.approval.mode = approval_mode::on_request;
    terms.session.profile = workspace_write_profile();
    terms.session.backend = sandbox_backend::linux_bubblewrap;
    terms.session.shell = "/bin/sh";
  }

  /// One call in a thread of its own.
  call_report run(shell_request request, const std::shared_ptr<event_recorder>& listener = {}) {
    actors::thread_host host;
    const auto thread = host.open(terms);
    if (listener) thread.send(actors::thread_messages::subscribe{listener, false, {}});
    return **host.run(thread, {"call-1", {}, std::move(request)});
  }
};

inline shell_request argv_request(std::vector<std::string> argv) {
  shell_request request;
  request.command = std::move(argv);
  return request;
}

constexpr std::chrono::seconds hang_guard{60};

/// A helper that says which command it ran.
constexpr auto echoing_helper = R"(echo '{"event":"started"}' >&3
for last; do :; done
echo "ran $last"
echo "$last" >> "${0%/*}/ran"
echo '{"event":"exited","exit_code":0}' >&3)";

/// A thread under `untrusted`, so that every unknown command asks; on a clock of its own.
struct live_session : scripted_terms {
  std::shared_ptr<reactor::manual_clock> time = std::make_shared<reactor::manual_clock>();
  std::shared_ptr<event_recorder> heard = std::make_shared<event_recorder>();
  std::optional<actors::thread_host> host;
  std::optional<actors::thread_handle> thread;
  std::map<std::string, result<call_report_ptr>> reports;

  live_session() : scripted_terms{echoing_helper} {
    terms.session.approval.mode = approval_mode::untrusted;
    terms.session.context.cwd = folder.path();
  }
  void open(bool answers = true) {
    host.emplace(time);
    thread.emplace(host->open(terms));
    thread->send(actors::thread_messages::subscribe{heard, answers, {}});
  }
  void begin(const std::string& id, tool_arguments what, std::string turn = {}) {
    thread->send(actors::thread_messages::begin_call{
        {id, std::move(turn), std::move(what)}, [this, id](const result<call_report_ptr>& report) {
          reports.insert_or_assign(id, report);
        }});
  }
  void begin(const std::string& id, std::vector<std::string> argv, std::string turn = {}) {
    begin(id, tool_arguments{argv_request(std::move(argv))}, std::move(turn));
  }
  void wait(const std::function<bool()>& done) {
    REQUIRE(host->loop().run_until(done, hang_guard));
  }
  void wait_for_questions(std::size_t count) {
    wait([&] { return heard->questions().size() >= count; });
  }
  void wait_for_reports(std::size_t count) {
    wait([&] { return reports.size() >= count; });
  }
  result<void> answer(const review_request& q, review_decision d,
                      std::optional<std::string> digest = {},
                      std::optional<given_permissions> permissions = {}) {
    std::optional<result<void>> said;
    thread->send(actors::thread_messages::answer_review{q.review_id,
                                                        digest.value_or(q.digest),
                                                        d,
                                                        {},
                                                        [&](const result<void>& r) { said = r; },
                                                        false,
                                                        std::move(permissions)});
    wait([&] { return said.has_value(); });
    return *said;
  }
  actors::thread_messages::thread_status status() {
    std::optional<actors::thread_messages::thread_status> got;
    thread->send(actors::thread_messages::read_status{
        [&](const actors::thread_messages::thread_status& s) { got = s; }});
    wait([&] { return got.has_value(); });
    return *got;
  }
  result<std::string> start_turn(std::string id, bool by_user) {
    std::optional<result<std::string>> said;
    thread->send(actors::thread_messages::start_turn{
        std::move(id), [&](const result<std::string>& r) { said = r; }, by_user, {}});
    wait([&] { return said.has_value(); });
    return *said;
  }
  result<void> end_turn(std::string id, bool by_user) {
    std::optional<result<void>> said;
    thread->send(actors::thread_messages::end_turn{
        std::move(id), thread_events::turn_ending::interrupted, "the user interrupted it", by_user,
        [&](const result<void>& r) { said = r; }});
    wait([&] { return said.has_value(); });
    return *said;
  }
  const call_report& report(const std::string& id) { return **reports.at(id); }
  [[nodiscard]] bool ran() const { return std::filesystem::exists(folder / "ran"); }
};

} // namespace gatehouse::test
