#include "actors/endpoint/app_session.hpp"

#include "protocol/profile_json.hpp"
#include "protocol/rpc/app_events.hpp"
#include "protocol/shell_quote.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;
using namespace thread_messages;

/// One thread that the session listens to.
class app_session::subscription : public thread_subscriber {
public:
  subscription(std::weak_ptr<app_session> session, std::shared_ptr<thread_entry> thread,
               std::uint64_t sent)
      : entry{std::move(thread)}, sent_seq{sent}, session_{std::move(session)} {}

  void on_event(const thread_event_ptr& event) override {
    if (const auto session = session_.lock()) session->hear(*this, event);
  }

  std::shared_ptr<thread_entry> entry;
  std::uint64_t sent_seq;        ///< the newest event that the client was sent
  std::set<std::string> offered; ///< questions that this connection was sent
  std::optional<app::thread_status> told;
  bool behind = false; ///< the client reads slowly or is gone; catch_up sends what it missed

private:
  std::weak_ptr<app_session> session_;
};

/// A call by its id: asked again, it is the same call.
struct app_session::known_call {
  std::string asked; ///< the parameters as JSON
  std::optional<std::string> result;
  std::vector<reply> waiting;
};

namespace {

constexpr int try_again_later = 1013;

app::thread_status status_of(const thread_watch& watch) {
  app::thread_status status;
  if (watch.active()) status.type = app::thread_state::active;
  if (watch.waits_for_approval())
    status.active_flags.push_back(app::active_flag::waiting_on_approval);
  return status;
}

bool same(const app::thread_status& a, const app::thread_status& b) {
  return a.type == b.type && a.active_flags == b.active_flags;
}

app::thread_info info_of(const thread_entry& entry) {
  app::thread_info info;
  info.id = entry.handle.id();
  info.status = status_of(*entry.watch);
  info.cwd = entry.opening.terms.session.cwd;
  info.runtime_workspace_roots = entry.opening.roots;
  info.approval_policy = {entry.opening.approval_policy};
  info.sandbox = entry.opening.profile;
  info.open_turn_id = entry.watch->open_turn();
  info.last_seq = static_cast<std::int64_t>(entry.watch->last_seq());
  return info;
}

/// A wish that is a name or a JSON object, as text.
std::string name_or_json(const json_tree& tree) {
  if (const auto* name = std::get_if<std::string>(&tree.value)) return *name;
  return rpc::to_json(tree);
}

rpc::failure refused(std::string message, std::string kind,
                     rpc::code code = rpc::code::invalid_request) {
  return {code, std::move(message), std::move(kind), {}};
}

rpc::failure no_thread(const std::string& id) {
  return refused("there is no thread `" + id + "`; thread/start opens one", "unknownThread");
}

rpc::failure failure_of(const error& e) {
  return {e.code == errc::invalid_request || e.code == errc::invalid_profile
              ? rpc::code::invalid_params
              : rpc::code::internal,
          to_string(e),
          std::string{to_string(e.code)},
          {}};
}

} // namespace

app_session::app_session(std::string id, authority who, endpoint_services& services)
    : id_{std::move(id)}, who_{who}, services_{services} {}

app_session::~app_session() = default;

void app_session::attach(std::shared_ptr<client_port> port, bool version) {
  port_ = std::move(port);
  version_ = version;
  ++connection_;
}

void app_session::detach() {
  port_ = nullptr;
  for (auto& [id, s] : subscriptions_) {
    s->behind = true;
    s->told.reset();
    s->offered.clear();
    // A reviewer that is not there cannot answer; the thread must know.
    s->entry->handle.send(unsubscribe{s});
  }
}

void app_session::catch_up() {
  for (auto& [id, s] : subscriptions_) {
    if (!s->behind) continue;
    // A new subscriber: events that are still on their way to the old one come again in order.
    s = std::make_shared<subscription>(weak_from_this(), s->entry, s->sent_seq);
    s->entry->handle.send(thread_messages::subscribe{s, who_ == authority::reviewer, s->sent_seq});
    tell_status(*s);
  }
}

void app_session::end() {
  port_ = nullptr;
  for (const auto& [id, s] : std::exchange(subscriptions_, {}))
    s->entry->handle.send(unsubscribe{s});
  for (const auto& entry : services_.threads.list())
    if (entry->owner == id_) services_.threads.close(entry->handle.id());
}

