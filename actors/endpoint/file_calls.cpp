#include "actors/endpoint/file_calls.hpp"

#include "actors/attempt_launch.hpp"
#include "actors/confined_file_call.hpp"
#include "actors/endpoint/refusals.hpp"
#include "actors/hook_rules.hpp"
#include "actors/real_places.hpp"
#include "protocol/audit.hpp"
#include "protocol/base64.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/shell_quote.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gatehouse::actors {

using namespace exec_server;

struct file_calls::open_call {
  std::shared_ptr<thread_entry> entry;
  std::string session;
  file_call what;
  std::size_t most_bytes = 0;
  rpc_reply done;
  std::string turn{}; ///< that was open when it was asked; may be empty
  bool over = false;  ///< answered
  std::unique_ptr<reactor::program_exchange> exchange{};
};

namespace {

constexpr std::size_t most_open = 64;            // each is a process and a boundary
constexpr std::size_t most_written = 11U << 20U; // as much as can be read

bool writes(file_method method) {
  switch (method) {
  case file_method::read_file:
  case file_method::get_metadata:
  case file_method::canonicalize:
  case file_method::read_directory:
  case file_method::walk:
  case file_method::read_range: return false;
  case file_method::write_file:
  case file_method::create_directory:
  case file_method::remove:
  case file_method::copy:
  case file_method::write_range: break;
  }
  return true;
}

/// Why this can be no path of a call; empty: it can.
std::string bad_path(const std::string& name, const std::string& path) {
  if (path.empty() || path.front() != '/') return "`" + name + "` is an absolute path";
  if (path.size() > 4096) return "`" + name + "` is longer than 4096 bytes";
  const bool odd = std::ranges::any_of(path, [](unsigned char c) { return c < ' ' || c == 127; });
  // It must mean the same in the text of a patch, by which writing is judged.
  if (odd || path.back() == ' ')
    return "`" + name + "` has a control character in it, or a space at its end";
  return {};
}

/// The calls of tools that do the same, as which policy judges this one.
std::vector<tool_arguments> judged_as(const file_call& call) {
  const auto command = [](std::vector<std::string> argv) {
    shell_request request;
    request.command = std::move(argv);
    return tool_arguments{std::move(request)};
  };
  if (!writes(call.method)) return {command({"cat", "--", call.path})};
  const auto& changed = call.method == file_method::copy ? call.destination : call.path;
  std::vector<tool_arguments> all{command(
      {"apply_patch", "*** Begin Patch\n*** Add File: " + changed + "\n+\n*** End Patch\n"})};
  if (call.method == file_method::copy) all.push_back(command({"cat", "--", call.path}));
  if (call.method == file_method::remove && call.recursive)
    all.push_back(command({"rm", "-rf", "--", call.path}));
  return all;
}

rpc::failure no_boundary(std::string why) {
  return refused("files are touched only inside the boundary of a thread, and " + std::move(why) +
                     ". Use tool/call there",
                 "sandboxRequired");
}

/// Why no call of this thread can be confined.
std::optional<rpc::failure> cannot_confine(const thread_terms& terms) {
  const auto& session = terms.session;
  if (terms.shell.remote || session.environment_id != "local")
    return no_boundary("the one of this thread is on another machine");
  if (session.profile.kind != profile_kind::managed)
    return no_boundary("the profile of this thread has none");
  if (session.backend == sandbox_backend::none) return no_boundary("the sandbox is switched off");
  if (session.backend == sandbox_backend::landlock && !hidden_now(terms.shell).empty())
    return no_boundary("landlock leaves reading open, Gatehouse's own tokens too");
  if (auto moved = moved_folder(session.real_roots))
    return refused(*std::move(moved), "sandboxUnavailable", rpc::code::internal);
  return std::nullopt;
}

std::string_view advice(const file_call& call) {
  if (!writes(call.method))
    return "Send it as a command by tool/call: then a reviewer can be asked.";
  return call.method == file_method::write_file
             ? "Send it as tool/call of apply_patch: then a reviewer can be asked."
             : "Send it as tool/call of apply_patch or shell_command: then a reviewer can be "
               "asked.";
}

/// What of a judgement speaks against the call; nothing: it may go on.
std::optional<rpc::failure> objection(const file_call& call,
                                      const result<thread_messages::explained_call>& judged) {
  if (!judged) return failure_of(judged.error());
  const auto& requirement = judged->evaluation.requirement;
  const bool asked = requirement.kind == requirement_kind::needs_approval ||
                     (requirement.kind == requirement_kind::skip && judged->strict_review);
  if (requirement.kind == requirement_kind::skip && !asked) return std::nullopt;
  const auto name = std::string{to_string(call.method)};
  const auto why = requirement.reason.empty() ? "" : ": " + requirement.reason;
  if (!asked) return refused(name + " is refused by the policy of the thread" + why, "refused");
  return refused(name + " would have to be asked about by the policy of the thread" + why + ". " +
                     std::string{advice(call)},
                 "refused");
}

std::size_t decoded_size(std::string_view base64) {
  const auto end = base64.find_last_not_of('=');
  return end == std::string_view::npos ? 0 : (end + 1) * 3 / 4;
}

rpc::failure no_worker() {
  return refused("too much else waits for a worker of this server; try again", "io",
                 rpc::code::internal);
}

file_call without_bytes(const file_call& call) {
  file_call rest;
  rest.method = call.method;
  rest.path = call.path;
  rest.destination = call.destination;
  rest.recursive = call.recursive;
  return rest;
}

rpc::failure failure_from(const failure& failed) {
  const auto told = [&](std::string kind, rpc::code code) {
    return refused(failed.message, std::move(kind), code);
  };
  if (failed.code == code::not_found) return told("notFound", rpc::code::not_found);
  if (failed.kind == "tooLarge")
    return refused(failed.message + ". Ask for less, or use a command", "tooLarge",
                   rpc::code::internal);
  if (!failed.kind.empty()) return told(failed.kind, rpc::code::internal);
  if (failed.code == code::invalid_request) return told("notTaken", rpc::code::invalid_request);
  return told("io", rpc::code::internal);
}

} // namespace

