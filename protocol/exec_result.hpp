#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse {

/// Tokens a text of this many bytes counts as: four bytes each, rounded up.
std::uint64_t token_count(std::uint64_t bytes) noexcept;

/// What one `exec_command` or `write_stdin` tells the model (§118, §122).
struct exec_result {
  std::string chunk_id;              ///< 6 hex digits
  std::chrono::microseconds wall{0}; ///< spent waiting in this call
  std::optional<int> exit_code;      ///< set: the process has ended; 128+n after a signal
  std::optional<int> session_id;     ///< set: it still runs
  std::uint64_t total_bytes = 0;     ///< of this piece, what was left out included
  std::uint64_t omitted_bytes = 0;   ///< of those, what the buffer did not keep
  std::string output;                ///< well-formed UTF-8
};

struct truncated_text {
  std::string text;
  std::uint64_t left_out = 0; ///< bytes of the whole that are not in it
};

/// `text` cut to `tokens`: when it is longer, its beginning and end, never inside a character, with
/// `…N tokens truncated…` between and a warning before.
/// @param whole the bytes as they came, named in the warning as tokens; 0: those of `text`
/// @param omitted_bytes what was already missing from `text`, named in the warning
truncated_text truncate_to_tokens(std::string_view text, std::uint64_t tokens,
                                  std::uint64_t whole = 0, std::uint64_t omitted_bytes = 0);

} // namespace gatehouse
