#pragma once

#include "actors/thread.hpp"
#include "reactor/worker_pool.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace gatehouse::actors {

/// Asks a person. Runs on a thread of its own and may block; when the flag becomes true the
/// question is moot, and it must return soon, with any answer.
/// @param why what is said to "why?" (§133a): why_text() of the question
using question_asker = std::function<review_answer(const review_request&, const std::string& why,
                                                   const std::atomic<bool>& withdrawn)>;

/// Answers the questions of a thread through a function that blocks, on a worker (§204).
class asking_client : public thread_subscriber {
public:
  /// `workers` outlives the client.
  asking_client(thread_handle thread, question_asker ask, reactor::worker_pool& workers)
      : thread_{std::move(thread)}, ask_{std::move(ask)}, workers_{workers} {}
  ~asking_client() override;

  void on_event(const thread_event_ptr& event) override;

private:
  void ask(const review_request& question);

  thread_handle thread_;
  question_asker ask_;
  reactor::worker_pool& workers_;
  /// By review id: set when the question is moot.
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> open_;
};

} // namespace gatehouse::actors
