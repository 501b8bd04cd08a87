#include "actors/endpoint/call_book.hpp"

#include "actors/endpoint/refusals.hpp"
#include "protocol/rpc/app_events.hpp"

#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;

namespace {

void drop_output(known_call& call) {
  auto told = rpc::app::result_of(outcome_of(*call.report));
  told.report = {R"({"exit_status":)" + std::to_string(exit_status(*call.report)) + "}"};
  call.outcome = rpc::to_json(told);
  call.outcome.shrink_to_fit();
  call.report = nullptr;
}

} // namespace

call_share::~call_share() {
  while (!outputs_.empty())
    drop_oldest();
}

rpc::failure call_share::overloaded() const {
  return actors::overloaded(
      "too many calls are under way in this session; try again when one has ended", in_flight_,
      limits_.in_flight);
}

void call_share::ended(const std::shared_ptr<known_call>& call) {
  --in_flight_;
  const auto bytes = kept_bytes(*call->report);
  outputs_.push_back({call, bytes});
  bytes_ += bytes;
  // The newest is kept whatever its size: its client may be away.
  while (outputs_.size() > 1 &&
         (bytes_ > limits_.remembered_bytes || outputs_.size() > limits_.remembered_outputs ||
          outputs_.front().call.expired()))
    drop_oldest();
}

void call_share::drop_oldest() {
  const auto& oldest = outputs_.front();
  if (const auto call = oldest.call.lock()) drop_output(*call);
  bytes_ -= oldest.bytes;
  outputs_.pop_front();
}

void call_book::begin(const thread_handle& thread, const app::tool_call_params& params,
                      const std::shared_ptr<call_share>& session, rpc_reply done) {
  const auto& id = params.call_id;
  const auto asked = sha256_of(rpc::to_json(params));
  if (const auto known = calls_.find(id); known != calls_.end()) {
    auto& call = *known->second;
    if (call.asked != asked)
      done(refused("the call id " + shown(id) + " belongs to another call", "callIdReused"));
    else if (call.report)
      done(call.report);
    else if (!call.outcome.empty())
      done(call.outcome);
    else
      call.waiting.push_back(std::move(done));
    return;
  }
  if (session->is_full()) return done(session->overloaded());
  auto arguments = decode_tool_arguments(params.tool, rpc::to_json(params.arguments));
  if (!arguments) return done(failure_of(arguments.error()));
  if (params.timeout_ms) {
    const auto limited = limit_time(*arguments, std::chrono::milliseconds{*params.timeout_ms});
    if (!limited) return done(wrong_params(to_string(limited.error())));
  }

  const auto call = std::make_shared<known_call>();
  call->asked = asked;
  call->waiting.push_back(std::move(done));
  calls_.emplace(id, call);
  session->began();
  tool_request wish;
  wish.call_id = id;
  wish.turn_id = params.turn_id.value_or("");
  wish.arguments = *std::move(arguments);
  thread.send(thread_messages::begin_call{
      std::move(wish), [weak = weak_from_this(), from = std::weak_ptr{session}, call,
                        id](const result<call_report_ptr>& report) {
        const auto book = weak.lock();
        const auto share = from.lock();
        if (report) {
          call->report = *report;
          if (book) book->ended(id);
          if (share)
            share->ended(call);
          else
            drop_output(*call); // its session is over
        } else {
          if (book) book->calls_.erase(id); // there was no such call
          if (share) share->failed();
        }
        const auto told = report ? rpc_outcome{*report} : turn_failure(report.error());
        for (const auto& one : std::exchange(call->waiting, {}))
          one(told);
      }});
}

void call_book::ended(const std::string& id) {
  ended_.push_back(calls_.find(id));
  if (ended_.size() <= most_ended_) return;
  calls_.erase(ended_.front());
  ended_.pop_front();
}

} // namespace gatehouse::actors
