#include "actors/endpoint/call_book.hpp"

#include "actors/endpoint/refusals.hpp"
#include "protocol/rpc/app_events.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace gatehouse::actors {

namespace app = rpc::app;

struct call_book::known_call {
  std::string asked; ///< the parameters as JSON
  std::optional<std::string> result;
  std::vector<rpc_reply> waiting;

  [[nodiscard]] std::size_t bytes() const { return asked.size() + result->size(); } ///< @pre ended
};

namespace {

rpc::failure overloaded(std::size_t in_flight, std::size_t limit) {
  auto full = refused("too many calls are under way in this session; try again when one has ended",
                      "overloaded", rpc::code::overloaded);
  full.data = R"("retryAfterMs":100,"inFlight":)" + std::to_string(in_flight) + R"(,"limit":)" +
              std::to_string(limit);
  return full;
}

} // namespace

void call_book::begin(const thread_entry& thread, const app::tool_call_params& params,
                      rpc_reply done) {
  const auto key = thread.handle.id() + '\n' + params.call_id;
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
  if (in_flight_ >= limits_.in_flight) return done(overloaded(in_flight_, limits_.in_flight));
  auto arguments = decode_tool_arguments(params.tool, rpc::to_json(params.arguments));
  if (!arguments) return done(failure_of(arguments.error()));
  if (params.timeout_ms) {
    const auto limited = limit_time(*arguments, std::chrono::milliseconds{*params.timeout_ms});
    if (!limited) return done(wrong_params(to_string(limited.error())));
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
  thread.handle.send(thread_messages::begin_call{
      std::move(wish), [weak = weak_from_this(), call, key](const result<call_report_ptr>& report) {
        const rpc_outcome told = report ? rpc_outcome{rpc::to_json(app::result_of(**report))}
                                        : rpc_outcome{failure_of(report.error())};
        if (const auto book = weak.lock()) book->ended(key, *call, told, report.has_value());
        for (const auto& one : std::exchange(call->waiting, {}))
          one(told);
      }});
}

void call_book::ended(const std::string& key, known_call& call, const rpc_outcome& told,
                      bool keep) {
  --in_flight_;
  if (!keep) { // there was no such call
    calls_.erase(key);
    return;
  }
  call.result = std::get<std::string>(told);
  finished_bytes_ += call.bytes();
  finished_.push_back(key);
  // The newest is kept whatever its size: its client may be away.
  while (finished_.size() > limits_.remembered_calls ||
         (finished_bytes_ > limits_.remembered_bytes && finished_.size() > 1)) {
    const auto oldest = calls_.find(finished_.front());
    finished_bytes_ -= oldest->second->bytes();
    calls_.erase(oldest);
    finished_.pop_front();
  }
}

} // namespace gatehouse::actors