void app_session::want_approvals() {
  all_approvals_ = true;
  for (const auto& entry : services_.threads.list())
    subscribe(entry, std::nullopt);
}

void app_session::thread_started(const std::shared_ptr<thread_entry>& entry) {
  if (all_approvals_ || entry->owner == id_) subscribe(entry, 0);
}

void app_session::subscribe(const std::shared_ptr<thread_entry>& entry,
                            std::optional<std::uint64_t> after) {
  const auto& thread = entry->handle.id();
  if (const auto old = subscriptions_.find(thread); old != subscriptions_.end()) {
    old->second->entry->handle.send(unsubscribe{old->second});
    subscriptions_.erase(old);
  }
  const auto s = std::make_shared<subscription>(weak_from_this(), entry,
                                                after.value_or(entry->watch->last_seq()));
  subscriptions_.emplace(thread, s);
  if (!attached()) {
    s->behind = true;
    return;
  }
  entry->handle.send(thread_messages::subscribe{s, who_ == authority::reviewer, after});
}

void app_session::hear(subscription& from, const thread_event_ptr& event) {
  const auto current = subscriptions_.find(from.entry->handle.id());
  if (from.behind || current == subscriptions_.end() || current->second.get() != &from) return;
  const auto* asked = std::get_if<thread_events::review_asked>(&event->what);
  // What is offered again has its old number; everything else comes once.
  if (!asked && event->seq <= from.sent_seq) return;
  from.sent_seq = std::max(from.sent_seq, event->seq);
  const auto message = app::message_of(from.entry->handle.id(), *event);
  if (message) {
    if (message->request_id.empty())
      send(
          rpc::write_notification(message->method, message->params, version_, services_.unix_ms()));
    else if (who_ == authority::reviewer && from.offered.insert(message->request_id).second)
      send(rpc::write_request(message->request_id, message->method, message->params, version_));
  }
  tell_status(from);
  if (port_ && port_->queued_bytes() > services_.limits.queued_bytes) {
    // The events stay in the thread's log; the client gets them when it has read these.
    from.behind = true;
    from.entry->handle.send(unsubscribe{current->second});
  }
}

void app_session::tell_status(subscription& to) {
  const auto status = status_of(*to.entry->watch);
  if (to.told && same(*to.told, status)) return;
  to.told = status;
  send(rpc::write_notification(app::notifications::thread_status_changed::name,
                               rpc::to_json(app::status_changed{to.entry->handle.id(), status}),
                               version_, services_.unix_ms()));
}

void app_session::drained() {
  catch_up();
}

std::shared_ptr<thread_entry> app_session::visible(const std::string& thread_id) const {
  return services_.threads.find(thread_id);
}

void app_session::send(std::string text) {
  if (!port_) return;
  port_->send(std::move(text));
  // Events wait in their thread's log for a slow reader; what still grows are answers.
  if (port_->queued_bytes() > 4 * services_.limits.queued_bytes)
    port_->close(try_again_later, "the client does not read its answers");
}

void app_session::answer(const rpc::request_id& id, std::variant<std::string, rpc::failure> what) {
  if (const auto* result = std::get_if<std::string>(&what))
    send(rpc::write_result(id, *result, version_));
  else
    send(rpc::write_failure(id, std::get<rpc::failure>(what), version_));
}