void file_calls::perform(const std::shared_ptr<thread_entry>& entry, const std::string& session,
                         file_call call, std::string base64, std::size_t most_bytes,
                         rpc_reply done) {
  const bool copies = call.method == file_method::copy;
  auto wrong = bad_path(copies ? "sourcePath" : "path", call.path);
  if (wrong.empty() && copies) wrong = bad_path("destinationPath", call.destination);
  if (!wrong.empty()) return done(wrong_params(std::move(wrong)));
  if (const auto bytes = decoded_size(base64); bytes > most_written)
    return done(refused("`dataBase64` has " + std::to_string(bytes) +
                            " bytes; one call writes at most " + std::to_string(most_written) +
                            ". Write it in parts, by a command",
                        "tooLarge", rpc::code::internal));
  if (program_.empty()) return done(no_boundary("this server makes none"));
  const auto& terms = entry->opening.terms;
  if (const auto why = cannot_confine(terms)) return done(*why);
  if (writes(call.method) &&
      !terms.hooks.rules.matching(hook_event::pre_tool_use, hook_tool::apply_patch).empty())
    return done(refused("a hook of this server looks at every change of files before it is made, "
                        "and it is not told of this one. " +
                            std::string{advice(call)},
                        "refused"));
  auto& own = open_of_[session];
  if (own >= most_of_one || open_.size() >= most_open) {
    const auto full = own >= most_of_one;
    const auto busy = overloaded("too many file calls are under way; try again when one has ended",
                                 full ? own : open_.size(), full ? most_of_one : most_open);
    if (own == 0) open_of_.erase(session);
    return done(busy);
  }
  ++own;
  const auto made = std::make_shared<open_call>(
      open_call{entry, session, std::move(call), most_bytes, std::move(done)});
  made->turn = entry->watch->open_turn();
  open_.insert(made);
  if (base64.empty()) return judge(made, judged_as(made->what));
  decode(made, std::move(base64));
}

void file_calls::decode(const call_ptr& call, std::string base64) {
  const auto wait = host_.workers().submit_value(
      [base64 = std::move(base64)] { return decode_base64(base64); },
      [weak = weak_from_this(), call](std::optional<std::string> bytes) {
        const auto self = weak.lock();
        if (!self || call->over) return;
        if (!bytes)
          return self->answer(
              call, wrong_params("`dataBase64` is no base64 (standard alphabet, padded)"));
        call->what.bytes = *std::move(bytes);
        self->judge(call, judged_as(call->what));
      });
  if (!wait) answer(call, no_worker());
}

