#include "actors/remote_environment.hpp"

#include "actors/random_id.hpp"
#include "actors/remote_stream.hpp"
#include "policy/environment_policy.hpp"
#include "reactor/timer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace gatehouse::actors {
namespace {

using exec_client::answer;
using exec_server::failure;
using event = exec_client::process_event;

/// Output that was told and for whose successor nobody has asked yet: beyond it reading pauses.
constexpr std::size_t most_ungranted = std::size_t{4} * 1024 * 1024;
/// Of it, with what is read meanwhile so that the server keeps the connection.
constexpr std::size_t most_kept = std::size_t{64} * 1024 * 1024;
constexpr std::size_t most_pending_input = std::size_t{1024} * 1024;

/// The callbacks may end what holds them: what runs is a copy.
template <class F, class... Args>
void tell(const F& callback, const Args&... args) {
  if (const auto own = callback) own(args...);
}

exec_server::process_start start_of(const std::string& id, const command_request& request,
                                    path_convention paths) {
  exec_server::process_start start;
  start.process_id = id;
  start.paths = paths;
  start.argv = request.launch.command;
  start.cwd = request.launch.command_cwd;
  start.policy.emplace().inherit = exec_server::inherit::core; // that machine's own
  start.env = policy::read_environment(request.environment);
  start.tty = request.tty;
  start.pipe_stdin = request.pipe_input;
  start.managed_network = request.launch.managed_network;
  if (request.launch.profile.kind == profile_kind::managed)
    start.sandbox =
        exec_server::sandbox_terms{request.launch.profile, request.launch.policy_cwd,
                                   request.launch.workspace_roots, request.launch.legacy_landlock};
  return start;
}

command_end not_started(const std::string& where, const failure& why) {
  command_end end;
  if (why.kind == "spawnNotFound") {
    end.started = true;
    end.ending = attempt_ending::exited;
    end.exit_code = 127;
    end.exec_error = ENOENT;
    return end;
  }
  const bool boundary = why.kind == "sandboxUnavailable";
  end.failure = error{boundary ? errc::boundary_unavailable : errc::spawn_failed,
                      where + " did not start the command: " + why.message,
                      boundary ? "Run `gatehouse doctor` there." : ""};
  return end;
}

} // namespace

class remote_environment::connection : public std::enable_shared_from_this<connection> {
public:
  struct process {
    explicit process(reactor::event_loop& loop) : given_up{loop}, drain{loop}, write_again{loop} {}
    std::string id;
    std::string start_params;
    command_listener listener;
    remote_stream stream;
    std::deque<std::pair<std::string, std::string>> writes; ///< write id, bytes: not yet taken
    std::size_t pending = 0;
    bool started = false;
    bool start_sent = false;
    bool write_under_way = false;
    bool reading = false;
    bool interrupt_wanted = false;
    bool end_wanted = false;
    bool told_end = false;
    bool unlimited = false;                           ///< nobody will ask for more
    std::array<std::deque<std::size_t>, 2> ungranted; ///< bytes told at once, for each stream
    reactor::timer given_up;                          ///< after a kill
    reactor::timer drain;                             ///< after its exit
    reactor::timer write_again;                       ///< what waits there is full
  };
  using process_ptr = std::shared_ptr<process>;

  connection(reactor::event_loop& loop, remote_terms terms)
      : loop_{loop}, terms_{std::move(terms)}, retry_{loop} {}

  void add(process_ptr one) {
    processes_.emplace(one->id, one);
    if (ready_)
      send_start(one);
    else if (!client_ && !retry_.pending())
      connect();
  }

  [[nodiscard]] path_convention paths() const noexcept { return terms_.paths; }

  /// The reader of a stream has taken what was told first.
  void grant(const process_ptr& one, reactor::output_stream stream) {
    auto& sizes = one->ungranted[index_of(stream)];
    if (sizes.empty()) return;
    ungranted_ -= sizes.front();
    sizes.pop_front();
    hold_back();
  }

  /// Nobody listens to it any more.
  void forget(const process_ptr& one) {
    release(one);
    one->listener = {};
    one->given_up.cancel();
    one->drain.cancel();
    if (!one->start_sent)
      processes_.erase(one->id);
    else if (!one->stream.closed())
      end(one);
  }

