#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse {

/// How much harm an action could do, in the eyes of the automatic reviewer.
enum class risk_level : std::uint8_t { low, medium, high, critical };
std::string_view to_string(risk_level r) noexcept;

/// How clearly the user has asked for an action, in the eyes of the automatic reviewer.
enum class user_authorization : std::uint8_t { unknown, low, medium, high };
std::string_view to_string(user_authorization a) noexcept;

/// What the automatic reviewer thinks of an action (§48a). An opinion, not yet a decision (§D9).
struct guardian_assessment {
  bool allow = false;
  risk_level risk = risk_level::high;
  user_authorization authorization = user_authorization::unknown;
  std::string rationale;

  bool operator==(const guardian_assessment&) const = default;
};

/// The JSON schema that an answer must fulfil, to be handed to the reviewer.
std::string_view guardian_answer_schema() noexcept;

/// Reads an answer: exactly one JSON object of that schema, with nothing around it. An allow must
/// name its risk; a denial may leave all else out. Anything else is errc::invalid_request with its
/// place, and no answer at all.
result<guardian_assessment> decode_guardian_answer(std::string_view text);

} // namespace gatehouse
