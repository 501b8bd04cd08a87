#include "cli/exec_server_session_files.hpp"

#include "actors/confined_file_call.hpp"
#include "cli/exec_server_files.hpp"
#include "protocol/audit.hpp"
#include "protocol/profile_json.hpp"

#include <utility>

#include <sys/stat.h>

namespace gatehouse::cli {
namespace {

using namespace exec_server;

constexpr std::chrono::milliseconds watch_interval{25};

bool exists(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0;
}

} // namespace

bool has_boundary(const std::optional<sandbox_terms>& sandbox) {
  return sandbox && sandbox->profile.kind == profile_kind::managed;
}

failure needs_boundary() {
  return {code::invalid_request,
          "this server runs nothing without a sandbox: send a managed `sandbox`, or start the "
          "server with --allow-unsandboxed",
          "sandboxRequired",
          {}};
}

void exec_session_files::call(file_call call, const exec_reply& answer) {
  if (!has_boundary(call.sandbox) && !terms_.host.allow_unsandboxed)
    return answer({}, needs_boundary());
  if (!terms_.host.audit) return perform(std::move(call), answer);
  audit_record entry;
  entry.kind = audit_kind::request;
  entry.session = session_;
  entry.body =
      audit_file_call(to_string(call.method), call.path, call.destination, call.bytes.size(),
                      call.sandbox ? encode_profile(call.sandbox->profile) : "");
  terms_.host.audit->record(std::move(entry), [this, call = std::move(call), answer,
                                               alive = std::weak_ptr<int>{alive_}](
                                                  const result<void>& how) {
    if (alive.expired()) return;
    if (how) return perform(call, answer);
    answer({},
           failure{code::internal,
                   "nothing was done, since it could not be recorded: " + to_string(how.error()),
                   "auditUnavailable",
                   {}});
  });
}

void exec_session_files::perform(file_call call, const exec_reply& answer) {
  const auto deliver = [answer](const file_answer& done) {
    auto failed = done.failed;
    // Its peers name no kind for what the files themselves refuse, and clients compare.
    if (failed && (failed->kind == "denied" || failed->kind == "tooLarge")) failed->kind.clear();
    answer(done.result, failed);
  };
  if (!has_boundary(call.sandbox)) {
    const auto queued = workers_.submit_value(
        [call = std::move(call)] { return perform_file_call(call); },
        [deliver, alive = std::weak_ptr<int>{alive_}](const file_answer& done) {
          if (!alive.expired()) deliver(done);
        });
    if (!queued) answer({}, failure{code::internal, queued.error().message, "overloaded", {}});
    return;
  }
  // Inside the boundary: our own program makes the call there.
  const auto& sandbox = *call.sandbox;
  gatehouse::sandbox::launch_request launch;
  launch.helper = terms_.host.helper;
  launch.policy_cwd = sandbox.cwd;
  launch.profile = sandbox.profile;
  launch.workspace_roots = sandbox.workspace_roots;
  launch.legacy_landlock = sandbox.legacy_landlock;
  launch.protected_paths = terms_.host.protected_paths;
  launch.hidden_paths = terms_.host.hidden_paths();
  launch.command = {terms_.host.own, "file-call"};
  auto exchange = actors::confined_file_call(std::move(launch), encode_file_call(call));
  const auto number = ++last_exchange_;
  exchanges_[number] = std::make_unique<reactor::program_exchange>(
      *terms_.host.loop, std::move(exchange),
      [this, number, deliver](const reactor::exchange_end& end) {
        const auto own = std::move(exchanges_[number]);
        exchanges_.erase(number);
        deliver(actors::file_answer_of(end));
      });
}

void exec_session_files::open(const handle_open& order, const exec_reply& answer) {
  if (handles_.contains(order.handle_id))
    return answer(
        {},
        failure{code::invalid_request, "file handle `" + order.handle_id + "` is open", {}, {}});
  constexpr std::size_t max_handles = 1024;
  if (handles_.size() >= max_handles)
    return answer({}, failure{code::internal, "too many open files", "overloaded", {}});
  file_call probe;
  probe.method = order.replace ? file_method::write_range : file_method::read_range;
  probe.path = order.path;
  probe.truncate = order.replace;
  probe.sandbox = order.sandbox;
  call(std::move(probe),
       [this, order, answer](const std::string&, const std::optional<failure>& why) {
         if (why) return answer({}, why);
         handles_[order.handle_id] = {order.path, order.replace, order.sandbox};
         answer(encode_handle(order.handle_id), {});
       });
}

void exec_session_files::block(handle_block order, bool write, const exec_reply& answer) {
  const auto found = handles_.find(order.handle_id);
  if (found == handles_.end() || found->second.replace != write)
    return answer(
        {}, failure{code::not_found, "unknown file handle `" + order.handle_id + "`", {}, {}});
  file_call part;
  part.method = write ? file_method::write_range : file_method::read_range;
  part.path = found->second.path;
  part.sandbox = found->second.sandbox;
  part.offset = order.offset;
  part.length = order.length;
  part.bytes = std::move(order.bytes);
  call(std::move(part), answer);
}

void exec_session_files::watch(const watch_missing& order, const exec_reply& answer) {
  if (!terms_.host.allow_unsandboxed) return answer({}, needs_boundary());
  constexpr std::size_t max_watches = 256;
  if (watches_.size() >= max_watches)
    return answer({}, failure{code::internal, "too many watches", "overloaded", {}});
  watches_.push_back(order);
  answer(R"({"watching":true})", {});
  look_at_watches();
}

void exec_session_files::look_at_watches() {
  for (std::size_t i = 0; i < watches_.size();) {
    const auto& one = watches_[i];
    bool changed = !exists(one.present);
    for (const auto& path : one.missing)
      changed = changed || exists(path);
    if (!changed) {
      ++i;
      continue;
    }
    notify_(encode_missing_changed(one.watch_id));
    watches_.erase(watches_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!watches_.empty()) watch_timer_.start(watch_interval, [this] { look_at_watches(); });
}

} // namespace gatehouse::cli