  void write_next(const process_ptr& one) {
    if (!ready_ || !one->started || one->write_under_way || one->writes.empty() ||
        one->write_again.pending())
      return;
    one->write_under_way = true;
    const auto& [id, bytes] = one->writes.front();
    ask("process/write", exec_client::write_params(one->id, bytes, id),
        [this, one](const answer& said) {
          one->write_under_way = false;
          if (one->writes.empty()) return;
          if (said.failed && said.failed->code == exec_server::code::overloaded)
            return write_later(one);
          const auto status =
              said.failed ? result<std::string>{error{}} : exec_client::decode_write(said.result);
          if (status && *status == "accepted") {
            one->pending -= one->writes.front().second.size();
            one->writes.pop_front();
          } else { // it takes nothing any more
            one->pending = 0;
            one->writes.clear();
          }
          if (one->writes.empty()) tell(one->listener.on_input_drained);
          write_next(one);
        });
  }

  /// Its id makes it one write, however often it is tried.
  void write_later(const process_ptr& one) {
    one->write_again.start(terms_.retry, [weak = weak_from_this(), of = std::weak_ptr{one}] {
      const auto self = weak.lock();
      const auto what = of.lock();
      if (self && what) self->write_next(what);
    });
  }

  void interrupt(const process_ptr& one) {
    one->interrupt_wanted = true;
    if (!ready_ || !one->started) return;
    ask("process/signal", exec_client::signal_params(one->id),
        [one](const answer&) { one->interrupt_wanted = false; });
  }

  /// One that does not end in time is given up: whoever waits for it must not wait for ever.
  void kill(const process_ptr& one) {
    end(one);
    if (one->given_up.pending()) return;
    const auto patience = one->started      ? terms_.recovery
                          : one->start_sent ? std::min(terms_.start_doubt, terms_.recovery)
                                            : std::chrono::milliseconds{0};
    one->given_up.start(patience, [weak = weak_from_this(), one] {
      if (const auto self = weak.lock())
        self->finish(one, broken(one, self->terms_.name + " did not end the command"));
    });
  }

  void end(const process_ptr& one) {
    one->end_wanted = true;
    release(one); // its end comes behind its output
    if (!ready_ || !one->started) return;
    ask("process/terminate", exec_client::process_params(one->id), [this, one](const answer&) {
      if (!one->listener.on_end) processes_.erase(one->id);
    });
  }

private:
  using handler = std::function<void(const answer&)>;

  static std::size_t index_of(reactor::output_stream stream) {
    return stream == reactor::output_stream::standard_error ? 1 : 0;
  }

  void say(const process_ptr& one, reactor::output_stream stream, std::string_view bytes) {
    if (one->listener.on_output && !one->unlimited) {
      one->ungranted[index_of(stream)].push_back(bytes.size());
      ungranted_ += bytes.size();
    }
    tell(one->listener.on_output, stream, bytes);
    hold_back();
  }

  /// It holds nobody up any more.
  void release(const process_ptr& one) {
    one->unlimited = true;
    for (auto& sizes : one->ungranted)
      for (const auto size : std::exchange(sizes, {}))
        ungranted_ -= size;
    hold_back();
  }

  void hold_back() {
    const bool full = ungranted_ > (held_ ? most_ungranted / 2 : most_ungranted);
    if (!client_ || full == held_) return;
    held_ = full;
    if (full)
      client_->pause_reading(most_kept - std::min(most_kept, ungranted_));
    else
      client_->resume_reading();
  }

  void ask(std::string_view method, std::string_view params, handler done) {
    const auto id = ++last_request_;
    waiting_.emplace(id, std::move(done));
    client_->send(exec_client::encode_request(id, method, params));
  }

  void connect() {
    held_ = false;
    reactor::websocket_client_terms terms;
    terms.bearer = terms_.bearer;
    const std::weak_ptr<connection> weak = weak_from_this();
    const auto on_self = [weak](auto what) {
      if (const auto self = weak.lock()) what(*self);
    };
    client_ = std::make_unique<reactor::websocket_client>(
        loop_, terms_.address, std::move(terms),
        reactor::websocket_client_events{
            [on_self] { on_self([](connection& self) { self.opened(); }); },
            [on_self](std::string_view text) {
              on_self([text](connection& self) { self.heard(text); });
            },
            {},
            [on_self](const reactor::websocket_end& end) {
              on_self([&end](connection& self) { self.lost(end); });
            }});
  }

  void opened() {
    ask("initialize", exec_client::initialize_params("gatehouse", session_),
        [this](const answer& said) { greeted(said); });
  }

