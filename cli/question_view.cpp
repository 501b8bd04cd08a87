#include "cli/question_view.hpp"

#include "cli/help_text.hpp"
#include "policy/amendment.hpp"
#include "protocol/network.hpp"
#include "protocol/shell_quote.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::cli {
namespace {

/// As much of a patch as a person reads at a terminal; what is left out is said.
std::string first_lines(std::string_view text) {
  constexpr int most_lines = 400;
  constexpr std::size_t most_bytes = 64 * 1024;
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  std::size_t end = 0;
  for (int lines = 0; lines < most_lines && end < std::min(text.size(), most_bytes); ++lines)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  std::string shown{text.substr(0, std::min(end, most_bytes))};
  if (shown.size() < text.size())
    shown += "\n(" + std::to_string(text.size() - shown.size()) +
             " more bytes are not shown here; say no to read them first)";
  return shown;
}

std::string rule_label(const std::vector<std::string>& prefix, bool without_sandbox) {
  const bool leaves = without_sandbox && !policy::keeps_sandbox(prefix);
  return std::string{"yes, and from now on, without a question "} +
         (leaves ? "and by default without the sandbox, " : "but inside the sandbox, ") +
         (policy::needs_exact_rule(prefix) ? "exactly: " : "all that begins with: ") +
         shell_join(prefix);
}
std::string host_label(bool deny, std::string_view target) {
  return (deny ? "no, and never again without a question: "
               : "yes, and from now on, without a question: ") +
         std::string{target};
}
std::string_view yes_label(bool network) {
  return network ? "yes, while this command runs" : "yes, once";
}

/// The agent's own words, unless the reason already ends with them.
std::string unsaid(const std::string& justification, std::string_view reason) {
  return reason.ends_with(justification) ? std::string{} : justification;
}

/// The operations of a patch as it spells them: "Add File: a, Update File: b".
std::string files_of(std::string_view patch) {
  std::string files;
  while (!patch.empty()) {
    const auto line = patch.substr(0, patch.find('\n'));
    patch.remove_prefix(std::min(patch.size(), line.size() + 1));
    if (line.starts_with("*** ") && line.find(": ") != std::string_view::npos)
      files.append(files.empty() ? "" : ", ").append(line.substr(4));
  }
  return files.empty() ? "(names no file)" : files;
}

const json_tree* member(const json_tree& tree, std::string_view name) {
  const auto* object = std::get_if<json_tree::object>(&tree.value);
  if (!object) return nullptr;
  const auto found = std::ranges::find(*object, name, &json_tree::field::name);
  return found == object->end() ? nullptr : &found->value;
}

std::string text_of(const json_tree* tree) {
  const auto* text = tree ? std::get_if<std::string>(&tree->value) : nullptr;
  return text ? *text : std::string{};
}

/// "https://example.org:443", of a decision about a host.
std::string target_of(const json_tree& amendment) {
  auto host = text_of(member(amendment, "host"));
  const auto protocol = text_of(member(amendment, "protocol"));
  const auto* port = member(amendment, "port");
  const auto* number = port ? std::get_if<std::int64_t>(&port->value) : nullptr;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (protocol.empty() ? "" : protocol + "://") + host +
         (number ? ":" + std::to_string(*number) : "");
}

/// The choice that a decision of the endpoint is; key 0 for one that is not known here.
answer_choice choice_of(const std::string& decision, const rpc::app::approval_request& question,
                        bool network) {
  const json_source source{.what = "a decision", .code = errc::invalid_request, .remedy = {}};
  const auto tree = parse_json(decision, source);
  if (!tree) return {0, {}, decision};
  const auto word = text_of(&*tree);
  if (word == "accept") return {'y', std::string{yes_label(network)}, decision};
  if (word == "acceptForSession") return {'s', "yes, for this session", decision};
  if (word == "decline") return {'n', "no", decision};
  if (word == "cancel") return {'q', "no, and stop here", decision};
  if (member(*tree, "acceptWithExecpolicyAmendment") && question.proposed_execpolicy_amendment)
    return {'r', rule_label(*question.proposed_execpolicy_amendment, question.without_sandbox),
            decision};
  if (const auto* host = member(*tree, "applyNetworkPolicyAmendment"))
    if (const auto* rule = member(*host, "network_policy_amendment")) {
      const bool deny = text_of(member(*rule, "action")) == "deny";
      return {deny ? 'd' : 'r', host_label(deny, target_of(*rule)), decision};
    }
  return {0, {}, decision};
}

} // namespace

