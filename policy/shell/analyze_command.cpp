#include "policy/shell/analyzer.hpp"
#include "policy/shell/segments.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::policy {
namespace {

constexpr std::array<std::string_view, 13> wrapper_shells = {"bash",
                                                             "/bin/bash",
                                                             "/usr/bin/bash",
                                                             "/usr/local/bin/bash",
                                                             "zsh",
                                                             "/bin/zsh",
                                                             "/usr/bin/zsh",
                                                             "/usr/local/bin/zsh",
                                                             "sh",
                                                             "/bin/sh",
                                                             "/usr/bin/sh",
                                                             "/opt/homebrew/bin/bash",
                                                             "/opt/homebrew/bin/zsh"};

} // namespace

bool is_shell_wrapper(std::span<const std::string> argv) noexcept {
  return argv.size() == 3 && (argv[1] == "-c" || argv[1] == "-lc") &&
         std::find(wrapper_shells.begin(), wrapper_shells.end(), argv[0]) != wrapper_shells.end();
}

command_analysis analyze_command(std::span<const std::string> argv) {
  command_analysis analysis;
  shell::analyzer collects(analysis);
  if (argv.empty())
    analysis.unreadable_why = "there is no command";
  else if (is_shell_wrapper(argv))
    collects.outer_script(argv[0], argv[2]);
  else if (!collects.outer_powershell(argv))
    collects.outer_command(argv);
  collects.finish();
  if (analysis.segments.empty() && !argv.empty()) {
    command_segment whole;
    whole.argv.assign(argv.begin(), argv.end());
    whole.origin = segment_origin::opaque;
    analysis.segments.push_back(std::move(whole));
  }
  return analysis;
}

} // namespace gatehouse::policy
