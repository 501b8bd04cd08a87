#include "protocol/ascii_text.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/patch.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace gatehouse {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

struct file_line {
  std::string_view text;
  std::string_view ending; ///< "\n", "\r\n", "\r", or empty for an unfinished last line
};

/// A lone CR ends a line only where the file knows no LF: elsewhere it is content.
std::vector<file_line> split(std::string_view content) {
  const bool lone_cr = content.find('\n') == std::string_view::npos;
  std::vector<file_line> lines;
  while (!content.empty()) {
    const auto end = content.find(lone_cr ? '\r' : '\n');
    if (end == std::string_view::npos) {
      lines.push_back({content, {}});
      break;
    }
    std::size_t begin_of_ending = end;
    if (!lone_cr && end > 0 && content[end - 1] == '\r') --begin_of_ending;
    lines.push_back({content.substr(0, begin_of_ending),
                     content.substr(begin_of_ending, end + 1 - begin_of_ending)});
    content.remove_prefix(end + 1);
  }
  return lines;
}

constexpr std::string_view blank = " \t\r\f\v";

/// Typographic characters that editors and models exchange for ASCII, and the ASCII they stand for.
constexpr std::array<std::pair<std::string_view, char>, 28> typographic{{
    {"\u2010", '-'},  {"\u2011", '-'}, {"\u2012", '-'},  {"\u2013", '-'},  {"\u2014", '-'},
    {"\u2015", '-'},  {"\u2212", '-'}, {"\u2018", '\''}, {"\u2019", '\''}, {"\u201A", '\''},
    {"\u201B", '\''}, {"\u201C", '"'}, {"\u201D", '"'},  {"\u201E", '"'},  {"\u201F", '"'},
    {"\u00A0", ' '},  {"\u2002", ' '}, {"\u2003", ' '},  {"\u2004", ' '},  {"\u2005", ' '},
    {"\u2006", ' '},  {"\u2007", ' '}, {"\u2008", ' '},  {"\u2009", ' '},  {"\u200A", ' '},
    {"\u202F", ' '},  {"\u205F", ' '}, {"\u3000", ' '},
}};

std::string fold(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto known = std::find_if(typographic.begin(), typographic.end(), [&](const auto& entry) {
      return text.substr(i).starts_with(entry.first);
    });
    if (known == typographic.end()) {
      folded += text[i++];
    } else {
      folded += known->second;
      i += known->first.size();
    }
  }
  return std::string{trimmed(folded, blank)};
}

/// From exact to tolerant: a later pass is tried only where the earlier ones find nothing.
enum class tolerance { exact, trailing_space, outer_space, typography };
constexpr std::array all_tolerances{tolerance::exact, tolerance::trailing_space,
                                    tolerance::outer_space, tolerance::typography};

std::string normalise(std::string_view text, tolerance how) {
  switch (how) {
  case tolerance::exact: return std::string{text};
  case tolerance::trailing_space:
    return std::string{text.substr(0, text.find_last_not_of(blank) + 1)};
  case tolerance::outer_space: return std::string{trimmed(text, blank)};
  case tolerance::typography: return fold(text);
  }
  return std::string{text};
}

struct match {
  std::size_t at = 0;
  tolerance how = tolerance::exact;
};

class matcher {
public:
  explicit matcher(const std::vector<file_line>& lines) : lines_{lines} {}

  /// The first place at or after `from` where `wanted` stands; only the end when `at_end`.
  std::optional<match> find(std::span<const std::string_view> wanted, std::size_t from,
                            bool at_end) {
    if (wanted.size() > lines_.size()) return std::nullopt;
    const auto last = lines_.size() - wanted.size();
    const auto first = at_end ? std::max(from, last) : from;
    for (auto how : all_tolerances) {
      std::vector<std::string> needles;
      for (auto text : wanted)
        needles.push_back(normalise(text, how));
      for (auto at = first; at <= last; ++at)
        if (stands_at(needles, at, how)) return match{at, how};
    }
    return std::nullopt;
  }

private:
  bool stands_at(const std::vector<std::string>& needles, std::size_t at, tolerance how) {
    const auto& haystack = normalised(how);
    return std::equal(needles.begin(), needles.end(),
                      haystack.begin() + static_cast<std::ptrdiff_t>(at));
  }

  /// Made once for each tolerance: large files with many chunks stay linear.
  const std::vector<std::string>& normalised(tolerance how) {
    auto& cache = caches_[static_cast<std::size_t>(how)];
    if (cache.empty())
      for (const auto& line : lines_)
        cache.push_back(normalise(line.text, how));
    return cache;
  }

  const std::vector<file_line>& lines_;
  std::array<std::vector<std::string>, all_tolerances.size()> caches_;
};

/// Where a chunk's lines go: `count` old lines from `at` are replaced.
struct placement {
  const patch_chunk* chunk = nullptr;
  std::size_t at = 0;
  std::size_t count = 0;
};

