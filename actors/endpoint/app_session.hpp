#pragma once

#include "actors/endpoint/thread_book.hpp"
#include "protocol/rpc/app_methods.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gatehouse::actors {

struct endpoint_limits {
  std::size_t frame_bytes = 16U << 20U;
  std::size_t in_flight = 256;          ///< calls of one session
  std::size_t queued_bytes = 4U << 20U; ///< toward one client, before it is thought slow
  std::size_t remembered_calls = 256;   ///< finished ones, for a call id that comes again
  std::chrono::milliseconds session_grace{60'000};
};

/// What sessions share.
struct endpoint_services {
  thread_book& threads;
  endpoint_limits limits;
  std::string version;
  /// Answers `policy/explain`: JSON of the answer. `cwd` is the thread's, empty for none.
  std::function<result<std::string>(const std::string& cwd, const json_tree& arguments)> explain;
  std::vector<rpc::app::profile_summary> profiles;
  std::function<std::int64_t()> unix_ms;
};

/// What one client has going, app dialect (§201). It outlives its connection for a while: a client
/// that comes back finds its subscriptions, and every event since as far as it is kept. Loop's
/// thread.
class app_session : public std::enable_shared_from_this<app_session> {
public:
  app_session(std::string id, authority who, endpoint_services& services);
  ~app_session();

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] authority who() const noexcept { return who_; }
  [[nodiscard]] bool attached() const noexcept { return port_ != nullptr; }

  void attach(std::shared_ptr<client_port> port, bool version);
  /// The connection is gone; what runs goes on.
  void detach();
  /// Sends what was missed; the first message after a resumption.
  void catch_up();
  /// For good: subscriptions end; the threads that this session started are closed.
  void end();

  /// `wants_approvals`: hears the questions of every thread, now and later (reviewers).
  void want_approvals();
  void thread_started(const std::shared_ptr<thread_entry>& entry);

  void request(const rpc::message& message);
  /// An answer of the client to a question.
  void response(const rpc::message& message);
  /// The client reads again.
  void drained();

private:
  class subscription;
  struct known_call;
  struct handler;
  friend struct handler;
  using reply = std::function<void(std::variant<std::string, rpc::failure>)>;

  void subscribe(const std::shared_ptr<thread_entry>& entry, std::optional<std::uint64_t> after);
  void hear(subscription& from, const thread_event_ptr& event);
  void tell_status(subscription& to);
  [[nodiscard]] std::shared_ptr<thread_entry> visible(const std::string& thread_id) const;
  void send(std::string text);
  void answer(const rpc::request_id& id, std::variant<std::string, rpc::failure> what);
  void call(const std::shared_ptr<thread_entry>& entry, rpc::app::tool_call_params params,
            reply done);
  void answer_question(const std::shared_ptr<thread_entry>& entry,
                       thread_messages::answer_review message, reply done);

  std::string id_;
  authority who_;
  endpoint_services& services_;
  std::shared_ptr<client_port> port_;
  bool version_ = false;
  std::uint64_t connection_ = 0; ///< counts those that this session had
  bool all_approvals_ = false;
  std::map<std::string, std::shared_ptr<subscription>> subscriptions_; ///< by thread
  std::map<std::string, std::shared_ptr<known_call>> calls_;           ///< thread + call id
  std::vector<std::string> finished_; ///< keys of calls_, oldest first
  std::size_t in_flight_ = 0;
};

} // namespace gatehouse::actors
