#include "policy/written_files.hpp"

#include "policy/path_text.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

bool changes_folder(const command_segment& segment) {
  const auto& program = segment.argv.front();
  return program == "cd" || program == "pushd" || program == "popd" || program == "chdir";
}

std::string resolved(const std::string& target, std::string_view cwd, std::string_view home,
                     bool folder_is_known) {
  if (target.empty() || target.find('$') != std::string::npos) return target;
  if (target.front() == '/') return lexically_normal(target);
  if (target.front() == '~') {
    if (home.empty() || (target.size() > 1 && target[1] != '/')) return target;
    return lexically_normal(std::string{home} + target.substr(1));
  }
  return folder_is_known ? absolute_below(cwd, target) : target;
}

} // namespace

std::vector<std::string> written_files(const command_analysis& analysis, std::string_view cwd,
                                       std::string_view home) {
  const bool folder_is_known = std::ranges::none_of(analysis.segments, changes_folder);
  std::vector<std::string> files;
  const auto add = [&](const std::string& target) {
    auto file = resolved(target, cwd, home, folder_is_known);
    if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
  };
  for (const auto& segment : analysis.segments)
    std::ranges::for_each(segment.write_targets, add);
  std::ranges::for_each(analysis.loose_write_targets, add);
  return files;
}

} // namespace gatehouse::policy
