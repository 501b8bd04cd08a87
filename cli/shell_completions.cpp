#include "cli/shell_completions.hpp"

#include "cli/help_text.hpp"
#include "protocol/shell_quote.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace gatehouse::cli {
namespace {

std::string_view first_word(std::string_view name) {
  return name.substr(0, name.find(' '));
}
std::string_view second_word(std::string_view name) {
  const auto space = name.find(' ');
  return space == std::string_view::npos ? std::string_view{} : name.substr(space + 1);
}

/// The first words of all commands, and `help`; the groups have names of their own after them.
std::vector<std::string_view> first_words() {
  std::vector<std::string_view> words;
  for (const auto& command : commands())
    if (words.empty() || words.back() != first_word(command.name))
      words.push_back(first_word(command.name));
  words.push_back("help");
  return words;
}

std::vector<std::string_view> second_words(std::string_view group) {
  std::vector<std::string_view> words;
  for (const auto& command : commands())
    if (first_word(command.name) == group && !second_word(command.name).empty())
      words.push_back(second_word(command.name));
  return words;
}

std::string joined(const std::vector<std::string_view>& words, std::string_view between = " ") {
  std::string out;
  for (const auto word : words)
    out.append(out.empty() ? "" : between).append(word);
  return out;
}

std::string names_of(const option_spec& option, std::string_view between) {
  std::string out{option.name};
  if (!option.short_name.empty()) out.append(between).append(option.short_name);
  return out;
}

/// What follows an option or the options, as the body of a `case` branch of bash.
std::string bash_values(value_kind kind, std::string_view choices) {
  if (!choices.empty())
    return "IFS=$' \\n'; COMPREPLY=($(compgen -W " + shell_quote(std::string{choices}) +
           " -- \"$cur\"))";
  switch (kind) {
  case value_kind::file: return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))";
  case value_kind::folder: return "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\"))";
  case value_kind::command:
    return "if [ \"$rest\" -eq 0 ]; then COMPREPLY=($(compgen -c -- \"$cur\" | sort -u)); "
           "else compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); fi";
  default: return "COMPREPLY=()";
  }
}

/// IFS is a newline there, so that names with spaces stay whole; choices are split by spaces.
std::string bash_script() {
  std::string values;
  std::string switches;
  std::string rest;
  std::string flags;
  for (const auto& command : commands()) {
    const std::string name{command.name};
    std::string all = "--help";
    for (const auto& option : command.options) {
      all.append(" ").append(option.name);
      if (!option.takes_value()) continue;
      for (const auto given : {option.name, option.short_name})
        if (!given.empty())
          values += "    '" + name + ' ' + std::string{given} + "') " +
                    bash_values(option.kind, option.choices) + "; return ;;\n";
    }
    flags += "    '" + name + "') options='" + all + "' ;;\n";
    std::string taking;
    for (const auto& option : command.options)
      if (option.takes_value()) taking += " " + names_of(option, " ");
    switches += "    '" + name + "') with_value='" + taking + " ' ;;\n";
    if (command.rest != value_kind::none)
      rest += "    '" + name + "') " + bash_values(command.rest, command.rest_choices) + " ;;\n";
  }
  std::string groups;
  for (const auto word : first_words())
    if (const auto names = second_words(word); !names.empty())
      groups += "    " + std::string{word} + ") names='" + joined(names) + "' ;;\n";
  return R"(# gatehouse completions bash
_gatehouse() {
  local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} names= options= with_value= rest=0
  local at=2 word IFS=$' \t\n'
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ')" +
         joined(first_words()) + R"( --help --version' -- "$cur"))
    return
  fi
  if [ "$command" = help ]; then
    [ "$COMP_CWORD" -eq 2 ] && COMPREPLY=($(compgen -W ')" +
         joined(first_words()) + R"( exit-status' -- "$cur"))
    return
  fi
  case $command in
)" + groups +
         R"(  esac
  if [ -n "$names" ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then
      COMPREPLY=($(compgen -W "$names --help" -- "$cur"))
      return
    fi
    command="$command ${COMP_WORDS[2]}"
    at=3
  fi
  case $command in
)" + switches +
         R"(  esac
  # Where the options end; what comes then belongs to the command's own words.
  local ended=
  while [ "$at" -lt "$COMP_CWORD" ]; do
    word=${COMP_WORDS[at]}
    if [ -n "$ended" ]; then
      rest=$((rest + 1))
    elif [ "$word" = -- ]; then
      ended=1
    elif [[ $with_value == *" $word "* ]]; then
      at=$((at + 1))
      [ "$at" -eq "$COMP_CWORD" ] && break
    elif [[ $word != -* || $word = - ]]; then
      ended=1
      rest=$((rest + 1))
    fi
    at=$((at + 1))
  done
  if [ -z "$ended" ] && [[ $with_value == *" ${COMP_WORDS[COMP_CWORD-1]} "* ]]; then
    IFS=$'\n'
    case "$command ${COMP_WORDS[COMP_CWORD-1]}" in
)" + values +
         R"(    esac
  fi
  if [ -z "$ended" ] && [[ $cur == -* ]]; then
    case $command in
)" + flags +
         R"(    esac
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi
  IFS=$'\n'
  case $command in
)" + rest +
         R"(  esac
}
complete -F _gatehouse gatehouse
)";
}

