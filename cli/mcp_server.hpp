#pragma once

#include "actors/thread.hpp"
#include "protocol/rpc/envelope.hpp"
#include "protocol/rpc/mcp_types.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::cli {

/// One client of the Model Context Protocol and its thread. Questions go to the client's user when
/// the client can ask; else they are refused at once. Loop's thread.
class mcp_server : public actors::thread_subscriber,
                   public std::enable_shared_from_this<mcp_server> {
public:
  /// @param send one message, without a newline
  mcp_server(actors::thread_handle thread, std::string version,
             std::function<void(std::string)> send);

  /// Listens to the thread; before the first message.
  void begin();
  /// One message of the client.
  void received(std::string_view text);
  /// The client is gone: what runs is ended.
  void lost();

  void on_event(const thread_event_ptr& event) override;

private:
  /// A call, from `tools/call` to its end; in the modern era over several requests.
  struct call {
    std::optional<rpc::request_id> request; ///< waits for an answer; unset: the client has to come
    std::string asked;                      ///< tool and arguments, that a repeated call must equal
    bool modern = false;
    bool can_ask = false;
    std::optional<json_tree> progress_token;
    int steps = 0;
    std::optional<review_request> question; ///< stands
    std::string state;                      ///< modern: what the answer must bring; used once
    std::optional<std::string> result;      ///< modern: ended while no request waited
  };

  void request(const rpc::message& message);
  void response(const rpc::message& message);
  void cancelled(const rpc::message& message);
  void call_tool(const rpc::message& message, bool modern);
  void call_again(const rpc::request_id& id, const rpc::mcp::call_params& params,
                  const std::string& asked);
  void ask(const std::string& call_id, call& c);
  void answer(const call& c, const rpc::mcp::elicit_result& said);
  void refuse_question(const call& c, const std::string& why);
  void ended(const std::string& call_id, const result<call_report_ptr>& report);
  void step(call& c, std::string_view what);
  void hear_as_reviewer();
  void fail(const rpc::request_id& id, rpc::code code, std::string message, std::string kind);

  actors::thread_handle thread_;
  std::string version_;
  std::function<void(std::string)> send_;
  bool legacy_ = false;                            ///< the handshake was made
  bool legacy_can_ask_ = false;                    ///< its client can ask
  bool reviews_ = false;                           ///< the thread knows that somebody answers
  std::map<std::string, call> calls_;              ///< by call id
  std::map<std::string, std::string> by_question_; ///< legacy: id of our request → call id
  std::uint64_t next_ = 0;
};

} // namespace gatehouse::cli
