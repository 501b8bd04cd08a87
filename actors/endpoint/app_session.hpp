#pragma once

#include "actors/endpoint/call_book.hpp"
#include "actors/endpoint/client_wishes.hpp"
#include "actors/endpoint/client_writer.hpp"
#include "actors/endpoint/command_book.hpp"
#include "actors/endpoint/event_feed.hpp"
#include "actors/endpoint/request_lane.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gatehouse::actors {

/// What one client has going, app dialect (§201). It outlives its connection for a while: a client
/// that comes back finds its subscriptions, and every event since as far as it is kept. Loop's
/// thread.
class app_session : public std::enable_shared_from_this<app_session> {
public:
  app_session(std::string id, authority who, endpoint_services& services);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] authority who() const noexcept { return who_; }

  void attach(std::shared_ptr<client_port> port, bool version, const client_manner& manner);
  /// The connection is gone; what runs goes on, but for commands of its client's own.
  void detach();
  /// Sends what was missed, after a resumption.
  void catch_up() { feed_->catch_up(); }
  /// Calls `then` when every request that was read has been begun.
  void when_idle(const std::function<void()>& then) { lane_->when_empty(then); }
  /// The client has read.
  void drained();
  /// For good: subscriptions end; the threads that this session started are closed.
  void end();

  /// Hears the questions of every thread, now and later (reviewers).
  void want_approvals();
  void thread_started(const std::shared_ptr<thread_entry>& entry);

  void request(const rpc::message& message);
  /// Says what is wrong with a text that is no message.
  void refuse(const std::optional<rpc::request_id>& id, const rpc::failure& why) {
    out_.answer(id, why);
  }
  /// An answer of the client to a question.
  void response(const rpc::message& message);

  // For the methods (app_methods.hpp).
  [[nodiscard]] endpoint_services& services() noexcept { return services_; }
  [[nodiscard]] event_feed& feed() noexcept { return *feed_; }
  /// Answers that its client has yet to read.
  [[nodiscard]] std::size_t unsent() const noexcept { return out_.waiting(); }
  [[nodiscard]] const std::shared_ptr<call_share>& calls() const noexcept { return calls_; }
  [[nodiscard]] command_book& commands() noexcept { return *commands_; }

private:
  struct open_answer;
  void answer(const rpc::request_id& id, std::uint64_t asked_on, const rpc_outcome& what);
  void carry_out(const rpc::message& message, const rpc_reply& reply);

  std::string id_;
  authority who_;
  endpoint_services& services_;
  endpoint_limits limits_; ///< of this session
  client_writer out_;
  std::shared_ptr<event_feed> feed_;
  std::shared_ptr<call_share> calls_;
  std::shared_ptr<command_book> commands_;
  std::shared_ptr<request_lane> lane_;
  std::uint64_t connection_ = 0; ///< counts those that this session had
  bool all_approvals_ = false;
};

} // namespace gatehouse::actors
