#include "cli/option_reader.hpp"

#include "cli/help_text.hpp"
#include "cli/output.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>

namespace gatehouse::cli {

bool options::has(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(), [&](const auto& o) { return o.first == name; });
}

std::optional<std::string> options::value(std::string_view name) const {
  for (const auto& [given, text] : given_)
    if (given == name) return text;
  return std::nullopt;
}

std::vector<std::string> options::values(std::string_view name) const {
  std::vector<std::string> texts;
  for (const auto& [given, text] : given_)
    if (given == name) texts.push_back(text);
  return texts;
}

result<std::optional<std::uint64_t>>
options::whole_number(std::string_view name, std::uint64_t least, std::uint64_t most) const {
  const auto text = value(name);
  if (!text) return std::optional<std::uint64_t>{};
  std::uint64_t number = 0;
  const auto* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < least || number > most)
    return error{errc::invalid_request,
                 std::string{name} + " takes a whole number from " + std::to_string(least) +
                     " to " + std::to_string(most) + ", not '" + *text + "'",
                 {}};
  return std::optional{number};
}

result<std::optional<std::chrono::milliseconds>> time_limit_of(const options& given) {
  const auto ms = given.whole_number("--timeout-ms", 1, std::numeric_limits<std::uint32_t>::max());
  if (!ms) return ms.error();
  if (!*ms) return std::optional<std::chrono::milliseconds>{};
  return std::optional{std::chrono::milliseconds{**ms}};
}

result<options> read_options(arguments given, const command_spec& command) {
  static constexpr option_spec help{.name = "--help", .short_name = "-h"};
  options read;
  std::size_t at = 0;
  for (; at < given.size(); ++at) {
    const std::string_view word{given[at]};
    if (word == "--") {
      ++at;
      break;
    }
    if (!word.starts_with('-') || word == "-") {
      if (command.rest == value_kind::command) break;
      read.rest_.emplace_back(word);
      continue;
    }
    const auto equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    const auto name = word.substr(0, equals);
    const auto is_it = [&](const option_spec& o) {
      return o.name == name || (!o.short_name.empty() && o.short_name == name);
    };
    const auto found = std::ranges::find_if(command.options, is_it);
    const option_spec* option = found != command.options.end() ? &*found : nullptr;
    if (!option && is_it(help)) option = &help;
    const auto wrong = [&](const std::string& what) {
      return error{errc::invalid_request, "`" + std::string{name} + "` " + what, {}};
    };
    if (!option) {
      const auto meant = nearest_option(command, name);
      return wrong(
          "is not an option of this command" +
          (meant.empty() ? std::string{} : "; did you mean `" + std::string{meant} + "`?"));
    }
    if (!option->repeatable && read.has(option->name)) return wrong("is given twice");
    std::string value;
    if (!option->takes_value()) {
      if (equals != std::string_view::npos) return wrong("takes no value");
    } else if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (at + 1 < given.size()) {
      value = given[++at];
    } else {
      return wrong("needs a value");
    }
    read.given_.emplace_back(option->name, std::move(value));
  }
  for (; at < given.size(); ++at)
    read.rest_.emplace_back(given[at]);
  return read;
}

command_line open_command_line(std::string_view command, arguments words) {
  const auto* row = find_command(command);
  assert(row);
  auto read = read_options(words, *row);
  const bool json = read ? read->has("--json") || read->has("--jsonl") : asks_for_json(words);
  tell_failures_as(!json              ? failure_document::none
                   : row->has_reports ? failure_document::report
                                      : failure_document::failure);
  if (!read) return {std::nullopt, wrong_usage_of(command, read.error())};
  if (read->has("--help")) return {std::nullopt, print(help_of(*row)) ? exit_ok : exit_failed};
  if (row->rest == value_kind::none && !read->rest().empty())
    return {std::nullopt,
            wrong_usage_of(command, "`" + read->rest().front() + "` is one word too many")};
  return {*std::move(read)};
}

bool asks_for_json(arguments words) {
  for (const std::string_view word : words) {
    if (word == "--") return false;
    if (word == "--json" || word == "--jsonl") return true;
  }
  return false;
}

int wrong_usage_of(std::string_view command, std::string_view what) {
  return wrong_usage_of(command, error{errc::invalid_request, std::string{what}, {}});
}

int wrong_usage_of(std::string_view command, const error& what) {
  const auto* row = find_command(command);
  assert(row);
  return wrong_usage(what, std::string{row->examples[0]} + "\n  all options: gatehouse " +
                               std::string{command} + " --help");
}

} // namespace gatehouse::cli
