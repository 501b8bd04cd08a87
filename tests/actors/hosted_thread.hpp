#pragma once

#include "actors/thread_host.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
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

} // namespace gatehouse::test