void app_session::call(const std::shared_ptr<thread_entry>& entry, app::tool_call_params params,
                       reply done) {
  const auto key = entry->handle.id() + '\n' + params.call_id;
  auto asked = rpc::to_json(params);
  if (const auto known = calls_.find(key); known != calls_.end()) {
    auto& call = *known->second;
    if (call.asked != asked)
      done(refused("the call id `" + params.call_id + "` belongs to another call", "callIdReused"));
    else if (call.result)
      done(*call.result);
    else
      call.waiting.push_back(std::move(done));
    return;
  }
  if (in_flight_ >= services_.limits.in_flight) {
    auto full =
        refused("too many calls are under way in this session; try again when one has ended",
                "overloaded", rpc::code::overloaded);
    full.data = R"("retryAfterMs":100,"inFlight":)" + std::to_string(in_flight_) + R"(,"limit":)" +
                std::to_string(services_.limits.in_flight);
    done(std::move(full));
    return;
  }
  auto arguments = decode_tool_arguments(params.tool, rpc::to_json(params.arguments));
  if (!arguments) {
    done(failure_of(arguments.error()));
    return;
  }
  const auto call = std::make_shared<known_call>();
  call->asked = std::move(asked);
  call->waiting.push_back(std::move(done));
  calls_.emplace(key, call);
  ++in_flight_;
  tool_request wish;
  wish.call_id = params.call_id;
  wish.turn_id = params.turn_id.value_or("");
  wish.arguments = *std::move(arguments);
  entry->handle.send(begin_call{
      std::move(wish), [weak = weak_from_this(), call, key](const result<call_report_ptr>& report) {
        const auto waiting = std::exchange(call->waiting, {});
        std::variant<std::string, rpc::failure> told;
        if (report)
          told = rpc::to_json(app::result_of(**report));
        else
          told = failure_of(report.error());
        if (const auto session = weak.lock()) {
          --session->in_flight_;
          if (report) {
            call->result = std::get<std::string>(told);
            session->finished_.push_back(key);
            if (session->finished_.size() > session->services_.limits.remembered_calls) {
              session->calls_.erase(session->finished_.front());
              session->finished_.erase(session->finished_.begin());
            }
          } else {
            session->calls_.erase(key); // there was no such call
          }
        }
        for (const auto& one : waiting)
          one(told);
      }});
}

void app_session::answer_question(const std::shared_ptr<thread_entry>& entry, answer_review message,
                                  reply done) {
  message.done = [done = std::move(done)](const result<void>& taken) {
    if (taken)
      done(std::string{"{}"});
    else
      done(refused(to_string(taken.error()), "notTaken"));
  };
  entry->handle.send(std::move(message));
}

void app_session::response(const rpc::message& message) {
  if (who_ != authority::reviewer) return; // nothing is ever asked of an agent
  const auto* id = std::get_if<std::string>(&message.id());
  if (!id) return;
  for (const auto& [thread, s] : subscriptions_) {
    if (!s->offered.contains(*id)) continue;
    const auto* question = s->entry->watch->find_question(*id);
    if (!question) return; // answered or withdrawn: late answers are ignored
    answer_review said;
    said.review_id = *id;
    said.digest = question->what.digest; // what this connection was shown under this id
    if (const auto place = message.result_value())
      if (auto read = rpc::codec<app::approval_answer>::decode(*place)) {
        said.decision =
            app::decision_from(read->decision, question->what).value_or(review_decision::denied);
        said.reason = read->reason.value_or("");
      }
    answer_question(s->entry, std::move(said), [](const auto&) {});
    return;
  }
}

/// One overload for each method.
struct app_session::handler {
  app_session& session;
  reply done;

  template <class T>
  void ok(const T& result) const {
    done(rpc::to_json(result));
  }
  std::shared_ptr<thread_entry> need(const std::string& id) const {
    auto entry = session.visible(id);
    if (!entry) done(no_thread(id));
    return entry;
  }

