#include "cli/exec_server_process.hpp"

#include "actors/attempt_denial.hpp"
#include "policy/environment_policy.hpp"
#include "reactor/read_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <sys/stat.h>

namespace gatehouse::cli {
namespace {

using namespace exec_server;
using namespace std::string_view_literals;
using reactor::output_stream;

constexpr std::size_t tail_bytes = 64 * 1024;
constexpr std::chrono::milliseconds settle_time{50};
constexpr std::size_t remembered_writes = 4096;

policy::environment_policy rules_of(const env_policy& wire) {
  policy::environment_policy rules;
  rules.inherit = wire.inherit == inherit::all    ? policy::inherit_environment::all
                  : wire.inherit == inherit::core ? policy::inherit_environment::core
                                                  : policy::inherit_environment::none;
  rules.ignore_default_excludes = wire.ignore_default_excludes;
  rules.exclude = wire.exclude;
  rules.set = wire.set;
  rules.include_only = wire.include_only;
  return rules;
}

reactor::delta_limits limits_for(const process_start& what) {
  reactor::delta_limits limits;
  limits.terminal = what.tty;
  return limits;
}

/// Missing folders are told as missing programs are: clients know one word for both.
std::optional<failure> missing_folder(const std::string& cwd) {
  struct stat st {};
  int bad = 0;
  if (::stat(cwd.c_str(), &st) != 0)
    bad = errno;
  else if (!S_ISDIR(st.st_mode))
    bad = ENOTDIR;
  if (bad == 0) return std::nullopt;
  const bool missing = bad == ENOENT || bad == ENOTDIR;
  return failure{code::internal,
                 "the working folder " + cwd + ": " + std::strerror(bad) + " (os error " +
                     std::to_string(bad) + ")",
                 missing ? "spawnNotFound" : "spawnDenied", cwd};
}

/// Whoever has it last, what is retained or the queue of the connection, gives its memory back.
std::shared_ptr<const std::string> shared(std::string bytes) {
  return {new std::string{std::move(bytes)}, [](std::string* one) {
            const std::unique_ptr<std::string> last{one};
            reactor::give_back(std::move(*last));
          }};
}

failure ended_early() {
  return {code::internal, "it was ended before it began", "spawnFailed", {}};
}

} // namespace

exec_process::exec_process(const exec_host& host, std::string session, process_start what,
                           exec_sink sink,
                           std::function<void(const std::optional<failure>&)> on_started)
    : host_{host}, what_{std::move(what)}, audit_{*host.loop, host.audit, std::move(session),
                                                  what_},
      sink_{std::move(sink)}, on_started_{std::move(on_started)}, gathered_{limits_for(what_)},
      tails_{reactor::head_tail_buffer{tail_bytes}, reactor::head_tail_buffer{tail_bytes}},
      flush_{*host.loop}, settle_{*host.loop}, later_{*host.loop}, kept_{host.retained_bytes} {
  gathered_.set_largest(sink_.largest());
  audit_.begin([this](const result<void>& how) {
    if (how) return start();
    fail({code::internal,
          "nothing was run, since it could not be recorded: " + to_string(how.error()),
          "auditUnavailable",
          {}});
  });
}

bool exec_process::sandboxed() const noexcept {
  return what_.sandbox && what_.sandbox->profile.kind == profile_kind::managed;
}

void exec_process::start() {
  if (killed_) return fail(ended_early());
  if (sandboxed() && what_.managed_network) return refuse_network();
  if (const auto missing = missing_folder(what_.cwd)) return fail(*missing);

  policy::environment variables;
  if (what_.policy)
    variables = policy::select_environment(rules_of(*what_.policy),
                                           policy::read_environment(host_.environment));
  for (const auto& [name, value] : what_.env)
    variables[name] = value;

  actors::command_request request;
  request.launch.helper = host_.helper;
  request.launch.command_cwd = what_.cwd;
  if (what_.sandbox) {
    request.launch.policy_cwd = what_.sandbox->cwd;
    request.launch.profile = what_.sandbox->profile;
    request.launch.workspace_roots = what_.sandbox->workspace_roots;
    request.launch.legacy_landlock = what_.sandbox->legacy_landlock;
  } else {
    request.launch.policy_cwd = what_.cwd;
    request.launch.profile = danger_full_access_profile();
    request.launch.workspace_roots = {what_.cwd};
  }
  if (const auto found = variables.find("TMPDIR");
      found != variables.end() && found->second.starts_with('/'))
    request.launch.tmpdir = found->second;
  request.launch.protected_paths = host_.protected_paths;
  request.launch.hidden_paths = host_.hidden_paths();
  request.launch.command = what_.argv;
  request.environment = policy::to_entries(variables);
  request.tty = what_.tty;
  request.pipe_input = what_.pipe_stdin;
  auto running = actors::helper_process::start(
      *host_.loop, request,
      {.on_started =
           [this] {
             started_ = true;
             if (const auto tell = std::exchange(on_started_, {})) tell({});
             emit(gathered_.take(host_.loop->now())); // it may speak before we know that it runs
             arm();
             if (interrupted_) interrupt();
           },
       .on_output = [this](output_stream stream, std::string_view bytes) { keep(stream, bytes); },
       .on_exit = [this](const actors::command_end& end) { exited(end); },
       .on_end =
           [this] {
             streams_ended_ = true;
             tell_exit();
             tell_closed();
           },
       .on_input_drained = {}});
  if (!running) return fail({code::internal, to_string(running.error()), "spawnFailed", {}});
  process_ = std::move(*running);
}

void exec_process::fail(failure why) {
  closed_ = true;
  attempt_record never;
  never.failure = error{errc::io, why.message, {}};
  audit_.end(std::move(never));
  if (const auto tell = std::exchange(on_started_, {})) tell(why);
}

/// The client wants its proxy in the way and there is none here: nothing may run (fails closed).
void exec_process::refuse_network() {
  started_ = true;
  if (const auto tell = std::exchange(on_started_, {})) tell({});
  emit_chunk("stderr", "gatehouse: this command needs the managed network, which this server "
                       "cannot set up\n");
  emit_chunk("stderr", "gatehouse: nothing was run\n");
  constexpr int no_boundary = 101; // what clients know
  exit_code_ = no_boundary;
  denied_ = true;
  attempt_record never;
  never.failure = error{errc::boundary_unavailable, "there is no managed network", {}};
  audit_.end(std::move(never));
  exit_seq_ = ++seq_;
  sink_.send(encode_exited(what_.process_id, seq_, no_boundary, true));
  closed_ = true;
  sink_.send(encode_closed(what_.process_id, ++seq_));
  serve_reads();
}

void exec_process::keep(output_stream stream, std::string_view bytes) {
  // The kernel hangs a killed terminal up, and its shell may live long enough to remark on that.
  if (killed_ && what_.tty) return;
  if (sandboxed()) tails_[static_cast<std::size_t>(stream)].append(bytes);
  if (sink_.largest() > 0)
    gathered_.adopt(stream, reactor::take_read(bytes), host_.loop->now());
  else
    gathered_.append(stream, bytes, host_.loop->now());
  if (started_) {
    emit(gathered_.take(host_.loop->now()));
    arm();
  }
  if (sink_.full())
    owed_.push_back(stream);
  else if (process_)
    process_->grant(stream);
}

void exec_process::drained() {
  gathered_.set_largest(sink_.largest());
  for (const auto stream : std::exchange(owed_, {}))
    if (process_) process_->grant(stream);
}

void exec_process::arm() {
  const auto due = gathered_.due();
  if (!due || flush_.pending()) return;
  flush_.start_at(*due, [this] {
    emit(gathered_.take(host_.loop->now()));
    arm();
  });
}

void exec_process::emit(std::vector<reactor::output_delta> deltas) {
  for (auto& delta : deltas)
    emit_chunk(what_.tty                                       ? "pty"
               : delta.stream == output_stream::standard_error ? "stderr"
                                                               : "stdout",
               std::move(delta.bytes));
  if (!deltas.empty()) serve_reads();
}

void exec_process::emit_chunk(std::string_view stream, std::string bytes) {
  retained_output::chunk said{++seq_, stream, shared(std::move(bytes))};
  sink_.output(what_.process_id, said);
  kept_.add(std::move(said));
}

void exec_process::exited(const actors::command_end& end) {
  if (end.failure && end.ending != attempt_ending::not_started && !killed_) {
    // It ran or may have run: no client may take that for a start that failed.
    started_ = true;
    if (const auto tell = std::exchange(on_started_, {})) tell({});
    gathered_.append(output_stream::standard_error, "gatehouse: " + to_string(*end.failure) + "\n",
                     host_.loop->now());
  }
  if (!started_) {
    failure why{code::internal, {}, "spawnFailed", {}};
    if (end.exec_error) {
      const bool missing = *end.exec_error == ENOENT || *end.exec_error == ENOTDIR;
      why.message = std::string{std::strerror(*end.exec_error)} + " (os error " +
                    std::to_string(*end.exec_error) + ")";
      why.kind = missing ? "spawnNotFound" : "spawnDenied";
      why.path = what_.argv.front();
    } else if (end.failure && !killed_) {
      why.message = to_string(*end.failure);
      why.kind = "sandboxUnavailable";
    } else {
      why = ended_early();
    }
    return fail(std::move(why));
  }
  end_ = end;
  if (!streams_ended_) settle_.start(settle_time, [this] { tell_exit(); });
}

/// What the process had written comes before its exit, unless its client does not take it.
void exec_process::tell_exit() {
  if (!end_ || exit_code_) return;
  settle_.cancel();
  emit(streams_ended_ ? gathered_.take_all() : gathered_.take(reactor::clock::time_point::max()));
  flush_.cancel();
  exit_code_ = end_->signal ? (what_.tty ? 1 : 128 + *end_->signal) : end_->exit_code.value_or(-1);
  attempt_record how;
  how.ending = end_->ending;
  how.exit_code = end_->exit_code;
  how.signal = end_->signal;
  how.warnings = end_->warnings;
  how.denied = refusal(*end_);
  // Clients of this protocol take "denied" as a reason to ask for more files, not for a host.
  denied_ = how.denied && how.denied->kind != denial_kind::network;
  audit_.end(std::move(how));
  exit_seq_ = ++seq_;
  sink_.send(encode_exited(what_.process_id, seq_, *exit_code_, denied_));
  serve_reads();
}

void exec_process::tell_closed() {
  if (closed_ || !exit_code_) return;
  emit(gathered_.take_all());
  flush_.cancel();
  closed_ = true;
  sink_.send(encode_closed(what_.process_id, ++seq_));
  serve_reads();
  // Its descriptors are of no use any more; this runs inside one of its callbacks.
  later_.start(std::chrono::milliseconds{0}, [this] { process_.reset(); });
}

std::optional<denial> exec_process::refusal(const actors::command_end& end) {
  if (!sandboxed() || exit_code_ == 0) return std::nullopt;
  const auto said = tails_[0].render().value, complained = tails_[1].render().value;
  actors::boundary_scope scope;
  scope.profile = what_.sandbox->profile;
  scope.context.cwd = what_.sandbox->cwd;
  scope.context.project_roots = what_.sandbox->workspace_roots;
  scope.context.protected_names = policy::default_protected_names();
  scope.context.protected_paths = host_.protected_paths;
  sandbox::denial_evidence evidence;
  evidence.exit_code = end.exit_code;
  evidence.signal = end.signal;
  evidence.cwd = what_.cwd;
  evidence.argv = what_.argv;
  evidence.stdout_tail = said;
  evidence.stderr_tail = complained;
  evidence.network = what_.sandbox->profile.network == network_policy::enabled
                         ? network_mode::full
                         : network_mode::isolated;
  evidence.observed = end.observed;
  return actors::find_denial(scope, std::move(evidence));
}

result<std::string_view> exec_process::write(const process_write& order) {
  if (!started_) return "starting"sv;
  if (!order.write_id.empty() && write_ids_.contains(order.write_id)) return "accepted"sv;
  if (end_ || !process_ || !(what_.tty || what_.pipe_stdin)) return "stdinClosed"sv;
  if (const auto most = reactor::process_limits{}.pending_input; order.bytes.size() > most)
    return error{errc::invalid_request, "a write holds at most " + std::to_string(most) + " bytes",
                 "write it in parts"};
  if (!order.bytes.empty())
    if (const auto taken = process_->write_stdin(order.bytes); !taken) {
      if (taken.error().code == errc::too_large) return taken.error();
      return "stdinClosed"sv;
    }
  if (!order.write_id.empty()) remember_write(order.write_id);
  return "accepted"sv;
}

void exec_process::remember_write(const std::string& id) {
  write_ids_.insert(id);
  write_ids_in_order_.push_back(id);
  if (write_ids_in_order_.size() <= remembered_writes) return;
  write_ids_.erase(write_ids_in_order_.front());
  write_ids_in_order_.pop_front();
}

void exec_process::interrupt() {
  interrupted_ = !started_;
  if (process_ && started_ && !end_) process_->signal(SIGINT);
}

bool exec_process::terminate() {
  const bool running = !closed_ && !end_;
  killed_ = killed_ || running;
  if (process_ && running) process_->kill();
  return running;
}

bool exec_process::news_after(std::uint64_t seq) const {
  return closed_ || (exit_seq_ > seq) ||
         (!kept_.chunks().empty() && kept_.chunks().back().seq > seq);
}

void exec_process::read(const process_read& order, std::function<void(std::string)> answer) {
  if (order.wait.count() == 0 || news_after(order.after_seq)) return answer(answer_now(order));
  auto one = std::make_unique<waiting_read>();
  one->order = order;
  one->answer = std::move(answer);
  one->limit = std::make_unique<reactor::timer>(*host_.loop);
  one->limit->start(order.wait, [this, raw = one.get()] {
    raw->over = true;
    serve_reads();
  });
  reads_.push_back(std::move(one));
}

void exec_process::serve_reads() {
  for (std::size_t i = 0; i < reads_.size();) {
    if (!reads_[i]->over && !news_after(reads_[i]->order.after_seq)) {
      ++i;
      continue;
    }
    const auto one = std::move(reads_[i]);
    reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(i));
    one->answer(answer_now(one->order));
  }
}

std::string exec_process::answer_now(const process_read& order) const {
  read_answer out;
  out.next_seq = seq_ + 1;
  out.exited = exit_code_.has_value();
  out.exit_code = exit_code_;
  out.closed = closed_;
  out.sandbox_denied = denied_;
  const auto& chunks = kept_.chunks();
  const auto first = std::upper_bound(
      chunks.begin(), chunks.end(), order.after_seq,
      [](std::uint64_t seq, const retained_output::chunk& c) { return seq < c.seq; });
  std::size_t bytes = 0;
  for (auto it = first; it != chunks.end(); ++it) {
    if (!out.chunks.empty() && bytes + it->bytes->size() > order.max_bytes) {
      out.next_seq = it->seq;
      break;
    }
    out.chunks.push_back({it->seq, it->stream, *it->bytes});
    bytes += it->bytes->size();
    if (bytes >= order.max_bytes) {
      out.next_seq = it->seq + 1;
      break;
    }
  }
  out.dropped_bytes = kept_.missing_after(order.after_seq);
  return encode_read_answer(out);
}

} // namespace gatehouse::cli