/// Text inside the brackets of a zsh description.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out;
}

std::string zsh_action(value_kind kind, std::string_view choices) {
  if (!choices.empty()) {
    std::string escaped; // a colon in a list of choices would begin a description
    for (const char c : choices)
      (c == ':' ? escaped += "\\" : escaped) += c;
    return "(" + escaped + ")";
  }
  switch (kind) {
  case value_kind::file: return "_files";
  case value_kind::folder: return "_files -/";
  default: return " ";
  }
}

std::string zsh_arguments(const command_spec& command) {
  std::string out = "_arguments -S '(- *)'{-h,--help}'[what it does and its options]'";
  for (const auto& option : command.options) {
    const std::string lead = option.repeatable ? "\\*" : "";
    for (const auto name : {option.name, option.short_name}) {
      if (name.empty()) continue;
      out += " \\\n        " + lead + std::string{name} + "'[" + zsh_text(option.help) + "]";
      if (option.takes_value())
        out += ":" + zsh_text(option.value) + ":" + zsh_action(option.kind, option.choices);
      out += "'";
    }
  }
  if (command.rest == value_kind::command)
    out += " \\\n        '(-)1:command: _command_names -e' '*::words:_normal'";
  else if (command.rest != value_kind::none)
    out += " \\\n        '*:" + std::string{command.rest == value_kind::file ? "file" : "word"} +
           ":" + zsh_action(command.rest, command.rest_choices) + "'";
  return out;
}

std::string zsh_described(std::string_view group) {
  std::string out;
  std::set<std::string_view> seen;
  for (const auto& command : commands()) {
    const auto first = first_word(command.name);
    const auto second = second_word(command.name);
    if (group.empty()) {
      if (!seen.insert(first).second) continue;
      out += " '" + std::string{first} + ":" +
             zsh_text(second.empty() ? std::string{command.summary}
                                     : joined(second_words(first), ", ")) +
             "'";
    } else if (first == group) {
      out += " '" + std::string{second} + ":" + zsh_text(command.summary) + "'";
    }
  }
  return out;
}

