#include "actors/endpoint/app_session.hpp"

#include "actors/endpoint/app_methods.hpp"
#include "actors/endpoint/file_calls.hpp"
#include "actors/endpoint/refusals.hpp"
#include "protocol/rpc/app_events.hpp"

#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;

app_session::app_session(std::string id, authority who, endpoint_services& services)
    : id_{std::move(id)}, who_{who}, services_{services}, limits_{services.limits}, out_{services},
      feed_{std::make_shared<event_feed>(out_, services.limits.frame_bytes)},
      calls_{std::make_shared<call_share>(limits_)}, commands_{std::make_shared<command_book>(
                                                         out_, calls_)},
      lane_{std::make_shared<request_lane>(
          [&loop = services.loop](request_lane::work what) { loop.post(std::move(what)); },
          services.limits.waiting_requests)} {}

void app_session::attach(std::shared_ptr<client_port> port, bool version,
                         const client_manner& manner) {
  limits_.in_flight = manner.in_flight;
  feed_->can_be_asked(manner.answers);
  out_.attach(std::move(port), version);
  ++connection_;
}

void app_session::detach() {
  services_.files->end_session(id_);
  commands_->connection_lost();
  out_.detach();
  feed_->detach();
}

void app_session::drained() {
  out_.drained();
  if (!out_.is_behind()) feed_->catch_up();
}

void app_session::end() {
  out_.detach();
  lane_->clear();
  feed_->unfollow_all();
  for (const auto& entry : services_.threads.list())
    if (entry->owner == id_) services_.threads.close(entry->handle.id());
}

void app_session::want_approvals() {
  all_approvals_ = true;
  for (const auto& entry : services_.threads.list())
    feed_->follow(entry, std::nullopt);
}

void app_session::thread_started(const std::shared_ptr<thread_entry>& entry) {
  if (all_approvals_ || entry->owner == id_) feed_->follow(entry, 0);
}

void app_session::response(const rpc::message& message) {
  if (who_ != authority::reviewer) return; // nothing is ever asked of an agent
  const auto* id = std::get_if<std::string>(&message.id());
  if (!id) return;
  const auto [entry, question] = feed_->find_offered(*id);
  if (!question) return; // answered or withdrawn: late answers are ignored
  thread_messages::answer_review said;
  said.review_id = *id;
  said.digest = question->what->digest; // what this connection was shown under this id
  if (const auto place = message.result_value())
    if (auto read = rpc::codec<app::approval_answer>::decode(*place)) {
      const auto decision = app::decision_of(*read, *question->what);
      auto given = app::given_from({read->permissions, read->scope, read->strict_auto_review},
                                   *question->what, decision.what);
      said.reason = read->reason.value_or("");
      if (given) { // what cannot be read gives nothing
        said.decision = decision.what;
        said.denies_host = decision.denies_host;
        said.permissions = *std::move(given);
      }
    }
  entry->handle.send(std::move(said));
}

/// A request that has not been answered. A thread that ends drops what it was asked, and with the
/// last copy of the answer's way this goes: nobody waits for ever.
struct app_session::open_answer {
  std::weak_ptr<app_session> session;
  rpc::request_id id;
  std::uint64_t asked_on;
  reactor::event_loop& loop;
  bool answered = false;

  open_answer(std::weak_ptr<app_session> to, rpc::request_id of, std::uint64_t on,
              reactor::event_loop& its_loop)
      : session{std::move(to)}, id{std::move(of)}, asked_on{on}, loop{its_loop} {}
  open_answer(const open_answer&) = delete;
  open_answer& operator=(const open_answer&) = delete;
  ~open_answer() {
    if (answered) return;
    loop.post([to = std::move(session), of = std::move(id), on = asked_on] {
      if (const auto self = to.lock())
        self->answer(of, on,
                     refused("its thread was closed before this was answered", "cancelled",
                             rpc::code::internal));
    });
  }
};

/// Ids mean something on their own connection only.
void app_session::answer(const rpc::request_id& id, std::uint64_t asked_on,
                         const rpc_outcome& what) {
  if (connection_ == asked_on) out_.answer(id, what);
}

void app_session::request(const rpc::message& message) {
  const rpc_reply reply =
      [open = std::make_shared<open_answer>(weak_from_this(), message.id(), connection_,
                                            services_.loop)](const rpc_outcome& what) {
        open->answered = true;
        if (const auto session = open->session.lock())
          session->answer(open->id, open->asked_on, what);
      };
  if (!takes_time(message.method())) return carry_out(message, reply);
  if (lane_->is_full())
    return reply(overloaded("too many requests of this session wait; try again when they are "
                            "answered",
                            lane_->size(), services_.limits.waiting_requests));
  lane_->add([weak = weak_from_this(), message, reply] {
    if (const auto session = weak.lock()) session->carry_out(message, reply);
  });
}

void app_session::carry_out(const rpc::message& message, const rpc_reply& reply) {
  if (!perform(*this, message, reply))
    reply(refused("unknown method " + shown(message.method()), "methodNotFound",
                  rpc::code::method_not_found));
}

} // namespace gatehouse::actors
