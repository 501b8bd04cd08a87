#include "policy/command_words.hpp"
#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>

/// What make and cmake are told to run.
namespace gatehouse::policy::shell {
namespace {

/// Variables of make that name a program.
constexpr std::string_view make_programs =
    "AR AS CC CPP CXX FC INSTALL LD LEX MAKE PAGER RM SHELL STRIP YACC";

} // namespace

std::string makefile_commands(std::string_view text) {
  std::string commands;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    const auto recipe = line.find(line.starts_with('\t') ? '\t' : ';');
    if (recipe != std::string_view::npos) {
      auto command = line.substr(recipe + 1);
      command.remove_prefix(std::min(command.find_first_not_of(" \t@+-"), command.size()));
      commands += std::string(command) + "\n";
    }
    constexpr std::string_view call = "shell";
    for (auto found = line.find(call); found != std::string_view::npos;
         found = line.find(call, found + 1)) {
      const auto before = line.substr(0, found);
      const auto command = line.substr(found + call.size());
      const bool is_call = before.ends_with("$(") || before.ends_with("${");
      if (!is_call || command.find_first_of(" \t") != 0) continue;
      commands +=
          std::string(command.substr(1, command.rfind(before.back() == '(' ? ')' : '}') - 1));
      commands += '\n';
    }
  }
  return commands;
}

void analyzer::makefile(words all, const context& at) {
  bool from_input = false;
  bool from_file = false;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& text = all[i].text;
    const auto variable = assigned_name(text);
    if (lists_word(make_programs, variable)) {
      auto value = all[i];
      value.text.erase(0, value.text.find('=') + 1);
      if (!is_shell_name(base_name(value.text))) script_word(value, "make", at);
    } else if (auto made = option_value(all, i, "E", "eval")) {
      made->text = makefile_commands(made->text);
      script_word(*made, "make", at);
    } else if (auto file = option_value(all, i, "f", "file makefile")) {
      from_input = from_input || file->text == "-" || is_input_path(file->text);
      from_file = true;
      runs_file(text_kind::make, {&*file, 1}, "make", at);
      if (file->is_process && at.reading != nullptr) {
        word printed;
        printed.text = makefile_commands(printed_text(*at.reading, file->process, printed.known));
        script_word(printed, "make", at);
      }
    } else if (const auto equals = text.find('='); equals != std::string::npos) {
      auto value = all[i];
      const bool runs = equals > 0 && text[equals - 1] == '!'; // NAME!=COMMAND
      value.text = runs ? text.substr(equals + 1) : makefile_commands(text.substr(equals + 1));
      if (!value.text.empty()) script_word(value, "make", at);
    }
  }
  if (!from_file)
    for (const std::string_view file : {"GNUmakefile", "makefile", "Makefile"}) {
      const word usual{.text = std::string(file)};
      runs_file(text_kind::make, {&usual, 1}, "make", at);
    }
  if (!from_input) return;
  auto input = input_text(at);
  if (!input) return;
  input->text = makefile_commands(input->text);
  script_word(*input, "make", at);
}

/// `cmake -E chdir FOLDER COMMAND`, `cmake -DCMAKE_C_COMPILER=PROGRAM`.
void analyzer::cmake(words all, const context& at) {
  if (all.size() > 2 && all[1].text == "-E") {
    const bool moves = all[2].text == "chdir" && all.size() > 3;
    if (moves) note_folder(all[3]);
    return inner_command(all.subspan(moves ? 4 : 2), true, "cmake", at);
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    auto setting = option_value(all, i, "D", "");
    if (!setting) continue;
    const auto equals = setting->text.find('=');
    const auto key = std::string_view{setting->text}.substr(0, setting->text.find_first_of(":="));
    if (equals == std::string::npos || !names_cmake_program(key)) continue;
    setting->text.erase(0, equals + 1);
    std::replace(setting->text.begin(), setting->text.end(), ';', ' '); // a list
    script_word(*setting, "cmake", at);
  }
}

} // namespace gatehouse::policy::shell
