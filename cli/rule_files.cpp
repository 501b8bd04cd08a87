#include "cli/rule_files.hpp"

#include "cli/output.hpp"
#include "config/locations.hpp"
#include "config/rule_loader.hpp"
#include "config/text_file.hpp"
#include "protocol/utf8.hpp"

#include <unistd.h>

namespace gatehouse::cli {

std::string current_folder() {
  char* path = ::getcwd(nullptr, 0);
  if (!path) return "/";
  std::string text{path};
  std::free(path);
  return text;
}

namespace {

/// Why a file cannot be read, without its path, which stands before every problem of it.
std::string without_path(std::string why, const std::string& path) {
  for (const auto& [with, without] :
       {std::pair{" " + path + ": ", std::string{": "}}, std::pair{path + " is ", std::string{}}})
    if (const auto at = why.find(with); at != std::string::npos)
      return why.replace(at, with.size(), without);
  return why;
}

} // namespace

std::vector<policy::rule_file> read_rule_files(const std::vector<std::string>& paths) {
  std::vector<policy::rule_file> files;
  policy::rule_file_options how;
  how.cwd = current_folder();
  how.home = config::locations_from_environment().user_home;
  for (const auto& path : paths) {
    const auto text = config::read_text_file(path, policy::largest_rule_file);
    std::string why;
    if (!text)
      why = without_path(text.error().message, path);
    else if (!*text)
      why = "the file does not exist";
    else if (const auto bad = find_invalid_utf8(**text))
      why = "byte " + std::to_string(*bad) + " is not valid UTF-8";
    if (why.empty()) {
      files.push_back(policy::read_rule_file(**text, path, how));
      const auto& gates = files.back().gates;
      how.earlier_gates.insert(how.earlier_gates.end(), gates.begin(), gates.end());
    } else {
      policy::rule_file file;
      file.file = path;
      file.unreadable = true;
      file.problems.push_back({{path, 0, 0}, why, {}});
      files.push_back(std::move(file));
    }
  }
  return files;
}

std::optional<error> faults_of(const std::vector<policy::rule_file>& files) {
  error all{errc::invalid_rules,
            {},
            "Correct it; `gatehouse policy test FILE` says when a rule file is well."};
  for (const auto& file : files)
    for (const auto& problem : file.problems)
      all.message += (all.message.empty() ? "" : "\n") + config::describe(problem);
  return all.message.empty() ? std::nullopt : std::optional{std::move(all)};
}

bool complain_about(const std::vector<policy::rule_file>& files) {
  bool any = false;
  for (const auto& file : files)
    for (const auto& problem : file.problems) {
      complain({errc::invalid_rules, config::describe(problem),
                file.unreadable ? "Name a rule file: a plain text file that is there and that you "
                                  "may read."
                                : ""});
      any = true;
    }
  return any;
}

} // namespace gatehouse::cli
