#pragma once

#include "protocol/result.hpp"
#include "protocol/review.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gatehouse {

/// One step of the conversation between user and agent.
struct transcript_entry {
  enum class kind : std::uint8_t { user, assistant, tool_call, tool_result };
  kind who = kind::user;
  std::string tool; ///< tool_call, tool_result: its name
  std::string text;
};

/// How much of a transcript the automatic reviewer reads. In tokens, taken as four bytes each.
struct transcript_budget {
  std::size_t messages = 10'000; ///< of user and assistant together
  std::size_t tools = 10'000;
  std::size_t one_message = 2'000;
  std::size_t one_tool = 1'000;
  std::size_t recent = 40; ///< entries that are not the user's
};

/// The part of a transcript that fits (§48a): the user's first words always, then their last, then
/// their other words from the newest back, then all else from the newest back. One line each, as
/// `[n] who: "text as JSON"`, in the order of the conversation, so that no text can pass for
/// another entry or for the end of the transcript; a line says what was left out.
std::string compact_transcript(std::span<const transcript_entry> entries,
                               const transcript_budget& budget = {});

/// The action under review as JSON, its keys sorted: exactly what would run.
/// Errors: errc::too_large above 64 KiB, errc::invalid_request when a part is no UTF-8. A reviewer
/// that cannot be shown the whole action is not asked about it.
result<std::string> planned_action(const review_request& question);

/// The whole question to the automatic reviewer.
/// @param boundary what the sandbox of this session keeps from the command, in a few words
/// Errors as for planned_action.
result<std::string> guardian_prompt(const review_request& question,
                                    std::span<const transcript_entry> transcript,
                                    std::string_view boundary);

/// What an external reviewer reads: `{"review_id","prompt","answer_schema"}` and a newline.
std::string encode_guardian_question(std::string_view review_id, std::string_view prompt);

} // namespace gatehouse