void file_calls::judge(const call_ptr& call, std::vector<tool_arguments> as) {
  if (as.empty()) return record(call);
  auto next = std::move(as.back());
  as.pop_back();
  call->entry->handle.send(thread_messages::explain_call{
      std::move(next), [weak = weak_from_this(), call,
                        as = std::move(as)](const result<thread_messages::explained_call>& judged) {
        const auto self = weak.lock();
        if (!self || call->over) return;
        if (const auto against = objection(call->what, judged)) return self->answer(call, *against);
        self->judge(call, as);
      }});
}

void file_calls::record(const call_ptr& call) {
  const auto sink = host_.audit_sink();
  if (!sink) return start(call);
  const auto& what = call->what;
  audit_record entry;
  entry.kind = audit_kind::request;
  entry.session = call->entry->handle.id();
  entry.turn = call->entry->watch->open_turn();
  entry.body =
      audit_file_call(to_string(what.method), what.path, what.destination, what.bytes.size(),
                      encode_profile(call->entry->opening.terms.session.profile));
  sink->record(std::move(entry), [weak = weak_from_this(), call](const result<void>& how) {
    const auto self = weak.lock();
    if (!self || call->over) return;
    if (how) return self->start(call);
    self->answer(
        call, refused("nothing was done, since it could not be recorded: " + to_string(how.error()),
                      "io", rpc::code::internal));
  });
}

void file_calls::start(const call_ptr& call) {
  const auto wait = host_.workers().submit_value(
      [what = std::exchange(call->what, without_bytes(call->what))] {
        return encode_file_call(what);
      },
      [weak = weak_from_this(), call](std::string input) {
        const auto self = weak.lock();
        if (self && !call->over) self->run(call, std::move(input));
      });
  if (!wait) answer(call, no_worker());
}

void file_calls::run(const call_ptr& call, std::string input) {
  // As the settings are now: they may have changed since it was asked.
  const auto& terms = call->entry->opening.terms;
  if (const auto why = cannot_confine(terms)) return answer(call, *why);
  const auto& session = terms.session;
  auto launch = launch_for(terms.shell, session.cwd, session.context.project_roots, session.profile,
                           session.backend);
  launch.command = program_;
  open_program(launch);
  call->exchange = std::make_unique<reactor::program_exchange>(
      host_.loop(), confined_file_call(std::move(launch), std::move(input)),
      [weak = weak_from_this(), open = std::weak_ptr{call}](reactor::exchange_end end) {
        const auto self = weak.lock();
        if (const auto of = open.lock(); self && of) self->ended(of, std::move(end));
      });
}

void file_calls::ended(const call_ptr& call, reactor::exchange_end end) {
  const auto wait = host_.workers().submit_value(
      [end = std::move(end)] { return file_answer_of(end); },
      [weak = weak_from_this(), call](file_answer made) {
        const auto self = weak.lock();
        if (!self || call->over) return;
        if (made.failed) return self->answer(call, failure_from(*made.failed));
        if (made.result.size() > call->most_bytes)
          return self->answer(
              call,
              failure_from(
                  {code::internal, "the answer is too large for one message", "tooLarge", {}}));
        self->answer(call, std::move(made.result));
      });
  if (!wait) answer(call, no_worker());
}

void file_calls::answer(const call_ptr& call, const rpc_outcome& what) {
  if (std::exchange(call->over, true)) return;
  call->exchange = nullptr;
  open_.erase(call);
  if (const auto own = open_of_.find(call->session); own != open_of_.end() && --own->second == 0)
    open_of_.erase(own);
  call->done(what);
}

void file_calls::end_if(const std::function<bool(const open_call&)>& what, const std::string& why) {
  for (const auto& call : std::set{open_})
    if (what(*call))
      answer(call, refused(why + "; what this call had done by then stands", "cancelled",
                           rpc::code::internal));
}

void file_calls::end_turn(const std::string& thread, const std::string& turn,
                          thread_events::turn_ending how) {
  const bool stopped = how != thread_events::turn_ending::completed;
  end_if(
      [&](const open_call& call) {
        return call.entry->handle.id() == thread && (stopped || call.turn == turn);
      },
      stopped ? "the turn was stopped" : "the turn is over");
}

void file_calls::end_thread(const std::string& thread) {
  end_if([&](const open_call& call) { return call.entry->handle.id() == thread; },
         "the thread was closed");
}

void file_calls::end_session(const std::string& session) {
  end_if([&](const open_call& call) { return call.session == session; },
         "the connection of its client has ended");
}

} // namespace gatehouse::actors