  void operator()(app::methods::initialize, const app::initialize_params&) const {
    done(refused("already initialized", "alreadyInitialized"));
  }
  void operator()(app::methods::thread_start, const app::thread_start_params& p) const {
    thread_wishes wishes;
    wishes.from = session.who_;
    wishes.cwd = p.cwd;
    wishes.roots = p.runtime_workspace_roots;
    if (p.approval_policy) wishes.approval_policy = name_or_json(*p.approval_policy);
    if (p.sandbox && p.permissions) {
      done(refused("`sandbox` and `permissions` exclude each other", "invalidParams",
                   rpc::code::invalid_params));
      return;
    }
    if (p.sandbox) wishes.profile = *p.sandbox;
    if (p.permissions) wishes.profile = name_or_json(*p.permissions);
    const auto entry = session.services_.threads.start(wishes, session.id_);
    if (!entry) {
      done(failure_of(entry.error()));
      return;
    }
    ok(app::thread_result{info_of(**entry)});
  }
  void operator()(app::methods::thread_resume, const app::thread_resume_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    std::optional<std::uint64_t> after;
    if (p.after_seq) {
      if (*p.after_seq < 0) {
        done(refused("`afterSeq` is 0 or more", "invalidParams", rpc::code::invalid_params));
        return;
      }
      after = static_cast<std::uint64_t>(*p.after_seq);
    }
    ok(app::thread_result{info_of(*entry)});
    session.subscribe(entry, after);
  }
  void operator()(app::methods::thread_unsubscribe, const app::thread_params& p) const {
    const auto found = session.subscriptions_.find(p.thread_id);
    if (found != session.subscriptions_.end()) {
      found->second->entry->handle.send(unsubscribe{found->second});
      session.subscriptions_.erase(found);
    }
    ok(app::nothing{});
  }
  void operator()(app::methods::thread_read, const app::thread_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    entry->handle.send(read_status{[done = done, entry](const thread_messages::thread_status& s) {
      app::thread_read_result told;
      told.thread = info_of(*entry);
      told.running = s.running;
      for (const auto& g : s.grants)
        told.grants.push_back({static_cast<std::int64_t>(g.id),
                               g.scope == grant_scope::turn ? "turn" : "session",
                               g.turn_id,
                               {encode_additional_permissions(g.permissions)}});
      for (const auto& a : s.approvals)
        told.approvals.push_back({static_cast<std::int64_t>(a.id), a.shown});
      done(rpc::to_json(told));
    }});
  }
  void operator()(app::methods::thread_list, const app::nothing&) const {
    app::thread_list_result told;
    for (const auto& entry : session.services_.threads.list())
      if (session.who_ == authority::reviewer || entry->owner == session.id_)
        told.data.push_back(info_of(*entry));
    ok(told);
  }
  void operator()(app::methods::thread_close, const app::thread_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    session.services_.threads.close(p.thread_id);
    ok(app::nothing{});
  }
  void operator()(app::methods::turn_start, const app::turn_start_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    if (p.input) entry->handle.send(add_transcript{true, *p.input});
    entry->handle.send(
        start_turn{p.turn_id.value_or(""), [done = done](const result<std::string>& id) {
                     if (id)
                       done(rpc::to_json(app::turn_result{{*id, app::turn_state::in_progress}}));
                     else
                       done(failure_of(id.error()));
                   }});
  }
  void end_turn_of(const app::turn_params& p, thread_events::turn_ending how,
                   std::string reason) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    entry->handle.send(end_turn{p.turn_id.value_or(""), how, std::move(reason)});
    ok(app::nothing{});
  }
  void operator()(app::methods::turn_complete, const app::turn_params& p) const {
    end_turn_of(p, thread_events::turn_ending::completed, {});
  }
  void operator()(app::methods::turn_interrupt, const app::turn_params& p) const {
    end_turn_of(p, thread_events::turn_ending::interrupted, "a client interrupted the turn");
  }
  void operator()(app::methods::tool_call, app::tool_call_params p) const {
    const auto entry = need(p.thread_id);
    if (entry) session.call(entry, std::move(p), done);
  }
  void operator()(app::methods::tool_cancel, const app::tool_cancel_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    entry->handle.send(cancel_call{p.call_id});
    ok(app::nothing{});
  }
  void operator()(app::methods::terminals_list, const app::thread_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    entry->handle.send(list_terminals{[done = done](const std::vector<process_info>& all) {
      app::terminal_list_result told;
      for (const auto& one : all)
        told.data.push_back({one.session_id, one.call_id, shell_join(one.argv), one.cwd, one.tty,
                             one.background, one.running, one.sandboxed, one.age.count()});
      done(rpc::to_json(told));
    }});
  }
  void operator()(app::methods::terminals_read, const app::terminal_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    entry->handle.send(read_terminal{
        static_cast<int>(p.session_id), [done = done, p](const process_transcript& said) {
          if (!said.known)
            return done(refused("there is no terminal session " + std::to_string(p.session_id),
                                "unknownSession"));
          done(rpc::to_json(
              app::terminal_read_result{said.text, static_cast<std::int64_t>(said.total_bytes)}));
        }});
  }
  [[nodiscard]] auto tell_found() const {
    return [done = done](bool found) { done(rpc::to_json(app::terminal_found_result{found})); };
  }
  [[nodiscard]] bool in_range(std::int64_t value, std::int64_t most, std::string_view name) const {
    if (value >= 1 && value <= most) return true;
    done(refused("`" + std::string{name} + "` is 1 to " + std::to_string(most), "invalidParams",
                 rpc::code::invalid_params));
    return false;
  }
  void operator()(app::methods::terminals_signal, const app::terminal_signal_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry || !in_range(p.signal, 64, "signal")) return;
    entry->handle.send(
        signal_terminal{static_cast<int>(p.session_id), static_cast<int>(p.signal), tell_found()});
  }
  void operator()(app::methods::terminals_resize, const app::terminal_resize_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry || !in_range(p.rows, 1000, "rows") || !in_range(p.columns, 1000, "columns")) return;
    entry->handle.send(resize_terminal{static_cast<int>(p.session_id), static_cast<int>(p.rows),
                                       static_cast<int>(p.columns), tell_found()});
  }
  void operator()(app::methods::terminals_terminate, const app::terminal_params& p) const {
    const auto entry = need(p.thread_id);
    if (entry) entry->handle.send(end_terminal{static_cast<int>(p.session_id), tell_found()});
  }
  void operator()(app::methods::terminals_clean, const app::thread_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    entry->handle.send(clean_terminals{
        [done = done](int ended) { done(rpc::to_json(app::terminal_clean_result{ended})); }});
  }
  void operator()(app::methods::policy_explain, const app::explain_params& p) const {
    if (p.tool && *p.tool != "shell_command") {
      done(refused("only shell_command can be explained", "invalidParams",
                   rpc::code::invalid_params));
      return;
    }
    std::string cwd;
    if (p.thread_id) {
      const auto entry = need(*p.thread_id);
      if (!entry) return;
      cwd = entry->opening.terms.session.cwd;
    }
    auto told = session.services_.explain(cwd, p.arguments);
    if (told)
      done(*std::move(told));
    else
      done(failure_of(told.error()));
  }
  void operator()(app::methods::approval_list, const app::approval_list_params& p) const {
    app::approval_list_result told;
    for (const auto& entry : session.services_.threads.list())
      if (!p.thread_id || *p.thread_id == entry->handle.id())
        for (const auto& q : entry->watch->questions())
          told.data.push_back(app::approval_of(entry->handle.id(), q.turn_id, q.what));
    ok(told);
  }
  void operator()(app::methods::approval_resolve, const app::approval_resolve_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    const auto* question = entry->watch->find_question(p.request_id);
    if (!question) {
      done(refused("no question stands under the id `" + p.request_id +
                       "`; it was answered or withdrawn",
                   "notTaken"));
      return;
    }
    const auto decision = app::decision_from(p.decision, question->what);
    if (!decision) {
      done(refused("this decision was not on offer; see availableDecisions", "invalidParams",
                   rpc::code::invalid_params));
      return;
    }
    session.answer_question(
        entry, {p.request_id, p.action_digest, *decision, p.reason.value_or(""), {}}, done);
  }
  void operator()(app::methods::grant_revoke, const app::revoke_params& p) const {
    const auto entry = need(p.thread_id);
    if (!entry) return;
    entry->handle.send(
        revoke{p.kind == app::grant_kind::grant ? revoke::kind::grant : revoke::kind::approval,
               static_cast<std::uint64_t>(p.id),
               [done = done](bool found) { done(rpc::to_json(app::revoke_result{found})); }});
  }
  void operator()(app::methods::profile_list, const app::nothing&) const {
    ok(app::profile_list_result{session.services_.profiles});
  }
};

void app_session::request(const rpc::message& message) {
  const auto id = message.id();
  const handler handle{*this, [weak = weak_from_this(), id, asked_on = connection_](auto what) {
                         // Ids mean something on their own connection only.
                         const auto session = weak.lock();
                         if (session && session->connection_ == asked_on)
                           session->answer(id, std::move(what));
                       }};
  const auto guarded = [&](auto method, auto&& params) {
    using M = decltype(method);
    const bool allowed = M::who == app::caller::anyone ||
                         (M::who == app::caller::agent) == (who_ == authority::agent);
    if (!allowed) {
      handle.done(refused(std::string{M::name} + " needs the credential of " +
                              (who_ == authority::agent ? "a reviewer" : "an agent") +
                              "; this connection has the other one",
                          "authority"));
      return;
    }
    handle(method, std::forward<decltype(params)>(params));
  };
  if (!app::dispatch(message, guarded, handle.done))
    answer(id, refused("unknown method `" + message.method() + "`", "methodNotFound",
                       rpc::code::method_not_found));
}

} // namespace gatehouse::actors
