#include "config/rule_loader.hpp"

#include "config/text_file.hpp"
#include "policy/amendment.hpp"
#include "protocol/shell_quote.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <sys/stat.h>

namespace gatehouse::config {
namespace {

using policy::rule_file;
using policy::rule_layer;

/// Names of the rule files of a folder, sorted; a missing folder has none.
result<std::vector<std::string>> list_rule_files(const std::string& folder,
                                                 std::vector<std::string>& warnings) {
  std::vector<std::string> names;
  DIR* directory = ::opendir(folder.c_str());
  if (!directory) {
    struct stat about {};
    const int number = errno;
    if (number == ENOENT && ::lstat(folder.c_str(), &about) != 0) return names;
    return error{errc::io, "cannot read the rules folder " + folder + ": " + std::strerror(number),
                 "Make it a readable folder, or remove it."};
  }
  errno = 0;
  while (const auto* entry = ::readdir(directory)) {
    const std::string_view name{entry->d_name};
    if (name.size() > 6 && name.ends_with(".rules")) names.emplace_back(name);
    errno = 0;
  }
  const int number = errno;
  ::closedir(directory);
  if (number != 0)
    return error{errc::io, "cannot read the rules folder " + folder + ": " + std::strerror(number),
                 "Check the disk, then try again."};
  std::sort(names.begin(), names.end());
  std::erase_if(names, [&](const std::string& name) {
    const auto path = folder + "/" + name;
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) return true;
    if (::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode))
      warnings.push_back(path + " is a link: the file it leads to is used");
    return false;
  });
  return names;
}

class loader {
public:
  loader(const loaded_settings& settings, const rule_load_options& options)
      : settings_{settings}, options_{options} {}

  void add_file(const std::string& path, rule_layer layer) {
    auto text = read_text_file(path, policy::largest_rule_file);
    if (text && *text) {
      if (const auto bad = find_invalid_utf8(**text))
        add_unreadable(path, layer, "byte " + std::to_string(*bad) + " is not valid UTF-8");
      else
        add_text(**text, path, layer);
    } else {
      add_unreadable(path, layer, text ? "the file has vanished" : text.error().message);
    }
  }

  result<void> add_folder(const std::string& folder, rule_layer layer) {
    const auto names = list_rule_files(folder, loaded_.warnings);
    if (!names) return names.error();
    for (const auto& name : *names)
      add_file(folder + "/" + name, layer);
    return {};
  }

  loaded_rules finish() {
    auto required = requirements_rule_file(settings_.settings.required);
    if (!required.rules.empty()) files_.push_back(std::move(required));
    loaded_.rules = std::make_shared<const policy::rule_set>(std::move(files_));
    return std::move(loaded_);
  }

private:
  void add_text(const std::string& text, const std::string& path, rule_layer layer) {
    policy::rule_file_options how;
    how.layer = layer;
    how.default_sandbox = settings_.settings.default_rule_sandbox.value;
    how.earlier_gates = gates_;
    how.cwd = options_.cwd;
    auto file = policy::read_rule_file(text, path, how);
    gates_.insert(gates_.end(), file.gates.begin(), file.gates.end());
    for (const auto& problem : file.problems)
      loaded_.warnings.push_back(describe(problem));
    if (!file.problems.empty())
      loaded_.warnings.push_back(path + " is broken: " + what_stays(file) + " until it is mended");
    if (layer == rule_layer::project) drop_allows(file);
    warn_about_broad_allows(file);
    files_.push_back(std::move(file));
  }

  /// What a broken file does all the same.
  static std::string what_stays(const rule_file& file) {
    const auto restricts = [](const auto& rule) { return rule.decision != decision::allow; };
    const bool any =
        std::ranges::any_of(file.rules, restricts) || std::ranges::any_of(file.network, restricts);
    std::string text = "its allow rules are not honoured";
    text += any ? ", the restrictions that could be read stay" : ", no restriction of it was read";
    if (file.unreadable) text += ", and every command that no rule matches asks";
    return text + ",";
  }

