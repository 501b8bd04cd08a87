#include "actors/endpoint/event_feed.hpp"

#include "actors/endpoint/thread_facts.hpp"
#include "protocol/rpc/app_events.hpp"

#include <algorithm>
#include <set>

namespace gatehouse::actors {

namespace app = rpc::app;
namespace say = thread_messages;

/// One thread that the session listens to.
class event_feed::subscription : public thread_subscriber {
public:
  subscription(std::weak_ptr<event_feed> feed, std::shared_ptr<thread_entry> thread,
               std::uint64_t sent)
      : entry{std::move(thread)}, sent_seq{sent}, feed_{std::move(feed)} {}

  void on_event(const thread_event_ptr& event) override {
    if (const auto feed = feed_.lock()) feed->hear(*this, event);
  }

  std::shared_ptr<thread_entry> entry;
  std::uint64_t sent_seq;        ///< the newest event that the client was sent
  std::set<std::string> offered; ///< questions that this connection was sent
  std::optional<app::thread_status> told;
  /// The client reads slowly or is gone; catch_up sends what it missed. Who only reads slowly stays
  /// subscribed: that person can still be asked, and is.
  bool behind = false;

private:
  std::weak_ptr<event_feed> feed_;
};

void event_feed::follow(const std::shared_ptr<thread_entry>& entry,
                        std::optional<std::uint64_t> after) {
  const auto& thread = entry->handle.id();
  unfollow(thread);
  const auto from = after.value_or(entry->watch->last_seq());
  const auto s = std::make_shared<subscription>(weak_from_this(), entry, from);
  subscriptions_.emplace(thread, s);
  if (!out_.attached()) {
    s->behind = true;
    return;
  }
  entry->handle.send(say::subscribe{s, answers_, from});
}

void event_feed::unfollow(const std::string& thread_id) {
  const auto gone = subscriptions_.extract(thread_id);
  if (!gone.empty()) gone.mapped()->entry->handle.send(say::unsubscribe{gone.mapped()});
}

void event_feed::unfollow_all() {
  for (const auto& [id, s] : std::exchange(subscriptions_, {}))
    s->entry->handle.send(say::unsubscribe{s});
}

void event_feed::closed(const thread_entry& entry) {
  const auto gone = subscriptions_.extract(entry.handle.id());
  if (gone.empty()) return;
  const ended what{entry.handle.id(), gone.mapped()->sent_seq, entry.watch->last_seq()};
  if (gone.mapped()->behind || !out_.attached())
    unsaid_.push_back(what);
  else
    tell_ended(what);
}

void event_feed::tell_ended(const ended& what) {
  if (what.sent_seq < what.last_seq) // they went with the thread
    out_.notify(
        app::notifications::events_missed::name,
        rpc::to_json(app::missed_events{what.thread_id, static_cast<std::int64_t>(what.sent_seq),
                                        static_cast<std::int64_t>(what.last_seq + 1)}));
  out_.notify(app::notifications::thread_closed::name,
              rpc::to_json(app::thread_params{what.thread_id}));
}

void event_feed::detach() {
  for (auto& [id, s] : subscriptions_) {
    s->behind = true;
    s->told.reset();
    s->offered.clear();
    s->entry->handle.send(say::unsubscribe{s});
  }
}

void event_feed::catch_up() {
  for (const auto& one : std::exchange(unsaid_, {}))
    tell_ended(one);
  for (auto& [id, s] : subscriptions_) {
    if (!s->behind) continue;
    // A new subscriber: events that are still on their way to the old one come again in order.
    auto fresh = std::make_shared<subscription>(weak_from_this(), s->entry, s->sent_seq);
    fresh->offered = std::move(s->offered);
    const auto old = std::exchange(s, std::move(fresh));
    s->entry->handle.send(say::subscribe{s, answers_, s->sent_seq});
    s->entry->handle.send(say::unsubscribe{old});
    tell_status(*s);
  }
}

void event_feed::hear(subscription& from, const thread_event_ptr& event) {
  const auto current = subscriptions_.find(from.entry->handle.id());
  if (current == subscriptions_.end() || current->second.get() != &from) return;
  const auto* asked = std::get_if<thread_events::review_asked>(&event->what);
  if (!out_.attached()) from.behind = true;
  if (from.behind) {
    if (asked) offer(from, event);
    return;
  }
  // What is offered again has its old number; everything else comes once.
  if (!asked && event->seq <= from.sent_seq) return;
  const auto& thread = from.entry->handle.id();
  if (event->seq > from.sent_seq + 1) // the log had no more room for those between
    out_.notify(app::notifications::events_missed::name,
                rpc::to_json(app::missed_events{thread, static_cast<std::int64_t>(from.sent_seq),
                                                static_cast<std::int64_t>(event->seq)}));
  from.sent_seq = std::max(from.sent_seq, event->seq);
  if (const auto* over = std::get_if<thread_events::review_resolved>(&event->what))
    from.offered.erase(over->answer.review_id);
  if (asked) {
    tell_status(from); // a client that shows the question knows why
    offer(from, event);
  } else if (const auto message = message_of(from, *event)) {
    out_.notify(message->method, message->params);
  }
  tell_status(from);
  // The events stay in the thread's log; the client gets them when it has read these.
  if (out_.is_behind()) from.behind = true;
}

void event_feed::offer(subscription& to, const thread_event_ptr& asked) {
  if (!answers_ || !out_.attached()) return;
  const auto& shown = std::get<thread_events::review_asked>(asked->what);
  if (shown.who != reviewer_kind::user || !to.offered.insert(shown.question.review_id).second)
    return;
  out_.ask(
      [entry = to.entry, asked, most = most_bytes_]() -> std::optional<client_writer::question> {
        const auto& question = std::get<thread_events::review_asked>(asked->what).question;
        if (!entry->watch->find_question(question.review_id))
          return std::nullopt; // it waited too long
        auto message = app::message_of(entry->handle.id(), *asked);
        if (!message) return std::nullopt;
        if (message->params.size() < most - most / 16) // the rest is for what is around it
          return client_writer::question{question.review_id, message->method,
                                         std::move(message->params)};
        // Nobody says yes to what nobody can be shown.
        entry->handle.send(say::answer_review{question.review_id,
                                              question.digest,
                                              review_decision::denied,
                                              "the action is too large to be shown to a reviewer",
                                              {}});
        return std::nullopt;
      });
}

std::optional<app::outgoing> event_feed::message_of(const subscription& of,
                                                    const thread_event& event) const {
  const auto& thread = of.entry->handle.id();
  auto message = app::message_of(thread, event);
  const auto* end = std::get_if<thread_events::item_ended>(&event.what);
  if (!end || !message || message->params.size() < most_bytes_ - most_bytes_ / 16) return message;
  return app::message_of(
      thread, {event.seq, event.turn_id,
               thread_events::item_ended{
                   std::make_shared<const call_report>(outcome_of(*end->report)), end->patch},
               event.unix_ms});
}

void event_feed::tell_status(subscription& to) {
  const auto status = status_of(*to.entry->watch);
  if (to.told && to.told->type == status.type && to.told->active_flags == status.active_flags)
    return;
  to.told = status;
  out_.notify(app::notifications::thread_status_changed::name,
              rpc::to_json(app::status_changed{to.entry->handle.id(), status}));
}

std::pair<std::shared_ptr<thread_entry>, const thread_watch::question*>
event_feed::find_offered(const std::string& review_id) const {
  for (const auto& [thread, s] : subscriptions_)
    if (s->offered.contains(review_id))
      return {s->entry, s->entry->watch->find_question(review_id)};
  return {};
}

} // namespace gatehouse::actors
