#pragma once

#include "actors/endpoint/client_port.hpp"
#include "actors/thread.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse::actors {

/// Follows a thread from its first event: what runs, which questions stand, which turn is open.
class thread_watch : public thread_subscriber {
public:
  struct question {
    std::string turn_id;
    std::uint64_t seq = 0;                      ///< of the event in which it was asked
    std::int64_t unix_ms = 0;                   ///< likewise
    std::shared_ptr<const review_request> what; ///< never null
  };

  void on_event(const thread_event_ptr& event) override;
  /// `hear` is told the id of every turn that ends, and how.
  using turn_hearer = std::function<void(const std::string&, thread_events::turn_ending)>;
  void on_turn_end(turn_hearer hear) { turn_ended_ = std::move(hear); }

  [[nodiscard]] bool active() const noexcept { return !running_.empty(); }
  [[nodiscard]] bool waits_for_approval() const noexcept { return !questions_.empty(); }
  [[nodiscard]] const std::string& open_turn() const noexcept { return turn_; }
  [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_seq_; }
  /// By review id; oldest first.
  [[nodiscard]] std::vector<question> questions() const;
  [[nodiscard]] const question* find_question(const std::string& review_id) const;

private:
  std::set<std::string> running_;
  std::map<std::string, question> questions_;
  std::vector<std::string> order_; ///< of the questions
  std::string turn_;
  turn_hearer turn_ended_;
  std::uint64_t last_seq_ = 0;
};

} // namespace gatehouse::actors
