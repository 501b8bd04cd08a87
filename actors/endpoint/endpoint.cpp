#include "actors/endpoint/endpoint.hpp"

#include "actors/endpoint/client_wishes.hpp"
#include "actors/endpoint/file_calls.hpp"
#include "actors/endpoint/refusals.hpp"
#include "actors/random_id.hpp"
#include "reactor/clock.hpp"
#include "reactor/heap_memory.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;

namespace {

constexpr int going_away = 1001;
constexpr int policy_violation = 1008;
constexpr std::chrono::seconds trim_after{2};

} // namespace

/// One connection: it reads messages and hands them to its session.
class endpoint::link : public client_link {
public:
  link(endpoint& owner, authority who, std::shared_ptr<client_port> port)
      : owner_{owner}, who_{who}, port_{std::move(port)} {}
  ~link() override { link::lost(); }

  void received(std::string_view text) override {
    if (!port_) return;
    auto read = rpc::read_message(text, owner_.services_.limits.frame_bytes);
    if (const auto* bad = std::get_if<rpc::unreadable>(&read)) {
      if (session_)
        session_->refuse(bad->id, bad->why);
      else if (port_->queued_bytes() > owner_.services_.limits.queued_bytes)
        port_->close(policy_violation, "the first request is initialize");
      else
        port_->send(rpc::write_failure(bad->id, bad->why, version_));
      return;
    }
    const auto& message = std::get<rpc::message>(read);
    if (!session_) {
      first(message);
      return;
    }
    switch (message.what()) {
    case rpc::message::kind::request: session_->request(message); break;
    case rpc::message::kind::response: session_->response(message); break;
    case rpc::message::kind::notification: break; // `initialized`; others change nothing
    }
  }
  void drained() override {
    if (session_) session_->drained();
  }
  void input_over(const std::function<void()>& then) override {
    if (!session_) return then();
    session_->when_idle(then);
  }
  void lost() override {
    port_ = nullptr;
    if (!session_) return;
    const auto session = std::exchange(session_, nullptr);
    session->detach();
    owner_.lost(session->id());
  }

  void hang_up() {
    if (port_) port_->close(going_away, "the server is ending");
  }

  /// Another connection takes the session over.
  void evict() {
    session_ = nullptr;
    if (port_) port_->close(policy_violation, "another connection resumed this session");
    port_ = nullptr;
  }

private:
  void first(const rpc::message& message) {
    version_ = message.has_version();
    const auto fail = [&](const rpc::failure& why) {
      if (message.what() == rpc::message::kind::request)
        port_->send(rpc::write_failure(message.id(), why, version_));
    };
    if (message.what() != rpc::message::kind::request ||
        message.method() != app::methods::initialize::name) {
      fail(refused("the first request is initialize", "notInitialized"));
      return;
    }
    auto params = rpc::codec<app::initialize_params>::decode(message.params());
    if (!params) {
      fail(rpc::invalid_params(params.error()));
      return;
    }
    const auto manner = manner_of(*params, who_, owner_.services_.limits.in_flight);
    if (manner.refusal) {
      fail(*manner.refusal);
      return;
    }
    if (owner_.ending_) {
      fail(refused("this server is ending", "ending"));
      return;
    }
    const bool resumed = params->resume_session_id.has_value();
    if (resumed && !resume(*params, fail)) return;
    if (!resumed) {
      session_ =
          std::make_shared<app_session>(owner_.instance_ + random_id(), who_, owner_.services_);
      owner_.sessions_[session_->id()].session = session_;
    }
    owner_.sessions_[session_->id()].at = this;
    session_->attach(port_, version_, manner.granted);
    port_->send(
        rpc::write_result(message.id(), rpc::to_json(facts(resumed, manner.granted)), version_));
    if (resumed) session_->catch_up();
    if (manner.granted.asked_about_all) session_->want_approvals();
  }

  template <class Fail>
  bool resume(const app::initialize_params& params, const Fail& fail) {
    const auto found = owner_.sessions_.find(*params.resume_session_id);
    // A session belongs to the credential that made it.
    if (found == owner_.sessions_.end() || found->second.session->who() != who_) {
      fail(owner_.unknown_session(*params.resume_session_id));
      return false;
    }
    auto& known = found->second;
    if (known.at) {
      if (!params.takeover.value_or(false)) {
        fail(refused("the session has a live connection; takeover:true ends that one", "attached",
                     rpc::code::attached));
        return false;
      }
      known.session->detach();
      std::exchange(known.at, nullptr)->evict();
    }
    known.expiry.reset();
    session_ = known.session;
    return true;
  }