std::vector<std::string_view> old_lines(const patch_chunk& chunk) {
  std::vector<std::string_view> old;
  for (const auto& line : chunk.lines)
    if (line.what != patch_line::kind::added) old.push_back(line.text);
  return old;
}

error not_found(const patch_chunk& chunk, std::string_view path, std::string what,
                std::span<const std::string_view> wanted) {
  error failure{errc::invalid_request,
                "patch line " + std::to_string(chunk.line) + ": " + std::move(what) + " in " +
                    json_quote(to_valid_utf8(path)) + ":",
                "read the file again and copy the lines exactly; changes must stand in file order"};
  constexpr std::size_t shown = 5;
  for (std::size_t i = 0; i < std::min(shown, wanted.size()); ++i)
    failure.message += "\n    " + json_quote(to_valid_utf8(wanted[i].substr(0, 160)));
  if (wanted.size() > shown)
    failure.message += "\n    … " + std::to_string(wanted.size() - shown) + " more lines";
  return failure;
}

/// The ending that an inserted line takes: that of the line it replaces, else of the line below,
/// else of the line above.
std::string_view neighbour_ending(const std::vector<file_line>& lines, std::size_t next) {
  if (next < lines.size() && !lines[next].ending.empty()) return lines[next].ending;
  while (next > 0)
    if (const auto ending = lines[--next].ending; !ending.empty()) return ending;
  return "\n";
}

std::string rebuild(const std::vector<file_line>& lines, const std::vector<placement>& places) {
  std::string content;
  bool finished = true; // does `content` end with a line ending?
  std::string_view missing_ending = "\n";
  const auto put = [&](std::string_view text, std::string_view ending, std::size_t near) {
    if (!finished) content += missing_ending;
    content += text;
    content += ending;
    finished = !ending.empty();
    if (!finished) missing_ending = neighbour_ending(lines, near);
  };
  std::size_t next = 0;
  for (const auto& place : places) {
    for (; next < place.at; ++next)
      put(lines[next].text, lines[next].ending, next);
    std::vector<std::string_view> freed; // endings of removed lines not yet given to an added one
    std::size_t given = 0;
    for (const auto& line : place.chunk->lines) {
      switch (line.what) {
      case patch_line::kind::context:
        // A trailing context line may run past the end of the file.
        if (next < place.at + place.count) {
          put(lines[next].text, lines[next].ending, next);
          ++next;
        }
        freed.clear();
        given = 0;
        break;
      case patch_line::kind::removed: freed.push_back(lines[next++].ending); break;
      case patch_line::kind::added: {
        const auto ending = given < freed.size() && !freed[given].empty()
                                ? freed[given]
                                : neighbour_ending(lines, next);
        ++given;
        // Copied from a file of such endings, a CR of the text is the one that the ending has.
        std::string_view text = line.text;
        if (ending.starts_with('\r') && text.ends_with('\r')) text.remove_suffix(1);
        put(text, ending, next);
        break;
      }
      }
    }
  }
  for (; next < lines.size(); ++next)
    put(lines[next].text, lines[next].ending, next);
  if (!finished) content += missing_ending;
  return content;
}

} // namespace

result<patched_text> apply_chunks(std::string_view original, const std::vector<patch_chunk>& chunks,
                                  std::string_view path) {
  const bool marked = original.starts_with(byte_order_mark);
  const auto body = marked ? original.substr(byte_order_mark.size()) : original;
  const auto lines = split(body);
  matcher search{lines};
  std::vector<placement> places;
  patched_text patched;
  std::size_t cursor = 0;
  for (const auto& chunk : chunks) {
    std::optional<std::size_t> below_anchor;
    if (chunk.anchor) {
      const std::string_view anchor = *chunk.anchor;
      const auto found = search.find({&anchor, 1}, cursor, false);
      if (!found) return not_found(chunk, path, "the `@@` line does not stand", {&anchor, 1});
      below_anchor = cursor = found->at + 1;
      if (found->how != tolerance::exact) ++patched.tolerant_matches;
    }
    auto wanted = old_lines(chunk);
    if (wanted.empty()) {
      // An insertion: right below its anchor (§D16), else at the end of the file.
      places.push_back({&chunk, below_anchor.value_or(lines.size()), 0});
      continue;
    }
    auto found = search.find(wanted, cursor, chunk.at_end_of_file);
    if (!found && wanted.back().empty() && wanted.size() > 1) {
      // A blank context line at the end of the chunk may be the end of the file itself.
      wanted.pop_back();
      found = search.find(wanted, cursor, chunk.at_end_of_file);
    }
    if (!found)
      return not_found(chunk, path,
                       chunk.at_end_of_file ? "these lines do not stand at the end"
                                            : "these lines do not stand",
                       wanted);
    if (found->how != tolerance::exact) ++patched.tolerant_matches;
    places.push_back({&chunk, found->at, wanted.size()});
    cursor = found->at + wanted.size();
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const placement& a, const placement& b) { return a.at < b.at; });
  patched.content =
      (marked ? std::string{byte_order_mark} : std::string{}) + rebuild(lines, places);
  return patched;
}

} // namespace gatehouse
