#pragma once

#include "actors/endpoint/client_writer.hpp"
#include "actors/sha256.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::actors {

using rpc_reply = std::function<void(const rpc_outcome&)>;

/// One call by its id.
struct known_call {
  sha256_hash asked{};    ///< of the parameters: the same id with others is another call
  call_report_ptr report; ///< set: it has ended
  std::string outcome;    ///< instead, without the output: the result as JSON, some hundred bytes
  std::vector<rpc_reply> waiting; ///< while it is under way
};

/// What one session has of calls: how many are under way, and the outputs of those that have ended.
/// Where these are too many the oldest lose their output, never their outcome. Loop's thread.
class call_share {
public:
  /// `limits` outlives it.
  explicit call_share(const endpoint_limits& limits) : limits_{limits} {}
  ~call_share();
  call_share(const call_share&) = delete;
  call_share& operator=(const call_share&) = delete;

  [[nodiscard]] bool is_full() const noexcept { return in_flight_ >= limits_.in_flight; }
  [[nodiscard]] rpc::failure overloaded() const;
  void began() noexcept { ++in_flight_; }
  /// @pre call->report is set
  void ended(const std::shared_ptr<known_call>& call);
  /// It did not begin.
  void failed() noexcept { --in_flight_; }

private:
  struct kept {
    std::weak_ptr<known_call> call;
    std::size_t bytes = 0;
  };
  void drop_oldest();

  const endpoint_limits& limits_;
  std::size_t in_flight_ = 0;
  std::deque<kept> outputs_; ///< oldest first
  std::size_t bytes_ = 0;    ///< of these
};

/// The calls of one thread by their ids, whichever session asks. Asked again, an id is the same
/// call: it answers with the same result, running or ended; when its output is no longer kept, with
/// its outcome. Loop's thread.
class call_book : public std::enable_shared_from_this<call_book> {
public:
  explicit call_book(std::size_t most_ended) : most_ended_{most_ended} {}

  /// `done` hears the result at the call's end, or at once why there is no such call.
  void begin(const thread_handle& thread, const rpc::app::tool_call_params& params,
             const std::shared_ptr<call_share>& session, rpc_reply done);
  [[nodiscard]] bool knows(const std::string& call_id) const { return calls_.contains(call_id); }

private:
  void ended(const std::string& id);

  using call_map = std::map<std::string, std::shared_ptr<known_call>>;

  std::size_t most_ended_;
  call_map calls_;
  std::deque<call_map::iterator> ended_; ///< of these, oldest first
};

} // namespace gatehouse::actors