question_view view_of(const review_request& question) {
  question_view view;
  if (question.what.patch) {
    view.patch_files = describe(question.what.patch->changes);
    view.patch_text = question.what.patch->text;
    view.folder = question.what.patch->cwd;
  } else {
    view.command = shell_join(question.what.argv);
    view.folder = question.what.cwd;
  }
  if (question.what.environment_id != "local") view.machine = question.what.environment_id;
  view.why = question.reason;
  view.says = unsaid(question.what.justification, question.reason);
  view.writes = question.write_targets;
  view.allows = question.will_be_allowed;
  auto& choices = view.choices;
  choices.push_back({'y', std::string{yes_label(question.network.has_value())}, {}});
  if (question.session_offered) choices.push_back({'s', "yes, for this session", {}});
  if (!question.proposed_amendment.empty())
    choices.push_back({'r', rule_label(question.proposed_amendment, question.without_sandbox), {}});
  if (question.network) {
    if (!question.prompt_rule_stands)
      choices.push_back({'r', host_label(false, to_string(*question.network)), {}});
    choices.push_back({'d', host_label(true, to_string(*question.network)), {}});
  }
  choices.push_back({'n', "no", {}});
  choices.push_back({'q', "no, and stop here", {}});
  return view;
}

question_view view_of(const rpc::app::approval_request& question) {
  question_view view;
  if (question.argv.size() == 2 && question.argv.front() == "apply_patch") {
    view.patch_text = question.argv.back();
    view.patch_files = files_of(view.patch_text);
  } else {
    view.command = question.command;
  }
  view.folder = question.cwd;
  if (question.environment_id != "local") view.machine = question.environment_id;
  view.why = question.reason;
  view.says = unsaid(question.justification, question.reason);
  view.writes = question.write_targets;
  view.allows = question.will_be_allowed;
  const bool network = std::ranges::any_of(question.available_decisions, [](const auto& decision) {
    return decision.text.find("applyNetworkPolicyAmendment") != std::string::npos;
  });
  for (const auto& decision : question.available_decisions)
    if (auto choice = choice_of(decision.text, question, network); choice.key != 0)
      view.choices.push_back(std::move(choice));
  return view;
}

std::string question_text(const question_view& question, std::string_view headline,
                          const terminal_look& look) {
  constexpr std::string_view indent = "           ";
  std::string text = "\n" + look.bold(headline) + "\n";
  const auto line = [&](std::string_view head, const std::string& body) {
    text.append("  ").append(look.dim(head)).append(body).append("\n");
  };
  // Words of ours are wrapped; what is judged stays exactly as it is.
  const auto prose = [&](std::string_view body) {
    const auto visible = visible_lines(body, indent);
    return look.columns > 2 * indent.size() && visible.find('\n') == std::string::npos
               ? filled(visible, look.columns, indent.size())
               : visible;
  };
  if (!question.patch_files.empty()) {
    line("patch:   ", visible_lines(question.patch_files, indent));
    line("folder:  ", shell_quote(question.folder));
    line("text:    ", visible_lines(first_lines(question.patch_text), indent));
  } else {
    if (!question.command.empty())
      line("command: ", look.bold(visible_lines(question.command, indent)));
    line("folder:  ", shell_quote(question.folder));
  }
  if (!question.machine.empty()) line("machine: ", visible_lines(question.machine, indent));
  for (const auto& file : question.writes)
    line("writes:  ", visible_lines(file, indent));
  line("why:     ",
       prose(question.why.empty() ? "the approval policy asks about this command" : question.why));
  if (!question.says.empty()) line("it says: ", prose(question.says));
  const auto allows = prose(question.allows);
  line("allows:  ", allows.find("WITHOUT") == std::string::npos ? allows : look.warning(allows));
  for (const auto& choice : question.choices)
    text.append("  ")
        .append(look.bold(std::string{"["} + choice.key + "]"))
        .append(" ")
        .append(visible_lines(choice.label, indent) + "\n");
  return text;
}

std::string question_text(const review_request& question) {
  return question_text(view_of(question), "gatehouse: approval needed", {});
}

} // namespace gatehouse::cli
