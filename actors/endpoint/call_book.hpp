#pragma once

#include "actors/endpoint/client_writer.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace gatehouse::actors {

using rpc_reply = std::function<void(const rpc_outcome&)>;

/// The calls of one session by their ids. Asked again, an id is the same call: it answers with the
/// same result, running or ended, as far as results are kept. Loop's thread.
class call_book : public std::enable_shared_from_this<call_book> {
public:
  explicit call_book(const endpoint_limits& limits) : limits_{limits} {}

  /// `done` hears the result at the call's end, or at once why there is no such call.
  void begin(const thread_entry& thread, const rpc::app::tool_call_params& params, rpc_reply done);

private:
  struct known_call;

  void ended(const std::string& key, known_call& call, const rpc_outcome& told, bool keep);

  const endpoint_limits& limits_;
  std::map<std::string, std::shared_ptr<known_call>> calls_; ///< by thread and call id
  std::deque<std::string> finished_;                         ///< keys of calls_, oldest first
  std::size_t finished_bytes_ = 0;                           ///< of what is kept of them
  std::size_t in_flight_ = 0;
};

} // namespace gatehouse::actors
