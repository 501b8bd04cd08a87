#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gatehouse {

/// The byte offset of the first byte that is not well-formed UTF-8, or nothing.
std::optional<std::size_t> find_invalid_utf8(std::string_view text) noexcept;

/// `text` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD: for output that
/// must be text. Never use it on something that is judged or run.
std::string to_valid_utf8(std::string_view text);

/// `text`, or when it is longer than `most` bytes its beginning and its end around "…", about as
/// long as that: for quoting what a stranger sent. No character is torn.
std::string abridged(std::string_view text, std::size_t most);

/// How many bytes at the end of `text` (0–3) begin a character that later bytes could complete.
std::size_t incomplete_utf8_suffix(std::string_view text) noexcept;

/// `to_valid_utf8` for text that arrives in chunks: however it is cut, the joined results are what
/// the whole would give, and no character is torn.
class utf8_decoder {
public:
  /// The characters that `chunk` completes; the beginning of one more is kept for the next call.
  std::string decode(std::string_view chunk);
  /// What is left at the end of the text: U+FFFD for each byte of an unfinished character.
  std::string finish();

private:
  std::string begun_;
};

} // namespace gatehouse
