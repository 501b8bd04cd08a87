#include "cli/batch_summary.hpp"

#include "protocol/call_report_json.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/utf8.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::cli {
namespace {

/// The kinds of endings that are not fine, the most frequent first.
std::vector<std::pair<std::string, batch_ending>> by_calls(const batch_counts& counts) {
  std::vector<std::pair<std::string, batch_ending>> kinds{counts.not_fine.begin(),
                                                          counts.not_fine.end()};
  std::ranges::stable_sort(kinds, std::greater{}, [](const auto& one) { return one.second.calls; });
  return kinds;
}

} // namespace

std::string batch_summary(const batch_counts& counts) {
  std::string text;
  const auto row = [&](std::string_view name, std::size_t number) {
    if (number > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + std::string{name};
  };
  row("fine", counts.fine);
  row("failed", counts.failed);
  row("refused", counts.refused);
  row("interrupted", counts.interrupted);
  row("not run", counts.not_run);
  std::string table;
  for (const auto& [how, alike] : by_calls(counts)) {
    const auto number = std::to_string(alike.calls);
    table += std::string(number.size() < 8 ? 8 - number.size() : 1, ' ') + number + "  " + how +
             std::string(how.size() < 24 ? 24 - how.size() : 1, ' ');
    for (const auto& id : alike.first)
      table += (&id == &alike.first.front() ? "" : ", ") + visible_words(id);
    table += alike.calls > alike.first.size() ? ", …\n" : "\n";
  }
  if (counts.remembered > 0)
    text += " (" + std::to_string(counts.remembered) + " of them in an earlier run)";
  return table + "batch: " + (text.empty() ? "nothing to do" : text) + "\n";
}

std::string batch_summary_json(const batch_counts& counts, const std::optional<error>& failure,
                               int status) {
  json_writer out;
  const auto number = [&](std::string_view name, std::size_t value) {
    out.key(name);
    out.number(static_cast<std::int64_t>(value));
  };
  out.open('{');
  out.key("summary");
  out.open('{');
  number("calls",
         counts.fine + counts.failed + counts.refused + counts.interrupted + counts.not_run);
  number("fine", counts.fine);
  number("failed", counts.failed);
  number("refused", counts.refused);
  number("interrupted", counts.interrupted);
  number("not_run", counts.not_run);
  number("remembered", counts.remembered);
  out.key("not_fine");
  out.open('[');
  for (const auto& [how, alike] : by_calls(counts)) {
    out.item();
    out.open('{');
    out.field("ending", how);
    number("calls", alike.calls);
    out.key("first");
    out.open('[');
    for (const auto& id : alike.first) {
      out.item();
      out.text(to_valid_utf8(id));
    }
    out.close(']');
    out.close('}');
  }
  out.close(']');
  out.close('}');
  if (failure) {
    out.key("failure");
    out.raw(encode_error(*failure));
  }
  number("exit_status", static_cast<std::size_t>(status));
  out.close('}');
  return std::move(out).take();
}

} // namespace gatehouse::cli
