#include "actors/shell_runtime.hpp"

#include "actors/attempt_outcome.hpp"
#include "sandbox/launch.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace gatehouse::actors {
namespace {

constexpr int report_fd = 3; // the helper's number of it

/// The helper's report lies in memory: it is bounded, and wanted only when all has ended.
std::vector<sandbox_event> read_report(int fd) {
  sandbox::report_reader reader;
  std::vector<sandbox_event> events;
  char bytes[16384];
  off_t at = 0;
  while (true) {
    const auto size = ::pread(fd, bytes, sizeof bytes, at);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return events;
    at += size;
    auto more = reader.feed({bytes, static_cast<std::size_t>(size)});
    events.insert(events.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  }
}

attempt_result not_started(const attempt& what, error why) {
  attempt_result result;
  result.record.number = what->number;
  result.record.sandbox = what->backend;
  result.record.network = what->network;
  result.record.failure = std::move(why);
  return result;
}

} // namespace

shell_runtime::shell_runtime(caf::actor_config& config, reactor::event_loop& loop,
                             shell_runtime_settings settings)
    : runtime_actor::base{config}, loop_{loop}, settings_{std::move(settings)} {}

void shell_runtime::on_exit() {
  for (auto& [call_id, run] : running_)
    run->caller.deliver(std::make_shared<const attempt_result>(not_started(
        *run->what, error{errc::cancelled, "the runtime ended while the command ran", {}})));
  running_.clear(); // kills what still runs
}

shell_runtime::behavior_type shell_runtime::make_behavior() {
  return {
      [this](run_atom, const attempt_ptr& what) -> caf::result<attempt_result_ptr> {
        auto caller = make_response_promise<attempt_result_ptr>();
        const std::string call_id = (*what)->call_id;
        auto& run = running_[call_id];
        if (run) { // one call has one attempt at a time
          caller.deliver(std::make_shared<const attempt_result>(
              not_started(*what, error{errc::internal, "an attempt of this call still runs", {}})));
          return caller;
        }
        run = std::make_unique<running>(loop_, what, settings_.output_cap);
        run->caller = caller;
        start(call_id, *run);
        return caller;
      },
      [this](cancel_atom, const std::string& call_id) {
        const auto found = running_.find(call_id);
        if (found == running_.end()) return;
        found->second->cancelled = true;
        found->second->child->terminate(settings_.grace);
      },
  };
}

policy::access_context shell_runtime::context_of(const attempt& what) const {
  auto context = settings_.host;
  context.cwd = what->policy_cwd;
  context.project_roots = what->workspace_roots;
  return context;
}

void shell_runtime::start(const std::string& call_id, running& run) {
  const attempt& what = *run.what;
  run.report.reset(::memfd_create("gatehouse-report", MFD_CLOEXEC));
  if (!run.report)
    return failed(call_id,
                  error{errc::io, std::string{"memfd_create: "} + std::strerror(errno), {}});

  sandbox::launch_request launch;
  launch.helper = settings_.helper;
  launch.policy_cwd = what->policy_cwd;
  launch.command_cwd = what->cwd;
  launch.profile = what->profile;
  launch.workspace_roots = what->workspace_roots;
  launch.tmpdir = settings_.host.tmpdir;
  launch.protected_names = settings_.extra_protected_names;
  launch.protected_paths = settings_.host.protected_paths;
  launch.report_fd = report_fd;
  launch.command = what->argv;

  reactor::spawn_request request;
  request.argv = sandbox::launch_argv(launch);
  request.program = settings_.helper;
  request.env = settings_.environment;
  request.pass_fds = {{run.report.get(), report_fd}};
  reactor::process_listener listener;
  listener.on_output = [this, call_id](reactor::output_stream stream, std::string_view bytes) {
    took_output(call_id, stream, bytes);
  };
  listener.on_exit = [&run](const reactor::exit_status& status) {
    run.status = status;
    run.timeout.cancel();
  };
  listener.on_end = [this, call_id](const reactor::process_end&) { ended(call_id); };
  run.begun = loop_.now();
  auto child = reactor::process::spawn(loop_, request, std::move(listener));
  if (!child) return failed(call_id, child.error());
  run.child = std::move(*child);
  run.timeout.start(what->timeout.value_or(settings_.default_timeout), [this, &run] {
    run.timed_out = true;
    run.child->terminate(settings_.grace);
  });
}

void shell_runtime::took_output(const std::string& call_id, reactor::output_stream stream,
                                std::string_view bytes) {
  const auto found = running_.find(call_id);
  if (found == running_.end()) return;
  auto& run = *found->second;
  (stream == reactor::output_stream::standard_output ? run.standard_output : run.standard_error)
      .append(bytes);
  run.aggregated.append(bytes);
  if (settings_.on_output) settings_.on_output(call_id, stream, bytes);
  run.child->grant(stream);
}

void shell_runtime::ended(const std::string& call_id) {
  auto node = running_.extract(call_id);
  if (node.empty()) return;
  auto& run = *node.mapped();
  attempt_result result;
  result.output = {run.standard_output.text(), run.standard_error.text(), run.aggregated.text(),
                   run.standard_output.omitted() + run.standard_error.omitted() +
                       run.aggregated.omitted()};
  result.record =
      classify_attempt(*run.what, context_of(*run.what),
                       {read_report(run.report.get()), run.status, run.timed_out, run.cancelled,
                        result.output.stdout_text, result.output.stderr_text});
  result.record.duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - run.begun);
  run.caller.deliver(std::make_shared<const attempt_result>(std::move(result)));
}

void shell_runtime::failed(const std::string& call_id, error why) {
  auto node = running_.extract(call_id);
  auto& run = *node.mapped();
  if (why.code == errc::not_found || why.code == errc::spawn_failed)
    why = {errc::boundary_unavailable, "gatehouse-sandbox cannot be started: " + why.message,
           "Install gatehouse-sandbox beside this program."};
  run.caller.deliver(
      std::make_shared<const attempt_result>(not_started(*run.what, std::move(why))));
}

} // namespace gatehouse::actors
