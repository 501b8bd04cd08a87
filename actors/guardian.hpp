#pragma once

#include "actors/supervised_program.hpp"
#include "protocol/approval_policy.hpp"
#include "protocol/guardian_answer.hpp"
#include "reactor/event_loop.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What came back from wherever the automatic reviewer runs.
struct guardian_reply {
  enum class kind : std::uint8_t { text, timed_out, failed };
  kind what = kind::failed;
  std::string text; ///< its answer, or why there is none
};

/// What an automatic review means (§48a).
struct guardian_result {
  enum class kind : std::uint8_t { allowed, refused, timed_out, unavailable };
  kind what = kind::unavailable;
  std::string reason; ///< for the model and the user

  bool operator==(const guardian_result&) const = default;
};

/// The decision that an opinion allows (§D9): an allow with critical risk, or with high risk and
/// less than medium authorisation, is a refusal.
guardian_result judge_assessment(const guardian_assessment& assessment);

/// As above, from what was received; a malformed answer makes the reviewer unavailable.
guardian_result judge_reply(const guardian_reply& reply);

/// Is the automatic reviewer asked at all (§48, §49)? Under on-request and granular where it is
/// configured; under any policy in strict review.
bool guardian_in_charge(const approval_policy& approval, bool configured, bool strict) noexcept;

/// What the automatic reviewer is asked (protocol/guardian_prompt).
struct guardian_question {
  std::string review_id;
  std::string prompt;
};

/// Carries a question to the automatic reviewer. `done` is called once
/// on the loop and never inside the call; dropping the handle ends the question without an answer.
using guardian_transport = std::function<std::shared_ptr<void>(
    const guardian_question& question, std::function<void(guardian_reply)> done)>;

/// A reviewer that is a program: the question as JSON on standard input, the answer on standard
/// output, exit status 0.
struct guardian_program {
  std::vector<std::string> argv; ///< argv[0] an absolute path
  program_place place;
  std::chrono::milliseconds limit = std::chrono::seconds{90};
};
/// @param loop outlives the transport and its handles
guardian_transport run_guardian_program(reactor::event_loop& loop, guardian_program program);

} // namespace gatehouse::actors
