#include "cli/explainer.hpp"

#include "actors/judge.hpp"
#include "actors/patch_intake.hpp"
#include "cli/session_start.hpp"
#include "config/settings_file.hpp"
#include "config/user_shell.hpp"
#include "protocol/profile_json.hpp"

#include <cstdlib>

namespace gatehouse::cli {
namespace {

constexpr std::size_t most_remembered_texts = 256;
constexpr std::size_t most_remembered_places = 16;
constexpr std::size_t most_remembered_words = 4096;
const config::origin from_request{config::layer::command_line, {}, 0};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

} // namespace

explainer::explainer(start_point start, config::rule_load_options options)
    : start_{std::move(start)}, options_{std::move(options)}, live_{start_.where, start_.cwd,
                                                                    start_.command_line, options_},
      shell_{config::user_shell()}, path_{variable("PATH")} {}

result<explainer> explainer::make(start_point start, config::rule_load_options options) {
  explainer made{std::move(start), std::move(options)};
  if (auto read = made.refresh(); !read) return read.error();
  return made;
}

result<void> explainer::refresh() {
  auto now = live_.current();
  if (!now) return now.error();
  if (*now == in_force_) return {};
  in_force_ = std::move(*now);
  start_.loaded = in_force_->settings;
  configured_ = std::make_shared<const basis>(basis{start_.loaded.settings, in_force_->rules});
  read_before_.clear();
  for (auto& warning : live_.take_warnings())
    warnings_.push_back(std::move(warning));
  return {};
}

void explainer::look_again() {
  seen_.clear();
  sessions_.clear();
  readable_ = refresh();
}

std::vector<std::string> explainer::take_warnings() {
  return std::exchange(warnings_, {});
}

result<std::shared_ptr<const policy::rule_set>>
explainer::read_rules(const std::optional<std::string>& text,
                      const config::effective_settings& settings) {
  if (!text) {
    auto as_configured = start_.loaded;
    as_configured.settings = settings;
    auto loaded = config::load_rules(start_.where, as_configured, options_);
    if (!loaded) return loaded.error();
    return std::move(loaded->rules);
  }
  policy::rule_file_options how;
  how.default_sandbox = settings.default_rule_sandbox.value;
  how.cwd = start_.cwd;
  std::vector<policy::rule_file> files{policy::read_rule_file(*text, "rules", how)};
  for (const auto& problem : files.back().problems)
    warnings_.push_back(config::describe(problem));
  files.push_back(config::requirements_rule_file(settings.required));
  return std::make_shared<const policy::rule_set>(std::move(files));
}

result<std::shared_ptr<const explainer::basis>>
explainer::basis_for(const explain_request& request) {
  if (!request.rules && !request.requirements) return configured_;
  // The length in front keeps two pairs of texts from making the same key.
  const auto& rules = request.rules.value_or("");
  auto key = (request.rules ? std::to_string(rules.size()) : "-") + ":" + rules +
             (request.requirements ? "+" + *request.requirements : "");
  if (const auto known = read_before_.find(key); known != read_before_.end()) return known->second;

  basis fresh{configured_->settings, configured_->rules};
  const auto& where = start_.where;
  if (request.requirements) {
    auto read = config::read_requirements(*request.requirements, "requirements", where.user_home);
    if (!read) return read.error();
    for (auto& warning : read->warnings)
      warnings_.push_back(std::move(warning));
    config::apply_requirements(fresh.settings, std::move(read->required),
                               start_.loaded.project.root, where.user_home, warnings_);
  }
  auto judged_by = read_rules(request.rules, fresh.settings);
  if (!judged_by) return judged_by.error();
  fresh.rules = std::move(*judged_by);
  if (read_before_.size() >= most_remembered_texts) read_before_.clear();
  auto shared = std::make_shared<const basis>(std::move(fresh));
  read_before_.emplace(std::move(key), shared);
  return std::shared_ptr<const basis>{std::move(shared)};
}

policy::program_facts explainer::facts_for(std::span<const std::string> words,
                                           const sandbox::program_search& search) {
  auto place = (search.names ? "+" : "-") + search.cwd;
  for (const auto& root : search.writable_roots)
    place += '\0' + root;
  if (seen_.size() >= most_remembered_places) seen_.clear();
  auto& seen = seen_[place];
  if (seen.size() >= most_remembered_words) seen.clear();
  std::vector<std::string> unseen;
  for (const auto& word : words)
    if (!seen.contains(word)) unseen.push_back(word);
  if (!unseen.empty()) seen.merge(sandbox::look_up_programs(unseen, search));
  policy::program_facts facts;
  for (const auto& word : words)
    if (const auto known = seen.find(word); known != seen.end()) facts.insert(*known);
  return facts;
}

/// Its approval policy is the configured one.
result<actors::session_terms> explainer::session_for(const explain_request& request,
                                                     const std::shared_ptr<const basis>& by) {
  const auto* name = std::get_if<std::string>(&request.profile);
  const auto* object = std::get_if<permission_profile>(&request.profile);
  auto profile = name ? "=" + *name : object ? encode_profile(*object) : std::string{};
  std::tuple key{by, std::move(profile), request.cwd};
  if (const auto known = sessions_.find(key); known != sessions_.end()) return known->second;

  start_point at = start_;
  at.loaded.settings = by->settings;
  if (!request.cwd.empty()) at.cwd = request.cwd;
  if (name) {
    at.given_profile.reset();
    at.loaded.settings.default_permissions = {*name, from_request};
  } else if (object) {
    at.given_profile = *object;
  }
  auto terms = session_terms_of(at, shell_);
  if (!terms) return terms;
  if (sessions_.size() >= most_remembered_places) sessions_.clear();
  sessions_.emplace(std::move(key), *terms);
  return terms;
}

result<explanation> explainer::explain(const explain_request& request) {
  if (!readable_) return readable_.error();
  const auto found = basis_for(request);
  if (!found) return found.error();
  auto terms = session_for(request, *found);
  if (!terms) return terms.error();
  if (request.approval)
    terms->approval =
        config::constrain_approval((*found)->settings, {*request.approval, from_request}).value;
  shell_request wish;
  wish.command = request.command;
  wish.login = request.login;
  wish.sandbox_permissions = request.sandbox_permissions;
  wish.additional_permissions = request.additional_permissions;
  wish.prefix_rule = request.prefix_rule;
  auto planned = actors::plan_call(*terms, wish);
  auto& plan = planned.plan;
  plan.what.tty = request.tty;

  explanation answer;
  const auto& rules = *(*found)->rules;
  const sandbox::program_search search{terms->cwd, start_.where.user_home, path_,
                                       sandbox::writable_roots_of(plan.profile, terms->context),
                                       rules.has_restrictive_rules() ? names_ : nullptr};
  const auto facts = [&](std::span<const std::string> words) { return facts_for(words, search); };
  auto patch = actors::take_in_patch(plan, rules, facts, terms->context);
  if (!patch) return patch.error();
  if (*patch) {
    plan = std::move((*patch)->plan);
    answer.evaluation = std::move((*patch)->evaluation);
  } else {
    answer.evaluation = actors::judge(plan, rules, facts);
  }
  if (planned.handler_refusal) answer.evaluation.requirement = *planned.handler_refusal;
  answer.sandbox = actors::call_flow::first_boundary(plan, answer.evaluation.requirement);
  answer.argv = plan.what.argv;
  answer.approval = plan.approval;
  return answer;
}

} // namespace gatehouse::cli
