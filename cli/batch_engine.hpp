#pragma once

#include "actors/thread_host.hpp"
#include "cli/batch_input.hpp"
#include "protocol/rpc/app_types.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/websocket_client.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gatehouse::cli {

/// What runs the calls of a batch. Loop's thread.
class batch_engine {
public:
  using done = std::function<void(rpc::app::tool_call_result)>;

  virtual ~batch_engine() = default;
  [[nodiscard]] virtual reactor::event_loop& loop() = 0;
  /// May calls be started? Until it is so, or has failed, the loop has to turn.
  [[nodiscard]] virtual bool ready() const = 0;
  /// A ready one. `on_end` is called once, later, unless `failure` comes to be.
  virtual void start(const std::string& call_id, const batch_item& item, done on_end) = 0;
  /// Ends what runs; the ends still come.
  virtual void stop() = 0;
  /// Why nothing more will end; without a remedy.
  [[nodiscard]] virtual std::optional<error> failure() const = 0;
};

/// Runs them in a thread of this program.
class local_engine : public batch_engine {
public:
  /// Both outlive it.
  local_engine(actors::thread_host& host, const actors::thread_handle& thread)
      : host_{host}, thread_{thread} {}
  [[nodiscard]] reactor::event_loop& loop() override { return host_.loop(); }
  [[nodiscard]] bool ready() const override { return true; }
  void start(const std::string& call_id, const batch_item& item, done on_end) override;
  void stop() override;
  [[nodiscard]] std::optional<error> failure() const override { return std::nullopt; }

private:
  actors::thread_host& host_;
  const actors::thread_handle& thread_;
};

/// The thread that a daemon opens for a batch; what is unset is as the daemon is configured.
struct remote_terms {
  reactor::websocket_address target;
  std::string token;
  std::optional<std::string> environment; ///< name; then `cwd` is of that machine, empty: as named
  std::string cwd;
  std::optional<std::string> approval_policy; ///< name or JSON
  std::optional<std::string> profile;         ///< name
};

/// Has a daemon run them (`gatehouse serve`), in a thread of its own.
class remote_engine : public batch_engine {
public:
  remote_engine(reactor::event_loop& loop, remote_terms terms);
  ~remote_engine() override;
  [[nodiscard]] reactor::event_loop& loop() override { return loop_; }
  [[nodiscard]] bool ready() const override { return !thread_.empty(); }
  void start(const std::string& call_id, const batch_item& item, done on_end) override;
  void stop() override;
  [[nodiscard]] std::optional<error> failure() const override { return failure_; }

private:
  void opened();
  void received(std::string_view text);
  void broken(std::string why);

  reactor::event_loop& loop_;
  remote_terms terms_;
  std::string thread_;    ///< empty: not open yet
  std::int64_t last_ = 2; ///< ids 1 and 2 are for initialize and thread/start
  struct waiting {
    std::string call_id;
    done on_end;
  };
  std::map<std::int64_t, waiting> calls_; ///< under way, by the id of the request
  std::optional<error> failure_;
  std::unique_ptr<reactor::websocket_client> line_;
};

} // namespace gatehouse::cli
