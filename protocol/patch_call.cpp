#include "protocol/patch_call.hpp"

#include "protocol/shell_quote.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <set>

namespace gatehouse {
namespace {

char letter_of(change_kind what) {
  switch (what) {
  case change_kind::add: return 'A';
  case change_kind::update:
  case change_kind::move: return 'M';
  case change_kind::remove: return 'D';
  }
  return 'M';
}

} // namespace

std::string_view to_string(change_kind k) noexcept {
  switch (k) {
  case change_kind::add: return "add";
  case change_kind::update: return "update";
  case change_kind::remove: return "delete";
  case change_kind::move: return "move";
  }
  return "update";
}

std::vector<std::string> touched_paths(std::span<const file_change> changes) {
  std::vector<std::string> paths;
  std::set<std::string_view> seen;
  for (const auto& change : changes)
    for (const auto* path : {&change.from, &change.path})
      if (!path->empty() && seen.insert(*path).second) paths.push_back(*path);
  return paths;
}

std::vector<file_change> committed_changes(const patch_call& call, const patch_progress& progress) {
  const auto count = std::min(progress.operations, call.changes.size());
  std::vector<file_change> done{call.changes.begin(),
                                call.changes.begin() + static_cast<std::ptrdiff_t>(count)};
  if (progress.source_is_left && count < call.changes.size()) {
    auto half = call.changes[count];
    half.what = change_kind::update;
    half.from.clear();
    done.push_back(std::move(half));
  }
  return done;
}

std::string describe(std::span<const file_change> changes) {
  constexpr std::size_t most_named = 100;
  std::string text;
  for (const auto& change : changes.first(std::min(changes.size(), most_named))) {
    if (!text.empty()) text += ", ";
    text += to_string(change.what);
    text += " ";
    if (change.what == change_kind::move) text += shell_quote(change.from) + " to ";
    text += shell_quote(change.path);
  }
  if (changes.size() > most_named)
    text += " and " + std::to_string(changes.size() - most_named) + " more files";
  return text;
}

std::string success_summary(std::span<const file_change> changes) {
  std::string text = "Success. Updated the following files:\n";
  for (char letter : {'A', 'M', 'D'})
    for (const auto& change : changes)
      if (letter_of(change.what) == letter)
        text += std::string{letter} + " " + visible_words(change.shown) + "\n";
  return text;
}

} // namespace gatehouse