  void greeted(const answer& said) {
    if (said.failed) {
      // The server has not noticed yet that the old connection is gone.
      if (said.failed->code == exec_server::code::session_attached) return come_back();
      const bool expired = !session_.empty();
      session_.clear();
      return fail_all((expired ? "the session there is over: " : "it refused us: ") +
                      said.failed->message);
    }
    auto session = exec_client::decode_session(said.result);
    if (!session) return fail_all(to_string(session.error()));
    session_ = *std::move(session);
    client_->send(exec_client::encode_notification("initialized"));
    ready_ = true;
    lost_at_.reset();
    for (const auto& [id, one] : std::map{processes_}) {
      one->reading = one->write_under_way = false;
      if (one->started)
        catch_up(one);
      else
        send_start(one);
    }
  }

  /// Once more after a cut; the id makes it one process.
  void send_start(const process_ptr& one) {
    const bool repeated = std::exchange(one->start_sent, true);
    ask("process/start", one->start_params, [this, one, repeated](const answer& said) {
      if (said.failed && !(repeated && said.failed->code == exec_server::code::invalid_request))
        return finish(one, not_started(terms_.name, *said.failed));
      one->started = true;
      tell(one->listener.on_started);
      if (said.failed)
        catch_up(one); // it had been started before the cut
      else
        go_on(one);
    });
  }

  void catch_up(const process_ptr& one) {
    read(one);
    go_on(one);
  }

  void go_on(const process_ptr& one) {
    write_next(one);
    if (one->interrupt_wanted) interrupt(one);
    if (one->end_wanted) end(one);
  }

  void read(const process_ptr& one) {
    if (one->reading || !ready_) return;
    one->reading = true;
    ask("process/read", exec_client::read_params(one->id, one->stream.last()),
        [this, one](const answer& said) {
          one->reading = false;
          if (said.failed)
            return finish(one, broken(one, terms_.name + " no longer knows the command: " +
                                               said.failed->message));
          auto kept = exec_client::decode_read(one->id, said.result);
          if (!kept) return finish(one, broken(one, to_string(kept.error())));
          auto events = one->stream.take(*std::move(kept));
          if (const auto lost = one->stream.take_lost(); lost > 0) {
            const auto note = "[gatehouse: " + std::to_string(lost) +
                              " bytes of output were lost while the connection was cut]\n";
            say(one, reactor::output_stream::standard_error, note);
          }
          deliver(one, std::move(events));
        });
  }

  void heard(std::string_view text) {
    auto read = exec_client::decode_message(text);
    if (!read) return fail_all("it said what cannot be understood: " + read.error().message);
    if (auto* one = std::get_if<event>(&*read)) {
      const auto found = processes_.find(one->process_id);
      if (found == processes_.end()) return;
      const auto of = found->second;
      deliver(of, of->stream.take(std::move(*one)));
    } else if (const auto* said = std::get_if<answer>(&*read)) {
      const auto node = waiting_.extract(said->id);
      if (!node.empty()) node.mapped()(*said);
    }
  }

  void deliver(const process_ptr& one, std::vector<event> events) {
    for (auto& each : events) {
      if (const auto* said = std::get_if<event::output>(&each.what)) {
        say(one,
            said->stream == "stderr" ? reactor::output_stream::standard_error
                                     : reactor::output_stream::standard_output,
            said->bytes);
      } else if (const auto* exited = std::get_if<event::exited>(&each.what)) {
        command_end end;
        end.started = true;
        end.ending = attempt_ending::exited;
        end.exit_code = exited->exit_code;
        end.denied_elsewhere = exited->sandbox_denied;
        one->told_end = true;
        drain(one);
        tell(one->listener.on_exit, end);
      } else {
        close(one);
      }
    }
    if (one->stream.wants_read() && !one->stream.closed()) read(one);
  }

  /// What it has said may still wait behind a reader who is slow.
  void drain(const process_ptr& one) {
    one->drain.start(terms_.drain, [weak = weak_from_this(), of = std::weak_ptr{one}] {
      const auto self = weak.lock();
      const auto what = of.lock();
      if (!self || !what) return;
      if (self->held_)
        self->drain(what);
      else
        self->close(what);
    });
  }

  /// Nothing more of it is of interest: the server may forget it, and end what it left behind.
  void close(const process_ptr& one) {
    const auto last = std::exchange(one->listener, {}).on_end;
    one->given_up.cancel();
    one->drain.cancel();
    end(one);
    tell(last);
  }