std::string zsh_script() {
  std::string branches;
  for (const auto& command : commands())
    branches += "    '" + std::string{command.name} + "')\n      " + zsh_arguments(command) +
                "\n      ;;\n";
  std::string groups;
  for (const auto word : first_words())
    if (!second_words(word).empty())
      groups += "    " + std::string{word} +
                ")\n      if (( CURRENT == 3 )); then\n"
                "        names=(" +
                zsh_described(word) +
                ")\n"
                "        _describe -t commands 'command' names\n        return\n      fi\n"
                "      command=\"$words[2] $words[3]\"; skip=2 ;;\n";
  return R"(#compdef gatehouse
# gatehouse completions zsh
_gatehouse() {
  local -a names
  local command=$words[2] skip=1
  if (( CURRENT == 2 )); then
    names=()" +
         zsh_described({}) + R"( 'help:how a command is used, and the exit statuses')
    _describe -t commands 'command' names
    return
  fi
  case $command in
    help)
      names=()" +
         zsh_described({}) + R"( 'exit-status:what each status means')
      _describe -t commands 'command' names
      return ;;
)" + groups +
         R"(  esac
  shift skip words
  (( CURRENT -= skip ))
  case $command in
)" + branches +
         R"(  esac
}
if [[ $funcstack[1] = _gatehouse ]]; then
  _gatehouse "$@"
else
  compdef _gatehouse gatehouse
fi
)";
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_values(value_kind kind, std::string_view choices) {
  if (!choices.empty()) return " -x -a " + fish_quoted(choices);
  switch (kind) {
  case value_kind::file: return " -r -F";
  case value_kind::folder: return " -x -a '(__fish_complete_directories)'";
  default: return " -x";
  }
}

std::string fish_script() {
  std::string out = R"(# gatehouse completions fish
# Are the words before the cursor this command, still within its options?
function __gatehouse_at
  set -l given (commandline -opc)
  test (count $given) -gt (count $argv); or return 1
  contains -- -- $given; and return 1
  for at in (seq (count $argv))
    set -l next (math $at + 1)
    test "$given[$next]" = "$argv[$at]"; or return 1
  end
end
function __gatehouse_before
  test (count (commandline -opc)) -eq (math (count $argv) + 1); and __gatehouse_at $argv
end
complete -c gatehouse -f
complete -c gatehouse -n 'test (count (commandline -opc)) -eq 1' -l version -d 'which one this is'
)";
  std::set<std::string_view> seen;
  const auto offer = [&](const std::string& when, std::string_view word, std::string_view about) {
    out += "complete -c gatehouse -n " + fish_quoted(when) + " -a " + std::string{word} + " -d " +
           fish_quoted(about) + "\n";
  };
  for (const auto& command : commands()) {
    const std::string name{command.name};
    const auto first = first_word(name);
    const auto second = second_word(name);
    if (seen.insert(first_word(command.name)).second)
      for (const auto* when : {"test (count (commandline -opc)) -eq 1", "__gatehouse_before help"})
        offer(when, first,
              second.empty() ? std::string{command.summary} : joined(second_words(first), ", "));
    if (!second.empty()) offer("__gatehouse_before " + std::string{first}, second, command.summary);
    const auto line = "complete -c gatehouse -n " + fish_quoted("__gatehouse_at " + name);
    out += line + " -s h -l help -d 'what it does and its options'\n";
    for (const auto& option : command.options) {
      out += line + " -l " + std::string{option.name.substr(2)};
      if (!option.short_name.empty()) out += " -s " + std::string{option.short_name.substr(1)};
      if (option.takes_value()) out += fish_values(option.kind, option.choices);
      out += " -d " + fish_quoted(option.help) + "\n";
    }
    if (!command.rest_choices.empty())
      out += line + " -a " + fish_quoted(command.rest_choices) + "\n";
    else if (command.rest == value_kind::file)
      out += line + " -F\n";
    else if (command.rest == value_kind::command)
      out += "complete -c gatehouse -n " +
             fish_quoted("contains -- -- (commandline -opc); and string match -q -- 'gatehouse " +
                         name + " *' (commandline -cp)") +
             " -x -a '(__gatehouse_command)'\n";
  }
  offer("test (count (commandline -opc)) -eq 1", "help", "how a command is used");
  offer("__gatehouse_before help", "exit-status", "what each status means");
  return out + R"(# Completes the words after -- as a command line of their own.
function __gatehouse_command
  set -l given (commandline -opc) (commandline -ct)
  set -l at (contains -i -- -- $given); or return
  complete -C (string join ' ' -- $given[(math $at + 1)..-1])
end
)";
}

} // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return {};
}

} // namespace gatehouse::cli
