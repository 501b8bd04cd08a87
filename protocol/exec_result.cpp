#include "protocol/exec_result.hpp"

#include "protocol/utf8.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse {
namespace {

constexpr std::uint64_t bytes_per_token = 4;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0u) == 0x80;
}

std::string_view whole_beginning(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && bytes < text.size() && continues_character(text[bytes]))
    --bytes;
  return text.substr(0, bytes);
}

std::string_view whole_end(std::string_view text, std::size_t bytes) {
  auto begin = text.size() - std::min(bytes, text.size());
  while (begin < text.size() && continues_character(text[begin]))
    ++begin;
  return text.substr(begin);
}

std::uint64_t line_count(std::string_view text) {
  const auto ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

} // namespace

std::uint64_t token_count(std::uint64_t bytes) noexcept {
  return bytes / bytes_per_token + (bytes % bytes_per_token != 0 ? 1 : 0);
}

truncated_text truncate_to_tokens(std::string_view text, std::uint64_t tokens, std::uint64_t whole,
                                  std::uint64_t omitted_bytes) {
  const auto budget =
      tokens > text.size() / bytes_per_token ? text.size() : tokens * bytes_per_token;
  if (text.size() <= budget) return {std::string{text}, 0};
  auto marker = "…" + std::to_string(token_count(text.size() - budget)) + " tokens truncated…";
  if (tokens == 0) return {std::move(marker), text.size()};
  const auto head = whole_beginning(text, budget / 2);
  const auto tail = whole_end(text, budget - budget / 2);
  std::string out = "Warning: truncated output (original token count: " +
                    std::to_string(token_count(whole > 0 ? whole : text.size())) + ")\n";
  out += omitted_bytes > 0 ? "... " + std::to_string(omitted_bytes) + " bytes omitted ..."
                           : "Total output lines: " + std::to_string(line_count(text));
  out.append("\n\n").append(head).append(marker).append(tail);
  return {std::move(out), text.size() - head.size() - tail.size()};
}

} // namespace gatehouse