  /// The end of a command whose real end will not be known.
  [[nodiscard]] static command_end broken(const process_ptr& one, std::string why) {
    command_end end;
    end.started = one->start_sent;
    if (one->start_sent) end.ending = attempt_ending::lost;
    end.failure =
        error{errc::io, std::move(why),
              one->start_sent ? "The command may still run there; its server ends it by itself."
                              : "Nothing was run."};
    return end;
  }

  void finish(const process_ptr& one, const command_end& end) {
    processes_.erase(one->id);
    release(one);
    one->given_up.cancel();
    one->drain.cancel();
    const auto listener = std::exchange(one->listener, {});
    if (!std::exchange(one->told_end, true)) tell(listener.on_exit, end);
    tell(listener.on_end);
  }

  void lost(const reactor::websocket_end& end) {
    const bool before = ready_;
    ready_ = false;
    waiting_.clear();
    client_.reset();
    const auto why = end.reason.empty() ? std::string{"the connection ended"} : end.reason;
    if (session_.empty()) // it never stood
      return fail_all(end.http_status == 401 ? "it wants another token" : why);
    if (end.not_read) return fail_all("nobody takes the output of its commands");
    if (before) lost_at_ = loop_.now();
    if (lost_at_ && loop_.now() - *lost_at_ > terms_.recovery)
      return fail_all("the connection did not come back: " + why);
    if (processes_.empty()) {
      session_.clear(); // with the next command a new one begins
      return;
    }
    come_back();
  }

  void come_back() {
    ready_ = false;
    waiting_.clear();
    client_.reset();
    retry_.start(terms_.retry, [this] { connect(); });
  }

  void fail_all(const std::string& why) {
    ready_ = false;
    session_.clear();
    waiting_.clear();
    client_.reset();
    lost_at_.reset();
    for (const auto& [id, one] : std::exchange(processes_, {}))
      finish(one, broken(one, terms_.name + ": " + why));
  }

  reactor::event_loop& loop_;
  remote_terms terms_;
  reactor::timer retry_;
  std::unique_ptr<reactor::websocket_client> client_;
  std::string session_; ///< empty: none
  bool ready_ = false;
  bool held_ = false;         ///< reading pauses
  std::size_t ungranted_ = 0; ///< of all processes
  std::optional<reactor::clock::time_point> lost_at_;
  std::uint64_t last_request_ = 0;
  std::map<std::uint64_t, handler> waiting_;
  std::map<std::string, process_ptr> processes_;
};

/// A command of ours over there; its end ends the command.
class remote_environment::handle : public command_process {
public:
  handle(std::shared_ptr<connection> over, connection::process_ptr what, bool takes_input)
      : over_{std::move(over)}, what_{std::move(what)}, takes_input_{takes_input} {}
  ~handle() override { over_->forget(what_); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;

  void grant(reactor::output_stream stream) override { over_->grant(what_, stream); }
  result<void> write_stdin(std::string bytes) override {
    if (!takes_input_ || what_->told_end)
      return error{errc::invalid_request, "standard input is closed", {}};
    if (what_->pending + bytes.size() > most_pending_input)
      return error{errc::too_large, "the command does not read its standard input", {}};
    what_->pending += bytes.size();
    what_->writes.emplace_back(random_id(), std::move(bytes));
    over_->write_next(what_);
    return {};
  }
  [[nodiscard]] std::size_t pending_input() const noexcept override { return what_->pending; }
  void signal(int number) override {
    if (number == SIGINT)
      over_->interrupt(what_);
    else if (number == SIGTERM || number == SIGHUP || number == SIGQUIT)
      over_->end(what_);
    else if (number == SIGKILL)
      over_->kill(what_);
  }
  void kill() override { over_->kill(what_); }
  void resize(reactor::window_size) override {}
  [[nodiscard]] bool stopped() const noexcept override { return false; }

private:
  std::shared_ptr<connection> over_;
  connection::process_ptr what_;
  bool takes_input_;
};

remote_environment::remote_environment(reactor::event_loop& loop, remote_terms terms)
    : loop_{loop}, connection_{std::make_shared<connection>(loop, std::move(terms))} {}
remote_environment::~remote_environment() = default;

std::unique_ptr<command_process> remote_environment::start(const command_request& request,
                                                           command_listener listener) {
  auto what = std::make_shared<connection::process>(loop_);
  what->id = random_id();
  what->start_params = exec_client::start_params(start_of(what->id, request, connection_->paths()));
  what->listener = std::move(listener);
  connection_->add(what);
  return std::make_unique<handle>(connection_, what, request.tty || request.pipe_input);
}

} // namespace gatehouse::actors
