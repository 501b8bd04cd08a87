#pragma once

#include "actors/endpoint/call_book.hpp"
#include "actors/endpoint/client_wishes.hpp"
#include "actors/endpoint/client_writer.hpp"
#include "actors/endpoint/event_feed.hpp"

#include <cstdint>
#include <memory>
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
  /// The connection is gone; what runs goes on.
  void detach();
  /// Sends what was missed: the first after a resumption, and when the client reads again.
  void catch_up() { feed_->catch_up(); }
  /// For good: subscriptions end; the threads that this session started are closed.
  void end();

  /// Hears the questions of every thread, now and later (reviewers).
  void want_approvals();
  void thread_started(const std::shared_ptr<thread_entry>& entry);

  void request(const rpc::message& message);
  /// An answer of the client to a question.
  void response(const rpc::message& message);

  // For the methods (app_methods.hpp).
  [[nodiscard]] endpoint_services& services() noexcept { return services_; }
  [[nodiscard]] event_feed& feed() noexcept { return *feed_; }
  [[nodiscard]] call_book& calls() noexcept { return *calls_; }

private:
  std::string id_;
  authority who_;
  endpoint_services& services_;
  endpoint_limits limits_; ///< of this session
  client_writer out_;
  std::shared_ptr<event_feed> feed_;
  std::shared_ptr<call_book> calls_;
  std::uint64_t connection_ = 0; ///< counts those that this session had
  bool all_approvals_ = false;
};

} // namespace gatehouse::actors