  [[nodiscard]] app::initialize_result facts(bool resumed, const client_manner& manner) const {
    const auto& limits = owner_.services_.limits;
    app::initialize_result told;
    told.user_agent = "gatehouse/" + owner_.services_.version;
    told.platform_family = "unix";
    told.platform_os = "linux";
    told.session_id = session_->id();
    told.resumed = resumed;
    told.gatehouse.version = owner_.services_.version;
    told.gatehouse.authority = who_ == authority::agent ? "agent" : "reviewer";
    told.gatehouse.tools = {"shell_command", "exec_command", "write_stdin", "apply_patch",
                            "request_permissions"};
    told.gatehouse.sandboxes = owner_.services_.sandboxes;
    told.gatehouse.limits = {
        static_cast<std::int64_t>(limits.frame_bytes), static_cast<std::int64_t>(manner.in_flight),
        static_cast<std::int64_t>(limits.retained_bytes), limits.session_grace.count()};
    return told;
  }

  endpoint& owner_;
  authority who_;
  std::shared_ptr<client_port> port_;
  std::shared_ptr<app_session> session_; ///< unset before initialize
  bool version_ = false;
};

endpoint::endpoint(thread_host& host, endpoint_terms terms)
    : host_{host}, instance_{"session-" + random_id().substr(0, 8) + "-"},
      threads_{host, std::move(terms.open_thread), terms.limits},
      services_{threads_,
                terms.limits,
                std::move(terms.version),
                std::move(terms.explain),
                std::move(terms.profiles),
                std::move(terms.sandboxes),
                reactor::unix_ms_now,
                host.loop(),
                std::make_shared<file_calls>(host, std::move(terms.file_program))},
      trim_{host.loop()} {
  threads_.on_started([this](const std::shared_ptr<thread_entry>& entry) {
    entry->watch->on_turn_end([files = std::weak_ptr{services_.files}, id = entry->handle.id()](
                                  const std::string& turn, thread_events::turn_ending how) {
      if (const auto all = files.lock()) all->end_turn(id, turn, how);
    });
    for (const auto& [id, one] : sessions_)
      one.session->thread_started(entry);
  });
  threads_.on_closed([this](const std::shared_ptr<thread_entry>& entry) {
    services_.files->end_thread(entry->handle.id());
    for (const auto& [id, one] : sessions_) {
      one.session->feed().closed(*entry);
      one.session->commands().closed(*entry);
    }
    if (ending_ && threads_.is_empty()) hang_up();
    trim_soon();
  });
}

endpoint::~endpoint() = default;

std::unique_ptr<client_link> endpoint::connected(authority who, std::shared_ptr<client_port> port) {
  return std::make_unique<link>(*this, who, std::move(port));
}

void endpoint::shut_down() {
  ending_ = true;
  threads_.close_all();
  if (threads_.is_empty()) hang_up();
}

void endpoint::hang_up() {
  for (const auto& [id, one] : sessions_)
    if (one.at) one.at->hang_up();
}

void endpoint::trim_soon() {
  if (!trim_.pending()) trim_.start(trim_after, reactor::give_back_memory);
}

bool endpoint::is_over() const {
  return ending_ && threads_.is_empty() &&
         std::ranges::none_of(sessions_, [](const auto& known) { return known.second.at; });
}

rpc::failure endpoint::unknown_session(const std::string& id) const {
  if (sessions_.contains(id)) {
    auto why = refused("this session belongs to the other credential; it and its threads stand. "
                       "Come back with that one, or initialize without resumeSessionId",
                       "unknownSession");
    why.data = R"("reason":"credential")";
    return why;
  }
  const bool ours = id.starts_with(instance_);
  auto why = refused(
      ours ? "there is no such session of this credential any more; with a session that had no "
             "connection for too long, the threads that it started ended. initialize without "
             "resumeSessionId"
           : "this daemon gave out no such session. If one before it did, its threads, calls and "
             "questions are gone, and what was granted or approved for a turn or a session; rules "
             "that were kept are in force. initialize without resumeSessionId",
      "unknownSession");
  why.data = ours ? R"("reason":"ended")" : R"("reason":"unknown")";
  return why;
}

void endpoint::lost(const std::string& session_id) {
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) return;
  found->second.at = nullptr;
  found->second.expiry = std::make_unique<reactor::timer>(host_.loop());
  found->second.expiry->start(services_.limits.session_grace, [this, session_id] {
    const auto gone = sessions_.extract(session_id);
    if (!gone.empty()) gone.mapped().session->end();
    trim_soon();
  });
}

} // namespace gatehouse::actors