  /// `["sh", "-c"]`: whatever the model writes behind it runs outside the sandbox.
  void warn_about_broad_allows(const rule_file& file) {
    if (!file.problems.empty()) return; // none of its allows counts
    for (const auto& rule : file.rules) {
      if (rule.decision != decision::allow || rule.sandbox == policy::rule_sandbox::keep ||
          rule.exact)
        continue;
      std::vector<std::string> prefix;
      for (const auto& alternatives : rule.pattern)
        prefix.push_back(alternatives.front());
      if (policy::is_banned_prefix(prefix))
        loaded_.warnings.push_back(
            rule.where.file + ":" + std::to_string(rule.where.line) + ":" +
            std::to_string(rule.where.column) + ": this allows nearly anything that starts with `" +
            shell_join(prefix) + "`, without the sandbox (add sandbox=\"keep\", or more words)");
    }
  }

  void drop_allows(rule_file& file) {
    const auto dropped =
        std::erase_if(file.rules, [](const auto& r) { return r.decision == decision::allow; }) +
        std::erase_if(file.network, [](const auto& r) { return r.decision == decision::allow; });
    if (dropped > 0)
      loaded_.warnings.push_back(file.file + ": " + std::to_string(dropped) +
                                 " allow rules are not honoured: a project may only tighten (put "
                                 "them into your own rules)");
  }

  void add_unreadable(const std::string& path, rule_layer layer, const std::string& why) {
    rule_file file;
    file.file = path;
    file.layer = layer;
    file.unreadable = true;
    file.problems.push_back({{path, 0, 0}, why, {}});
    files_.push_back(std::move(file));
    loaded_.warnings.push_back("rules of " + path + " cannot be read (" + why +
                               "): commands without a rule will ask until it is mended");
  }

  const loaded_settings& settings_;
  const rule_load_options& options_;
  std::vector<rule_file> files_;
  std::vector<policy::host_gate> gates_;
  loaded_rules loaded_;
};

} // namespace

std::string describe(const policy::rule_problem& problem) {
  std::string text = problem.where.file;
  if (problem.where.line > 0)
    text += ":" + std::to_string(problem.where.line) + ":" + std::to_string(problem.where.column);
  text += ": " + problem.message;
  if (!problem.excerpt.empty()) text += "\n" + problem.excerpt;
  return text;
}

void add_rule_files(const std::string& folder, std::vector<std::string>& paths) {
  paths.push_back(folder);
  std::vector<std::string> ignored;
  if (const auto names = list_rule_files(folder, ignored))
    for (const auto& name : *names)
      paths.push_back(folder + "/" + name);
}

rule_file requirements_rule_file(const requirements& required) {
  rule_file file;
  file.file = required.file;
  file.layer = rule_layer::requirements;
  file.rules = required.rules;
  return file;
}

result<loaded_rules> load_rules(const locations& where, const loaded_settings& settings,
                                const rule_load_options& options) {
  loader all{settings, options};
  const auto& project = settings.project;
  std::vector<std::pair<std::string, rule_layer>> folders;
  if (options.configured) folders.emplace_back(where.system + "/rules", rule_layer::system);
  if (options.configured && options.user_and_project) {
    folders.emplace_back(where.gatehouse_home + "/rules", rule_layer::user);
    if (project.has_folder && project.trusted)
      folders.emplace_back(project.folder + "/rules", rule_layer::project);
  }
  for (const auto& [folder, layer] : folders)
    if (const auto added = all.add_folder(folder, layer); !added) return added.error();
  for (const auto& file : options.files) {
    struct stat about {};
    if (::stat(file.c_str(), &about) != 0)
      return error{errc::not_found,
                   "cannot read the rule file " + file + ": " + std::strerror(errno),
                   "Correct the path after --rules."};
    all.add_file(file, rule_layer::command_line);
  }
  return all.finish();
}

} // namespace gatehouse::config
