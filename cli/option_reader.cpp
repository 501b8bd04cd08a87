#include "cli/option_reader.hpp"

#include "cli/help_text.hpp"
#include "cli/output.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>

namespace gatehouse::cli {
namespace {

failure_document document_for(const command_spec& command, bool asked) {
  if (!asked) return failure_document::none;
  return command.has_reports ? failure_document::report : failure_document::failure;
}

constexpr option_spec help{.name = "--help", .short_name = "-h"};

bool goes_by(const option_spec& option, std::string_view word) {
  return option.name == word || (!option.short_name.empty() && option.short_name == word);
}

/// Where a value should stand this tells that it was forgotten.
bool is_word_of_ours(std::string_view word, const command_spec& command) {
  return word == "--" || goes_by(help, word) ||
         std::ranges::any_of(command.options,
                             [&](const option_spec& one) { return goes_by(one, word); });
}

} // namespace

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

reading read_words(arguments given, const command_spec& command) {
  reading read;
  std::size_t at = 0;
  for (; at < given.size(); ++at) {
    const std::string_view word{given[at]};
    if (word == "--") {
      ++at;
      break;
    }
    if (!word.starts_with('-') || word == "-") {
      if (command.rest == value_kind::command) break;
      read.words.rest_.emplace_back(word);
      continue;
    }
    const auto equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    const auto name = word.substr(0, equals);
    const auto is_it = [&](const option_spec& o) { return goes_by(o, name); };
    const auto found = std::ranges::find_if(command.options, is_it);
    const option_spec* option = found != command.options.end() ? &*found : nullptr;
    if (!option && is_it(help)) option = &help;
    if (!option && command.unknown_begins_rest) break;
    const auto wrong = [&](const std::string& what) {
      if (!read.wrong)
        read.wrong = error{errc::invalid_request, "`" + std::string{name} + "` " + what, {}};
    };
    read.for_program = read.for_program || name == "--json" || name == "--jsonl";
    if (!option) {
      const auto meant = nearest_option(command, name);
      wrong("is not an option of this command" +
            (meant.empty() ? std::string{} : "; did you mean `" + std::string{meant} + "`?"));
      static constexpr option_spec unknown{.name = "?"};
      const auto like = std::ranges::find(command.options, meant, &option_spec::name);
      option = like != command.options.end() ? &*like : &unknown;
    } else if (!option->repeatable && read.words.has(option->name)) {
      wrong("is given twice");
    }
    std::string value;
    if (!option->takes_value()) {
      if (equals != std::string_view::npos)
        wrong("takes no value; leave `" + std::string{word.substr(equals)} + "` out");
    } else if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (at + 1 == given.size()) {
      wrong("needs a value");
    } else if (is_word_of_ours(given[at + 1], command)) {
      const std::string next{given[at + 1]};
      wrong("needs a value; where `" + next + "` is meant to be it, write `" +
            std::string{option->name} + "=" + next + "`");
    } else {
      value = given[++at];
    }
    read.words.given_.emplace_back(option->name, std::move(value));
  }
  for (; at < given.size(); ++at)
    read.words.rest_.emplace_back(given[at]);
  return read;
}

result<options> read_options(arguments given, const command_spec& command) {
  auto read = read_words(given, command);
  if (read.wrong) return *std::move(read.wrong);
  return std::move(read.words);
}

command_line open_command_line(std::string_view command, arguments words) {
  const auto* row = find_command(command);
  assert(row);
  auto read = read_words(words, *row);
  tell_failures_as(document_for(*row, read.for_program));
  if (read.wrong) return {std::nullopt, wrong_usage_of(command, *read.wrong)};
  if (read.words.has("--help")) return {std::nullopt, print(help_of(*row)) ? exit_ok : exit_failed};
  if (row->rest == value_kind::none && !read.words.rest().empty())
    return {std::nullopt,
            wrong_usage_of(command, "`" + read.words.rest().front() + "` is one word too many")};
  return {std::move(read.words)};
}

const command_spec& help_words() {
  static constexpr option_spec options[] = {{"--json", {}, "errors as JSON"}};
  static constexpr command_spec words{.name = "help",
                                      .synopsis = {},
                                      .summary = {},
                                      .about = {},
                                      .options = options,
                                      .rest = value_kind::text,
                                      .statuses = {},
                                      .examples = {}};
  return words;
}

failure_document document_asked_for(arguments given) {
  // What no command is known by may run a program, too.
  static constexpr command_spec unknown{.name = {},
                                        .synopsis = {},
                                        .summary = {},
                                        .about = {},
                                        .rest = value_kind::command,
                                        .statuses = {},
                                        .examples = {}};
  if (given.empty()) return failure_document::none;
  std::string name{given.front()};
  std::size_t words = name.starts_with('-') ? 0 : 1;
  const bool group = std::ranges::any_of(
      commands(), [&](const command_spec& one) { return one.name.starts_with(name + " "); });
  if (group && given.size() > 1 && *given[1] != '-') {
    name += " " + std::string{given[1]};
    words = 2;
  }
  const auto* row = name == "help" ? &help_words() : find_command(name);
  if (!row) row = find_command(nearest_command(name));
  if (!row) row = &unknown;
  return document_for(*row, read_words(given.subspan(words), *row).for_program);
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
