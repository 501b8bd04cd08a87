#pragma once

#include "cli/load_dialect.hpp"
#include "cli/load_histogram.hpp"
#include "cli/process_sample.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/timer.hpp"
#include "reactor/websocket_client.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::cli {

struct load_terms {
  reactor::websocket_address target;
  std::string url;
  std::string token; ///< empty: none
  load_protocol protocol = load_protocol::app;
  std::string cwd;
  std::vector<load_call> mix; ///< never empty; taken by weight, always in the same order
  std::size_t connections = 1;
  std::size_t callers = 1;      ///< closed loop: calls under way at any time
  std::optional<double> rate;   ///< open loop: calls that begin each second, whatever ends
  std::size_t most_open = 4096; ///< open loop: under way; further ones wait, and that counts
  std::chrono::milliseconds duration{10'000};
  std::chrono::milliseconds warm_up{1'000};   ///< before `duration`; not counted
  std::chrono::milliseconds patience{30'000}; ///< for what is under way at the end
  pid_t pid = 0;                              ///< the server's; 0: not looked at
};

/// What was seen at one moment.
struct load_point {
  double seconds = 0;      ///< since the warm-up
  std::uint64_t calls = 0; ///< that had ended
  std::size_t under_way = 0;
  std::optional<process_sample> server;
};

struct load_result {
  latency_histogram latency; ///< of calls that succeeded, from their intended start
  std::map<std::string, std::uint64_t> errors; ///< by kind
  std::uint64_t failed = 0;
  double seconds = 0; ///< in which calls were begun and counted
  std::vector<load_point> points;
  std::string broken;        ///< why the run ended early; empty: it did not
  bool token_wanted = false; ///< … with the server's 401
};

/// Loads one server from the loop's thread. A call's latency counts from the moment when it should
/// have begun: a server that stalls cannot hide it by keeping the next call from starting (§203).
class load_run {
public:
  load_run(reactor::event_loop& loop, load_terms terms);
  ~load_run();

  /// To the end; `stop` is asked at every event: true ends it.
  const load_result& run(const std::function<bool()>& stop);

private:
  using moment = reactor::clock::time_point;
  struct client {
    std::unique_ptr<reactor::websocket_client> line;
    std::unique_ptr<load_dialect> dialect;
  };

  void connect();
  void begin();
  [[nodiscard]] moment next_due() const;
  void tick();
  void start(moment intended);
  void ended(std::uint64_t number, const std::string& trouble);
  void sample();
  void broken(const std::string& why);
  [[nodiscard]] const load_call& next_call();

  reactor::event_loop& loop_;
  load_terms terms_;
  load_result result_;
  std::vector<client> clients_;
  std::size_t ready_ = 0, next_client_ = 0;
  std::vector<std::size_t> order_; ///< of the mix
  std::size_t next_ = 0;
  std::map<std::uint64_t, moment> under_way_; ///< intended start, by number
  std::uint64_t last_number_ = 0;
  std::uint64_t due_ = 0; ///< open loop: calls that have begun, in the order of their times
  std::uint64_t done_ = 0;
  moment start_{}, counted_from_{}, end_{};
  bool begun_ = false;
  reactor::timer tick_, sample_;
};

} // namespace gatehouse::cli
