#include "protocol/denial_message.hpp"

#include "protocol/patch_call.hpp"

#include <algorithm>

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

/// What is not known of a command that was to end, and could not be reached.
std::string doubt(const error& failure) {
  return lines({sentence(failure.message), sentence(failure.remedy)});
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
    way_out = "Correct the call as this says, or ask the user to widen what this session may do.";
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
          : "Not approved, nothing was run: " + describe(question.what),
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
      what.kind == denial_kind::network
          ? "This is the boundary of the session. If the command failed for another reason as "
            "well, "
            "its output tells."
          : "This is the boundary of the session, not a failure of the command.",
      what.remedy.empty() ? std::string_view{"Work inside the boundary, or tell the user what is "
                                             "needed and why."}
                          : std::string_view{what.remedy},
      rewording,
  });
}

namespace {

std::string_view refusal_text(network_refusal reason) {
  switch (reason) {
  case network_refusal::not_listed: return "no rule allows this host";
  case network_refusal::denied_by_rule: return "a rule denies this host";
  case network_refusal::denied_by_user: return "a reviewer refused this host";
  case network_refusal::local_address: return "it is not a public address";
  case network_refusal::malformed_host: return "the host is not understood";
  case network_refusal::malformed: return "the request is not understood";
  case network_refusal::not_carried: return "the proxy does not carry this kind of request";
  case network_refusal::names_disagree: return "the request names two different servers";
  case network_refusal::method: return "the network is read-only: the method may change something";
  case network_refusal::tunnel: return "this kind of connection is not carried";
  case network_refusal::unattributed: return "the command it belongs to has ended";
  case network_refusal::question_closed: return "the question about this host was not answered";
  }
  return "no rule allows this host";
}

std::string name_of(const blocked_connection& what) {
  return what.target.host.empty()
             ? "a request that names no host (" + std::string{to_string(what.target.protocol)} + ")"
             : to_string(what.target);
}

std::string way_to(const blocked_connection& what) {
  const auto name = what.target.host.find(':') == std::string::npos ? what.target.host
                                                                    : "[" + what.target.host + "]";
  switch (what.reason) {
  case network_refusal::not_listed:
    return "To reach it, ask the user to allow `" + name + ":" + std::to_string(what.target.port) +
           "` in the profile's network.domains, and say why it is needed.";
  case network_refusal::question_closed:
    return "Run the command again and leave it time until the user has answered.";
  case network_refusal::not_carried:
    return "Ask the proxy for it by HTTP, CONNECT or SOCKS5 CONNECT (HTTP_PROXY, HTTPS_PROXY and "
           "ALL_PROXY lead there), or tell the user what is needed and why.";
  case network_refusal::malformed:
    return "Correct the request, or tell the user what is needed and why.";
  case network_refusal::malformed_host:
  case network_refusal::names_disagree:
    return "Correct the request; spelling a host in another way reaches nothing more.";
  case network_refusal::method:
  case network_refusal::tunnel:
    return "Reach the goal with plain HTTP GET requests, or tell the user what is needed and why.";
  default: return "Reach the goal without this host, or tell the user what is needed and why.";
  }
}

} // namespace

denial denial_of(const blocked_connection& what) {
  denial out;
  out.kind = denial_kind::network;
  out.host = to_string(what.target);
  out.entry = what.rule.empty() ? "the network policy: " + std::string{refusal_text(what.reason)}
                                : what.rule;
  out.remedy = (what.detail.empty() ? std::string{} : sentence(what.detail) + " ") + way_to(what);
  return out;
}

std::string blocked_connection_message(const blocked_connection& what) {
  // Here another client is what helps.
  const bool unserved =
      what.reason == network_refusal::malformed || what.reason == network_refusal::not_carried;
  return lines({
      std::string{"Gatehouse blocked "} + (what.target.host.empty() ? "" : "the connection to ") +
          name_of(what) + ": " + std::string{refusal_text(what.reason)} +
          (what.rule.empty() ? "." : " (" + what.rule + ")."),
      what.detail.empty() ? std::string{} : sentence(what.detail),
      unserved ? ""
               : "This is a decision of the session's network policy, not a fault of the network: "
                 "another "
                 "client, another address or a way around the proxy is refused as well.",
      way_to(what),
  });
}

