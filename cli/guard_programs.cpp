#include "cli/guard_programs.hpp"

#include "config/hooks.hpp"
#include "protocol/shell_quote.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <sys/stat.h>

namespace gatehouse::cli {

result<std::vector<guard_program>> guard_programs(const config::locations& where,
                                                  const config::effective_settings& settings,
                                                  const std::string& cwd) {
  const auto hooks = config::load_hooks(where);
  if (!hooks) return hooks.error();
  const char* path = std::getenv("PATH");
  const sandbox::command_place here{cwd, path ? path : "", where.user_home};
  std::vector<guard_program> programs;
  for (const auto& hook : *hooks)
    programs.push_back({hook.where, sandbox::files_of_command(hook.command, here)});
  // A link, perhaps, to where commands may write.
  const std::string hooks_file = where.gatehouse_home + "/hooks.json";
  struct stat about {};
  programs.push_back({"hooks.json", sandbox::files_of_command(shell_quote(hooks_file), here),
                      ::lstat(hooks_file.c_str(), &about) == 0 || errno != ENOENT});
  if (const auto& reviewer = settings.auto_review_command.value; !reviewer.empty())
    programs.push_back(
        {"auto_review.command",
         sandbox::files_of_command(shell_join(reviewer), {"/", here.search_path, {}})});
  const auto& endpoint = settings.auto_review_endpoint.value;
  guard_program trusted{"auto_review", {}};
  for (const auto* file : {&endpoint.key_file, &endpoint.ca_file})
    if (!file->empty()) trusted.is.files.push_back(*file);
  if (!trusted.is.files.empty()) programs.push_back(std::move(trusted));
  return programs;
}

} // namespace gatehouse::cli
