#pragma once

#include "config/layers.hpp"
#include "policy/rules/rule_set.hpp"
#include "protocol/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gatehouse::config {

struct rule_load_options {
  std::vector<std::string> files{}; ///< `--rules`: the command-line layer, in this order
  bool configured = true;           ///< false: none but `files` and requirements
  bool user_and_project = true;     ///< false: system and requirements only, besides `files`
  std::string cwd{};                ///< absolute; for examples with a relative program
};

struct loaded_rules {
  std::shared_ptr<const policy::rule_set> rules;
  std::vector<std::string> warnings; ///< broken files, links, rules that are not honoured
};

/// Reads the rule files of all layers in order (§43): the direct children `*.rules` of each layer's
/// `rules/`, sorted by name; then `--rules` files; then the rules of requirements. A broken file is
/// a warning and keeps its restrictions (§44, §D7); a file that cannot be read makes unmatched
/// commands prompt; a folder that cannot be read, or a `--rules` file that is not there, is an
/// error. A project's allow rules are not honoured: a project may only tighten.
result<loaded_rules> load_rules(const locations& where, const loaded_settings& settings,
                                const rule_load_options& options);

/// Adds `folder` and the rule files in it to `paths`: what a change of its rules would show in.
void add_rule_files(const std::string& folder, std::vector<std::string>& paths);

/// One line of a warning for each problem: "file:line:col: message", then the excerpt.
std::string describe(const policy::rule_problem& problem);

/// Makes the requirements' rules a rule file of their own, to be put last.
policy::rule_file requirements_rule_file(const requirements& required);

} // namespace gatehouse::config
