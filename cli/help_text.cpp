#include "cli/help_text.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gatehouse::cli {
namespace {

constexpr std::size_t screen_columns = 80;
constexpr std::ptrdiff_t screen_lines = 24;
constexpr std::size_t widest_label = 30;

/// Columns of text that has no wide characters.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned>(c) & 0xc0U) != 0x80U; }));
}

std::string padded(std::string text, std::size_t columns) {
  text.append(columns - std::min(columns, columns_of(text)), ' ');
  return text;
}

/// "  label   text", the text filled beside the label.
std::string entry(const std::string& label, std::string_view text, std::size_t width) {
  const std::size_t indent = width + 4;
  auto line = "  " + padded(label, width);
  line += columns_of(label) > width ? "\n" + std::string(indent, ' ') : "  ";
  return line + filled(text, screen_columns, indent) + "\n";
}

std::string entries(std::string_view group) {
  std::string out;
  for (const auto& command : commands())
    if (command.name.starts_with(group))
      out += entry("gatehouse " + std::string{command.name}, command.summary, 24);
  return out;
}

/// Every command, and every group of them.
std::string one_line_each() {
  std::string out;
  std::string_view group;
  for (const auto& command : commands()) {
    const auto first = command.name.substr(0, command.name.find(' '));
    const auto known = std::ranges::find(command_groups(), first, &command_group::name);
    if (known == command_groups().end())
      out += entry("gatehouse " + std::string{command.name}, command.summary, 24);
    else if (group != first)
      out += entry("gatehouse " + std::string{first} + " …", known->summary, 24);
    group = first;
  }
  return out;
}

std::string words_of(const command_spec& command) {
  return "Exit status: " + std::string{command.statuses} + " (gatehouse help exit-status)\n";
}

/// How many letters one must change, add, leave out or swap with a neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

template <class Range, class Name>
std::string_view nearest(const Range& known, std::string_view given, Name name) {
  constexpr std::size_t longest_word = 64;
  if (given.size() < 3 || given.size() > longest_word) return {};
  std::string_view best;
  std::size_t least = 3;
  for (const auto& one : known)
    if (const auto d = distance(given, name(one)); d < least) {
      least = d;
      best = name(one);
    }
  return best;
}

} // namespace

std::string filled(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t at = indent;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const auto wide = columns_of(word);
    if (at > indent && at + 1 + wide > columns) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    }
    if (at > indent) {
      out += ' ';
      ++at;
    }
    out += word;
    at += wide;
  }
  return out;
}

std::string label_of(const option_spec& option) {
  std::string label;
  if (!option.short_name.empty()) label.append(option.short_name).append(", ");
  label += option.name;
  if (option.takes_value()) label.append(" ").append(option.value);
  if (option.repeatable) label += "…";
  return label;
}

std::string help_of(const command_spec& command) {
  auto text = filled("gatehouse " + std::string{command.name} + " " + std::string{command.synopsis},
                     screen_columns, 4) +
              "\n";
  auto summary = std::string{command.summary} + ".";
  summary.front() = static_cast<char>(summary.front() - (summary.front() >= 'a' ? 'a' - 'A' : 0));
  text += summary + "\n";
  if (!command.about.empty()) text += std::string{command.about} + "\n";
  if (!command.options.empty()) {
    text += "\n";
    std::size_t width = 0;
    for (const auto& option : command.options)
      if (!option.unlisted)
        width = std::max(width, std::min(widest_label, columns_of(label_of(option))));
    for (const auto& option : command.options)
      if (!option.unlisted) text += entry(label_of(option), option.help, width);
  }
  std::string end = words_of(command) + "Examples:\n";
  for (const auto& example : command.examples)
    end += "  " + std::string{example} + "\n";
  const bool fits = std::ranges::count(text + end, '\n') < screen_lines;
  return text + (fits ? "\n" : "") + end;
}

std::string list_of_commands() {
  return "gatehouse: decides, enforces and explains which proposed commands become real.\n\n" +
         one_line_each() +
         "\n`gatehouse COMMAND --help` tells more; `gatehouse --version` which one this is.\n"
         "Examples:\n"
         "  gatehouse run --profile workspace-write -- make test\n"
         "  gatehouse policy explain --shell 'git push --force'\n";
}

std::string list_of_group(std::string_view group) {
  auto text = entries(std::string{group} + " ");
  if (text.empty()) return text;
  return text + "\n`gatehouse " + std::string{group} + " NAME --help` tells more.\n";
}

std::string exit_status_text() {
  std::string text = "Exit statuses of gatehouse; programs may count on them.\n\n";
  for (const auto& one : exit_statuses())
    text += entry(std::string{one.status}, one.meaning, 7);
  text += "\nEach command uses some of them:\n\n";
  for (const auto& command : commands())
    text += entry(std::string{command.name}, command.statuses, 14);
  return text;
}

std::string_view nearest_command(std::string_view given) {
  const auto whole = nearest(commands(), given, [](const command_spec& c) { return c.name; });
  if (!whole.empty()) return whole;
  return nearest(commands(), given,
                 [](const command_spec& c) { return c.name.substr(0, c.name.find(' ')); });
}

std::string_view nearest_option(const command_spec& command, std::string_view given) {
  const auto begun = std::ranges::find_if(command.options, [&](const option_spec& one) {
    return given.size() > 2 && one.name.starts_with(given);
  });
  if (begun != command.options.end()) return begun->name;
  return nearest(command.options, given, [](const option_spec& o) { return o.name; });
}

} // namespace gatehouse::cli
