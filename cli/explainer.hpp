#pragma once

#include "actors/session_terms.hpp"
#include "cli/settings_options.hpp"
#include "config/live_rules.hpp"
#include "policy/rules/rule_set.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/explain_json.hpp"
#include "protocol/sandbox_choice.hpp"
#include "sandbox/program_lookup.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace gatehouse::cli {

/// The whole decision about one call (§133a).
struct explanation {
  std::vector<std::string> argv; ///< what would run
  approval_policy approval;
  exec_evaluation evaluation;
  sandbox_summary sandbox;
};

/// Decides without running: configuration and rules are read once and again when their files
/// changed, texts that come in requests are read once each. Not thread-safe.
class explainer {
public:
  /// `start`: see load_for(). The rules are those of all layers and of `options.files`.
  static result<explainer> make(start_point start, config::rule_load_options options);

  /// Errors are about the request (unknown profile, unreadable requirements, …).
  result<explanation> explain(const explain_request& request);

  /// What was seen of the host's programs is looked up again from here on, and configuration and
  /// rules are read again when a file changed. Between two calls all is remembered, so that a batch
  /// of requests looks at each file once. Configuration that cannot be read any more is the error
  /// of every request until it is mended.
  void look_again();

  /// Warnings since the last call: about the configuration first, later about texts of requests.
  std::vector<std::string> take_warnings();

private:
  /// What a request is judged by.
  struct basis {
    config::effective_settings settings;
    std::shared_ptr<const policy::rule_set> rules;
  };

  explainer(start_point start, config::rule_load_options options);

  result<void> refresh();
  result<std::shared_ptr<const basis>> basis_for(const explain_request& request);
  result<actors::session_terms> session_for(const explain_request& request,
                                            const std::shared_ptr<const basis>& by);
  policy::program_facts facts_for(std::span<const std::string> words,
                                  const sandbox::program_search& search);

  /// The rules of `text` alone, or the configured ones when there is none; then requirements.
  result<std::shared_ptr<const policy::rule_set>>
  read_rules(const std::optional<std::string>& text, const config::effective_settings& settings);

  start_point start_;
  config::rule_load_options options_;
  config::live_rules live_;
  result<void> readable_; ///< the error of the last refresh
  std::shared_ptr<const config::rules_in_force> in_force_;
  std::shared_ptr<const basis> configured_;
  std::unordered_map<std::string, std::shared_ptr<const basis>> read_before_;
  /// By what they are judged by, and the request's profile and folder.
  std::map<std::tuple<std::shared_ptr<const basis>, std::string, std::string>,
           actors::session_terms>
      sessions_;
  /// By where it was looked (cwd and writable roots), then by word.
  std::unordered_map<std::string, policy::program_facts> seen_;
  std::shared_ptr<sandbox::path_names> names_ = std::make_shared<sandbox::path_names>();
  std::string shell_;
  std::string path_;
  std::vector<std::string> warnings_;
};

} // namespace gatehouse::cli
