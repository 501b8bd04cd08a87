#pragma once

#include "actors/endpoint/client_port.hpp"
#include "actors/endpoint/endpoint_services.hpp"
#include "reactor/timer.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace gatehouse::actors {

/// The result of a request: as JSON, as the report of a call, or why there is none.
using rpc_outcome = std::variant<std::string, rpc::failure, call_report_ptr>;

/// Writes to the connection that a session has at the moment; while it has none, to nobody. More
/// than a client should have before it waits here until it has read: answers and questions are
/// never lost to a client that reads, however much comes at once. One that reads nothing for a
/// while is disconnected. Loop's thread.
class client_writer {
public:
  struct question {
    std::string id;
    std::string_view method;
    std::string params;
  };

  explicit client_writer(const endpoint_services& services)
      : services_{services}, stuck_{services.loop} {}

  /// @param version every message says `jsonrpc`, as the client's do
  void attach(std::shared_ptr<client_port> port, bool version);
  void detach();
  [[nodiscard]] bool attached() const noexcept { return port_ != nullptr; }
  /// More waits for the client than it should; events had better wait elsewhere.
  [[nodiscard]] bool is_behind() const;
  /// Answers and questions that wait.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  /// The client has read.
  void drained();

  void notify(std::string_view method, const std::string& params);
  /// `what` is asked when the question is sent; unset: it need not be any more.
  void ask(std::function<std::optional<question>()> what);
  /// @param id unset: it could not be read
  void answer(const std::optional<rpc::request_id>& id, const rpc_outcome& what);

private:
  /// A message, made when it is sent; empty: none.
  using maker = std::function<std::string()>;

  void send(std::string text);
  void send(maker what);
  void hand_over(std::string text);
  void wait(maker what);
  void watch();
  void close();
  /// Bytes that the client has taken, but for a constant.
  [[nodiscard]] std::uint64_t taken() const { return sent_ - port_->queued_bytes(); }
  [[nodiscard]] std::string text_of(const rpc::request_id& id, const call_report& report) const;

  const endpoint_services& services_;
  std::shared_ptr<client_port> port_;
  bool version_ = false;
  std::uint64_t sent_ = 0; ///< bytes
  std::deque<maker> waiting_;
  reactor::timer stuck_; ///< runs while the client is behind
};

} // namespace gatehouse::actors
