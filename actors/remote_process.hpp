#pragma once

#include "actors/command_process.hpp"
#include "actors/remote_stream.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/timer.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::exec_server {
struct failure;
}

namespace gatehouse::actors {

class remote_connection;

/// One command over a line that may be cut: started once, written to once, each event of it told
/// once and in order (§120). Used on the loop's thread.
class remote_process : public std::enable_shared_from_this<remote_process> {
public:
  /// @param start_params of its process/start
  remote_process(reactor::event_loop& loop, const std::shared_ptr<remote_connection>& over,
                 std::string id, std::string start_params, bool tty, command_listener listener);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  // For its owner.

  /// The reader of a stream has taken what was told first.
  void grant(reactor::output_stream stream);
  /// `too_large`: more would wait than may; nothing of it is written.
  result<void> write(std::string bytes);
  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
  [[nodiscard]] bool told_end() const noexcept { return told_end_; }
  void interrupt();
  void end();
  /// As `end`; one that does not end in time is given up: whoever waits must not wait for ever.
  void kill();
  /// Nobody listens to it any more.
  void forget();

  // For the connection.

  /// The line stands, for the first time or again.
  void line_stands();
  void hear(exec_client::process_event event);
  /// The line will not come back.
  void line_lost(const std::string& why);

private:
  void send_start();
  void go_on();
  void read();
  void read_answered(const exec_client::answer& said);
  void write_next();
  void write_later();
  void say(reactor::output_stream stream, std::string_view bytes);
  void say_lost();
  /// @return false: it does not, and the connection has been given up
  bool keeps_to_the_protocol();
  void break_off(const std::string& why);
  void release();
  void deliver(std::vector<exec_client::process_event> events);
  void give_up_after(std::chrono::milliseconds patience);
  void end_what_was_sent();
  void drain();
  void wait_for_the_rest();
  void close();
  void not_started(const exec_server::failure& why);
  void finish(const command_end& end);
  [[nodiscard]] command_end broken(std::string why) const;

  reactor::event_loop& loop_;
  std::weak_ptr<remote_connection> over_;
  std::string id_;
  std::string start_params_;
  bool tty_;
  command_listener listener_;
  remote_stream stream_;
  std::deque<std::pair<std::string, std::string>> writes_; ///< write id, bytes: not yet taken
  std::size_t pending_ = 0;
  bool started_ = false;
  bool start_sent_ = false;
  bool write_under_way_ = false;
  bool reading_ = false;
  bool interrupt_wanted_ = false;
  bool end_wanted_ = false;
  bool told_end_ = false;
  std::optional<int> exit_code_; ///< that was told
  /// Behind its exit: what may be missing then must have come.
  std::optional<reactor::clock::time_point> rest_until_;
  int reads_behind_exit_ = 0;
  bool unlimited_ = false;                           ///< nobody will ask for more
  std::array<std::deque<std::size_t>, 2> ungranted_; ///< bytes told at once, for each stream
  reactor::timer given_up_;                          ///< after a kill
  reactor::timer drain_;                             ///< after its exit
  reactor::timer write_again_;                       ///< what waits there is full
};

} // namespace gatehouse::actors
