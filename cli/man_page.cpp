#include "cli/man_page.hpp"

#include "cli/help_text.hpp"

#include <algorithm>

namespace gatehouse::cli {
namespace {

/// Text as troff shows it unchanged.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() || out.back() == '\n')
      if (c == '.' || c == '\'') out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string dashed(std::string_view name) {
  std::string out{name};
  std::ranges::replace(out, ' ', '-');
  return out;
}

std::string title(const std::string& name) {
  return ".TH " + plain(name) + " 1 \"\" \"gatehouse " GATEHOUSE_VERSION "\" \"Gatehouse\"\n";
}

std::string man_entry(const std::string& label, std::string_view text) {
  return ".TP\n.B " + plain(label) + "\n" + plain(text) + "\n";
}

std::string statuses_of(std::string_view wanted) {
  std::string out = ".SH EXIT STATUS\n";
  while (!wanted.empty()) {
    const auto word = wanted.substr(0, wanted.find(' '));
    wanted.remove_prefix(std::min(wanted.size(), word.size() + 1));
    const auto known = std::ranges::find(exit_statuses(), word, &exit_meaning::status);
    if (known != exit_statuses().end()) out += man_entry(std::string{word}, known->meaning);
  }
  return out;
}

} // namespace

std::string man_page_name(const command_spec& command) {
  return "gatehouse-" + dashed(command.name) + ".1";
}

std::string man_page(const command_spec& command) {
  const auto name = "gatehouse " + std::string{command.name};
  auto page = title(dashed(name)) + ".SH NAME\n" + plain(dashed(name)) + " \\- " +
              plain(command.summary) + "\n.SH SYNOPSIS\n.B " + plain(name) + "\n" +
              plain(command.synopsis) + "\n";
  if (!command.about.empty() || !command.notes.empty()) {
    page += ".SH DESCRIPTION\n" + plain(command.about) + (command.about.empty() ? "" : "\n");
    if (!command.notes.empty()) page += ".PP\n" + plain(command.notes) + "\n";
  }
  page += ".SH OPTIONS\n";
  for (const auto& option : command.options) {
    auto text = std::string{option.help} + ".";
    if (option.repeatable) text += " May be given several times.";
    if (!option.choices.empty()) text += " Values: " + std::string{option.choices} + ".";
    page += man_entry(label_of(option), text);
  }
  page += man_entry("-h, --help", "a short form of this page.") + statuses_of(command.statuses) +
          ".SH EXAMPLES\n.nf\n";
  for (const auto& example : command.examples)
    page += plain(example) + "\n";
  return page + ".fi\n.SH SEE ALSO\n.BR gatehouse (1)\n";
}

std::string man_page_of_all() {
  auto page = title("gatehouse") +
              ".SH NAME\ngatehouse \\- a gate between a coding agent and a machine\n"
              ".SH SYNOPSIS\n.B gatehouse\nCOMMAND [options]\n.SH DESCRIPTION\n"
              "Decides which proposed commands become real, builds the boundary they run in, asks "
              "a person where a person is due, and explains every answer.\n.SH COMMANDS\n";
  for (const auto& command : commands())
    page += man_entry("gatehouse " + std::string{command.name}, command.summary);
  page += ".SH EXIT STATUS\nPrograms may count on these.\n";
  for (const auto& one : exit_statuses())
    page += man_entry(std::string{one.status}, one.meaning);
  page += ".SH FILES\n";
  page += man_entry("$GATEHOUSE_HOME, ~/.gatehouse", "the user's configuration, rules and hooks");
  page += man_entry("$XDG_STATE_HOME/gatehouse", "state: audit, tokens, sockets");
  page += man_entry("/etc/gatehouse", "the system's configuration and requirements");
  page += ".SH SEE ALSO\n";
  for (const auto& command : commands())
    page += ".BR gatehouse\\-" + plain(dashed(command.name)) + " (1)\n";
  return page;
}

} // namespace gatehouse::cli
