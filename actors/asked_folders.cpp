#include "actors/asked_folders.hpp"

#include "protocol/visible_text.hpp"

#include <cstdlib>
#include <memory>
#include <variant>

#include <sys/stat.h>

namespace gatehouse::actors {
namespace {

folder_identity identity_of(const std::string& path) {
  folder_identity found;
  found.path = path;
  const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr),
                                                         &std::free};
  if (!real) return found;
  found.real_path = real.get();
  struct stat now {};
  if (::stat(real.get(), &now) == 0 && S_ISDIR(now.st_mode)) {
    found.device = now.st_dev;
    found.inode = now.st_ino;
  }
  return found;
}

} // namespace

std::vector<folder_identity> folders_of(const call_plan& plan) {
  if (plan.what.environment_id != "local") return {};
  std::vector<folder_identity> all{identity_of(plan.what.cwd)};
  if (plan.policy_cwd != plan.what.cwd) all.push_back(identity_of(plan.policy_cwd));
  for (const auto& root : plan.workspace_roots)
    if (root != plan.what.cwd && root != plan.policy_cwd) all.push_back(identity_of(root));
  if (plan.what.additional_permissions)
    for (const auto& entry : plan.what.additional_permissions->entries)
      if (const auto* literal = std::get_if<literal_path>(&entry.path))
        all.push_back(identity_of(literal->path));
  return all;
}

std::optional<std::string> other_folder(const std::vector<folder_identity>& asked,
                                        const std::vector<folder_identity>& now) {
  for (std::size_t i = 0; i < asked.size() && i < now.size(); ++i)
    if (asked[i] != now[i])
      return "the folder " + visible_text(asked[i].path) +
             " is another one than when you were asked; look who moves it, and ask again";
  return std::nullopt;
}

} // namespace gatehouse::actors