std::string blocked_connections_note(const std::vector<blocked_connection>& blocked) {
  constexpr std::size_t most_shown = 5;
  std::vector<std::string> hosts;
  std::string text;
  for (const auto& what : blocked) {
    const auto host = name_of(what);
    if (std::ranges::find(hosts, host) != hosts.end()) continue;
    hosts.push_back(host);
    if (hosts.size() > most_shown) continue;
    text += "\n- " + host + ": " + std::string{refusal_text(what.reason)} +
            (what.rule.empty() ? "." : " (" + what.rule + ").") +
            (what.detail.empty() ? std::string{} : " " + sentence(what.detail)) + " " +
            way_to(what);
  }
  if (hosts.size() > most_shown)
    text += "\n- and " + std::to_string(hosts.size() - most_shown) + " more.";
  return "The session's network policy refused connections while the command ran, whatever its "
         "exit status says:" +
         text;
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

std::string time_out_message(const attempt_record& attempt) {
  const auto limit = std::to_string(attempt.limit.count()) + " ms";
  if (attempt.failure)
    return "The " +
           (attempt.idle ? "limit of " + limit + " without output or input"
                         : "time limit of " + limit) +
           " was over (exit status 124).\n" + doubt(*attempt.failure);
  return lines({
      "The command was ended by the " +
          (attempt.idle ? "limit of " + limit + " without output or input"
                        : "time limit of " + limit) +
          " (exit status 124). What it had done by then stands.",
      attempt.stopped ? std::string_view{"It stood still when the limit came: a signal had stopped "
                                         "it (SIGSTOP, Ctrl-Z), and nothing let it go on."}
                      : std::string_view{},
      "If it needs longer, give it more time; if it waits for an answer, give it one in advance.",
  });
}

std::string cancelled_message() {
  return "The call was cancelled before it ended.";
}

std::string cancelled_message(const attempt_record& attempt) {
  return cancelled_message() + (attempt.failure ? "\n" + doubt(*attempt.failure) : "");
}

std::string interrupted_message(std::string_view why) {
  return lines({sentence("The call was ended, since " + std::string{why}),
                "Do nothing more until the user answers."});
}

std::string failure_message(const error& failure) {
  return lines({sentence("The command was not run: " + failure.message),
                failure.remedy.empty() ? std::string{} : sentence("Next: " + failure.remedy)});
}

std::string session_failure_message(const error& failure, bool input) {
  return lines({sentence((input ? "Nothing was written to the session: " : "") + failure.message),
                failure.remedy.empty() ? std::string{} : sentence("Next: " + failure.remedy)});
}

std::string cut_message(const attempt_record& attempt) {
  const bool lost = attempt.ending == attempt_ending::lost;
  if (!attempt.failure || !(lost || attempt.ending == attempt_ending::signalled)) return {};
  const auto& [code, what, remedy] = *attempt.failure;
  return lines(
      {sentence((lost ? "What became of the command is not known: " : "The command was killed: ") +
                what),
       remedy.empty() ? std::string{} : sentence("Next: " + remedy)});
}

std::string patch_failure_message(const error& failure) {
  return lines({sentence("The patch was not applied: " + failure.message),
                failure.remedy.empty() ? std::string{} : sentence("Next: " + failure.remedy)});
}

std::string partial_patch_note(const patch_result& patch) {
  if (patch.committed.empty()) return {};
  const bool whole = patch.committed == patch.asked;
  return std::string{whole ? "All of the patch is on disk: "
                           : "This part of the patch is on disk "
                             "and stays: "} +
         describe(patch.committed) +
         (whole ? "." : ".\nMake a patch of the rest; do not repeat these files.");
}

} // namespace gatehouse
