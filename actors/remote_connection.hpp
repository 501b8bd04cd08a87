#pragma once

#include "actors/remote_terms.hpp"
#include "protocol/exec_client.hpp"
#include "reactor/clock.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/timer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::actors {

class remote_process;

/// The line to one exec server, shared by all that runs there (§120): connects when there is
/// something to run, comes back after a cut and takes up its session, and reads on only as far as
/// output is taken. Used on the loop's thread.
class remote_connection : public std::enable_shared_from_this<remote_connection> {
public:
  using handler = std::function<void(const exec_client::answer&)>;

  remote_connection(reactor::event_loop& loop, remote_terms terms);

  [[nodiscard]] const remote_terms& terms() const noexcept { return terms_; }
  /// It hears what is said of it, and of the line, until it is removed.
  void add(const std::shared_ptr<remote_process>& one);
  void remove(const std::string& process_id);

  /// The line stands and the server has greeted.
  [[nodiscard]] bool ready() const noexcept { return ready_; }
  /// One request; only while `ready`. When the line is cut, no answer comes.
  void ask(std::string_view method, std::string_view params, handler done);

  /// Output that waits for its reader; beyond a limit nearly nothing is read until it is taken.
  void told(std::size_t bytes);
  void taken(std::size_t bytes);
  /// Reading pauses.
  [[nodiscard]] bool held() const noexcept { return held_; }

  /// Ends it, and with it all that runs over it: the server breaks the protocol.
  void fail(const std::string& why);

private:
  void connect();
  void opened();
  void greeted(const exec_client::answer& said);
  void heard(std::string_view text);
  void heard_bytes(std::string_view bytes);
  void tell(exec_client::process_event one);
  void lost(const reactor::websocket_end& end);
  void come_back();
  /// The line was lost so long ago that it is given up.
  [[nodiscard]] bool is_too_late() const;
  void hold_back();

  reactor::event_loop& loop_;
  remote_terms terms_;
  reactor::timer retry_;
  reactor::timer greeting_;
  std::unique_ptr<reactor::websocket_client> client_;
  std::string session_; ///< empty: none
  bool ready_ = false;
  bool binary_ = false; ///< output comes in binary messages
  bool held_ = false;
  std::size_t waiting_bytes_ = 0; ///< of all processes
  std::optional<reactor::clock::time_point> lost_at_;
  std::uint64_t last_request_ = 0;
  std::map<std::uint64_t, handler> waiting_;
  std::map<std::string, std::shared_ptr<remote_process>> processes_;
};

} // namespace gatehouse::actors
