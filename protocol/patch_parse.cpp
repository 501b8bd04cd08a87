#include "protocol/patch.hpp"

#include "protocol/ascii_text.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/patch_call.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>

namespace gatehouse {
namespace {

constexpr std::string_view begin_marker = "*** Begin Patch";
constexpr std::string_view end_marker = "*** End Patch";
constexpr std::string_view add_header = "*** Add File: ";
constexpr std::string_view delete_header = "*** Delete File: ";
constexpr std::string_view update_header = "*** Update File: ";
constexpr std::string_view move_header = "*** Move to: ";
constexpr std::string_view environment_header = "*** Environment ID: ";
constexpr std::string_view end_of_file_marker = "*** End of File";

constexpr std::string_view example =
    "a patch looks like\n    *** Begin Patch\n    *** Update File: path/to/file\n    @@\n"
    "     unchanged line\n    -old line\n    +new line\n    *** End Patch";

/// Escaped and short enough to stand in a sentence.
std::string quote_for_people(std::string_view text) {
  constexpr std::size_t shown = 120;
  auto quoted = json_quote(to_valid_utf8(text.substr(0, shown)));
  return text.size() > shown ? quoted + "…" : quoted;
}

struct source_line {
  std::string_view text; ///< without its line ending
  int number = 0;
};

/// Splits at LF. A CR before it belongs to the line ending where the patch's first line has one,
/// and behind markers; else it is content.
std::vector<source_line> split_lines(std::string_view text) {
  std::vector<source_line> lines;
  const auto first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const auto first_end = text.find('\n', first);
  const bool crlf =
      first_end != std::string_view::npos && first_end > first && text[first_end - 1] == '\r';
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    const bool marker = line.starts_with("***") || line.starts_with("@@") || line == "\r";
    if (line.ends_with('\r') && (crlf || marker)) line.remove_suffix(1);
    lines.push_back({line, ++number});
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

error bad(int line, std::string what, std::string_view shown) {
  auto message = "patch line " + std::to_string(line) + ": " + std::move(what);
  if (!shown.empty()) message += ", found " + quote_for_people(shown);
  return {errc::invalid_request, std::move(message), std::string{example}};
}

std::string_view header_path(std::string_view line, std::string_view header) {
  return trimmed(line.substr(header.size()));
}

class parser {
public:
  explicit parser(std::string_view text) : lines_{split_lines(text)} {}

  result<patch> run() {
    drop_blank_ends();
    unwrap_heredoc();
    if (lines_.empty()) return bad(1, "the patch is empty", {});
    if (trimmed(lines_.front().text) != begin_marker) return no_patch(lines_.front());
    if (trimmed(lines_.back().text) != end_marker)
      return bad(lines_.back().number, "expected `*** End Patch` as the last line",
                 lines_.back().text);
    end_ = lines_.size() - 1;
    next_ = 1;
    patch parsed;
    if (next_ < end_ && lines_[next_].text.starts_with(environment_header)) {
      parsed.environment_id = header_path(lines_[next_].text, environment_header);
      ++next_;
    }
    while (next_ < end_) {
      auto operation = read_operation();
      if (!operation) return std::move(operation).error();
      if (parsed.operations.size() == most_patch_files)
        return error{errc::too_large,
                     "patch line " + std::to_string(operation->line) + ": more than " +
                         std::to_string(most_patch_files) + " files in one patch",
                     "split the patch"};
      parsed.operations.push_back(std::move(*operation));
    }
    if (parsed.operations.empty())
      return bad(lines_.front().number, "the patch changes no file", {});
    return parsed;
  }

private:
  /// The wrappings that people and models put around a patch, each with its own way out.
  static error no_patch(const source_line& first) {
    auto failure = bad(first.number, "expected `*** Begin Patch`", first.text);
    const auto text = trimmed(first.text);
    std::string_view hint;
    if (text.starts_with("```"))
      hint = "leave the ``` lines out: ";
    else if (text.starts_with('{') || text.starts_with('['))
      hint = "this is JSON: give the text of the patch alone: ";
    else if (text.starts_with("apply") || text.starts_with("<<"))
      hint = "give the text of the patch alone, without the shell's part: ";
    else if (text.starts_with("--- ") || text.starts_with("diff "))
      hint = "a unified diff is not understood: ";
    failure.remedy = std::string{hint} + failure.remedy;
    return failure;
  }

  void drop_blank_ends() {
    while (!lines_.empty() && trimmed(lines_.back().text).empty())
      lines_.pop_back();
    const auto first = std::find_if(lines_.begin(), lines_.end(),
                                    [](const source_line& l) { return !trimmed(l.text).empty(); });
    lines_.erase(lines_.begin(), first);
  }

  void unwrap_heredoc() {
    if (lines_.size() < 2) return;
    const auto opening = trimmed(lines_.front().text);
    if (opening != "<<EOF" && opening != "<<'EOF'" && opening != "<<\"EOF\"") return;
    if (trimmed(lines_.back().text) != "EOF") return;
    lines_.pop_back();
    lines_.erase(lines_.begin());
    drop_blank_ends();
  }

  result<patch_operation> read_operation() {
    const auto header = lines_[next_];
    const auto text = trimmed(header.text);
    patch_operation operation;
    operation.line = header.number;
    std::string_view kind;
    for (auto known : {add_header, delete_header, update_header})
      if (text.starts_with(known)) kind = known;
    if (kind.empty())
      return bad(header.number,
                 "expected `*** Add File: `, `*** Delete File: ` or `*** Update File: `",
                 header.text);
    operation.path = header_path(text, kind);
    if (operation.path.empty()) return bad(header.number, "the header names no file", header.text);
    ++next_;
    if (kind == add_header) return read_added(std::move(operation));
    if (kind == delete_header) {
      operation.what = patch_operation::kind::remove;
      return operation;
    }
    return read_update(std::move(operation));
  }

  result<patch_operation> read_added(patch_operation operation) {
    operation.what = patch_operation::kind::add;
    for (; next_ < end_ && lines_[next_].text.starts_with('+'); ++next_) {
      operation.content += lines_[next_].text.substr(1);
      operation.content += '\n';
    }
    return operation;
  }

  result<patch_operation> read_update(patch_operation operation) {
    operation.what = patch_operation::kind::update;
    if (next_ < end_ && lines_[next_].text.starts_with(move_header)) {
      operation.move_to = header_path(lines_[next_].text, move_header);
      if (operation.move_to->empty())
        return bad(lines_[next_].number, "the header names no file", lines_[next_].text);
      ++next_;
    }
    while (next_ < end_ && !starts_operation(lines_[next_].text)) {
      if (!operation.chunks.empty() && trimmed(lines_[next_].text).empty()) {
        ++next_; // a blank line may stand between chunks
        continue;
      }
      auto chunk = read_chunk(operation.chunks.empty());
      if (!chunk) return std::move(chunk).error();
      operation.chunks.push_back(std::move(*chunk));
    }
    if (operation.chunks.empty())
      return bad(operation.line,
                 "the update of " + quote_for_people(operation.path) +
                     " changes nothing: it needs at least one chunk",
                 {});
    return operation;
  }

  static bool starts_operation(std::string_view line) {
    const auto text = trimmed(line);
    return text.starts_with(add_header) || text.starts_with(delete_header) ||
           text.starts_with(update_header);
  }

  result<patch_chunk> read_chunk(bool first) {
    patch_chunk chunk;
    chunk.line = lines_[next_].number;
    const auto opening = lines_[next_].text;
    if (opening == "@@") {
      ++next_;
    } else if (opening.starts_with("@@ ")) {
      chunk.anchor = std::string{opening.substr(3)};
      ++next_;
    } else if (!first) {
      return bad(chunk.line, "expected `@@` or `@@ LINE` before the next change", opening);
    }
    for (; next_ < end_; ++next_) {
      const auto line = lines_[next_].text;
      if (line == end_of_file_marker) {
        if (chunk.lines.empty())
          return bad(lines_[next_].number, "`*** End of File` before any line of the chunk", line);
        chunk.at_end_of_file = true;
        ++next_;
        break;
      }
      if (line.empty()) {
        chunk.lines.push_back({patch_line::kind::context, {}});
      } else if (line[0] == ' ' || line[0] == '-' || line[0] == '+') {
        const auto kind = line[0] == ' '   ? patch_line::kind::context
                          : line[0] == '-' ? patch_line::kind::removed
                                           : patch_line::kind::added;
        chunk.lines.push_back({kind, std::string{line.substr(1)}});
      } else if (chunk.lines.empty()) {
        return bad(lines_[next_].number, "a line of a change starts with ` `, `-` or `+`", line);
      } else {
        break;
      }
    }
    if (chunk.lines.empty()) return bad(chunk.line, "the chunk has no lines", {});
    return chunk;
  }

  std::vector<source_line> lines_;
  std::size_t next_ = 0;
  std::size_t end_ = 0; ///< index of `*** End Patch`
};

} // namespace

result<patch> parse_patch(std::string_view text) {
  if (text.size() > largest_patch_bytes)
    return error{errc::too_large,
                 "the patch has " + std::to_string(text.size()) + " bytes, more than the " +
                     std::to_string(largest_patch_bytes) + " that are read",
                 "split the patch"};
  const auto nul = text.find('\0');
  const auto broken = find_invalid_utf8(text);
  if (nul != std::string_view::npos || broken) {
    const auto at = std::min(nul, broken ? *broken : nul);
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return error{errc::invalid_request,
                 "patch line " + std::to_string(line) + ": " +
                     (at == nul ? "a NUL character" : "bytes that are no UTF-8"),
                 "a patch is text: write binary files by another way"};
  }
  return parser{text}.run();
}

} // namespace gatehouse
