#include "protocol/denial_message.hpp"

#include "protocol/shell_quote.hpp"

namespace gatehouse {
namespace {

constexpr std::string_view rewording =
    "The same act in other words, through another shell, program or tool, is the same act and "
    "will be refused as well.";

std::string sentence(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n'))
    text.pop_back();
  if (!text.empty() && text.back() != '.' && text.back() != '!' && text.back() != '?') text += '.';
  return text;
}

std::string lines(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (auto part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += '\n';
    out += part;
  }
  return out;
}

/// "The user said no: too risky."
std::string verdict(const review_answer& answer) {
  std::string who;
  switch (answer.reviewer) {
  case reviewer_kind::user: who = "The user"; break;
  case reviewer_kind::guardian: who = "The automatic reviewer"; break;
  case reviewer_kind::hook: who = "A permission hook"; break;
  case reviewer_kind::none: break;
  }
  if (answer.decision == review_decision::timed_out)
    return sentence("No answer came in time" +
                    (answer.reason.empty() ? std::string{} : ": " + answer.reason));
  if (who.empty())
    return answer.reason.empty() ? "It needs an approval, and nobody answered."
                                 : sentence("It needs an approval, but " + answer.reason);
  return sentence(who + " said no" +
                  (answer.reason.empty() ? std::string{} : ": " + answer.reason));
}

} // namespace

std::string describe(const denial& what) {
  switch (what.kind) {
  case denial_kind::file_read: return what.path.empty() ? "reading a file" : "reading " + what.path;
  case denial_kind::file_write:
    return what.path.empty() ? "writing a file" : "writing " + what.path;
  case denial_kind::network:
    return what.host.empty() ? "using the network" : "connecting to " + what.host;
  case denial_kind::system_call: return "a system call";
  }
  return "a system call";
}

std::string policy_refusal_message(const exec_requirement& requirement) {
  std::string_view who = "Refused by policy: ";
  std::string_view way_out =
      "Reach the goal in a way that the rules allow, or tell the user what is needed and why.";
  if (requirement.refused_by == refused_by::handler) {
    who = "Refused before it reached any rule: ";
    way_out = "Call again with sandbox_permissions use_default, which runs inside the sandbox, or "
              "ask the user to widen what this session may do.";
  } else if (requirement.refused_by == refused_by::hook) {
    who = "Refused by a hook of the user: ";
    way_out = "Reach the goal in a way that the hook accepts, or tell the user what is needed and "
              "why.";
  }
  return lines({
      sentence(std::string{who} + (requirement.reason.empty()
                                       ? std::string{"this command is forbidden"}
                                       : requirement.reason)),
      "Nothing was run.",
      way_out,
      rewording,
  });
}

std::string review_refusal_message(const review_request& question, const review_answer& answer) {
  return lines({
      question.tool == "request_permissions"
          ? std::string{"Not granted: the permissions that were asked for."}
          : "Not approved, nothing was run: " + shell_join(question.what.argv),
      question.reason.empty() ? std::string{} : sentence("It was asked because " + question.reason),
      verdict(answer),
      question.without_sandbox ? "Work inside the sandbox (sandbox_permissions use_default), or "
                                 "explain to the user what "
                                 "the command needs and let them decide."
                               : "Choose a way that needs no approval, or explain to the user why "
                                 "this is needed and let "
                                 "them decide.",
      rewording,
  });
}

std::string denial_message(const denial& what) {
  return lines({
      "The sandbox refused " + describe(what) +
          (what.entry.empty() ? "." : " (decided by " + what.entry + ")."),
      "This is the boundary of the session, not a failure of the command.",
      what.remedy.empty() ? std::string_view{"Work inside the boundary, or tell the user what is "
                                             "needed and why."}
                          : std::string_view{what.remedy},
      rewording,
  });
}

std::string retry_refusal_message(const denial& what, const review_request& question,
                                  const review_answer& answer) {
  return lines({
      "The sandbox refused " + describe(what) + ", and a retry " +
          (question.without_sandbox ? "without the sandbox" : "with wider permissions") +
          " was not approved.",
      verdict(answer),
      "What the command did before the denial stands. Work inside the boundary, or tell the user "
      "what is needed and why.",
      rewording,
  });
}

std::string stopped_message(const review_answer& answer) {
  if (answer.reviewer != reviewer_kind::guardian)
    return "The user stopped the turn. Do nothing more until they answer.";
  return lines({sentence("The automatic review stopped the turn: " + answer.reason),
                "Do nothing more until the user answers.", rewording});
}

std::string turn_over_message(std::string_view why) {
  return lines({sentence("Nothing was run: this turn is over, since " + std::string{why}),
                "Do nothing more until the user answers.", rewording});
}

std::string cancelled_message() {
  return "The call was cancelled before it ended.";
}

std::string failure_message(const error& failure) {
  return lines({sentence("The command was not run: " + failure.message),
                failure.remedy.empty() ? std::string{} : sentence("Next: " + failure.remedy)});
}

} // namespace gatehouse
