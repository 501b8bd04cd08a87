#pragma once

#include "protocol/rpc/app_words.hpp"

// Questions, answers and profiles of the app dialect. Included by app_fields.hpp.
namespace gatehouse::rpc {

template <>
struct described<app::approval_list_params> {
  static constexpr std::string_view name = "ApprovalListParams";
  static constexpr std::string_view about = "Which questions to list; without `threadId` all.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::approval_list_params::thread_id, "");
  }
};

template <>
struct described<app::asked_because> {
  static constexpr std::string_view name = "AskedBecause";
  static constexpr std::string_view about = "What made a question necessary.";
  template <class V>
  static void fields(V& v) {
    v.field("source", &app::asked_because::source, "");
    v.field("rule", &app::asked_because::rule, "`FILE:LINE` of the rule, or the rule about hosts");
    v.field("segment", &app::asked_because::segment,
            "the part of the command that it is about; left out: all of it");
  }
};

template <>
struct described<app::approval_request> {
  static constexpr std::string_view name = "ApprovalRequest";
  static constexpr std::string_view about =
      "A question to a reviewer about exactly one attempt of one call.";
  template <class V>
  static void fields(V& v) {
    v.field("requestId", &app::approval_request::request_id,
            "id of the question; the same after a reconnect");
    v.field("seq", &app::approval_request::seq,
            "number of the event with which it was first asked; agents are not sent it");
    v.field("threadId", &app::approval_request::thread_id, "");
    v.field("turnId", &app::approval_request::turn_id, "");
    v.field("itemId", &app::approval_request::item_id, "id of the call");
    v.field("kind", &app::approval_request::kind, "");
    v.field("attempt", &app::approval_request::attempt, "1 or 2");
    v.field("environmentId", &app::approval_request::environment_id, "");
    v.field("command", &app::approval_request::command, "as people read it");
    v.field("argv", &app::approval_request::argv, "what runs; of `permissions` empty");
    v.field("cwd", &app::approval_request::cwd, "");
    v.field("startedAtMs", &app::approval_request::started_at_ms, "since when it stands");
    v.field("expiresAtMs", &app::approval_request::expires_at_ms,
            "when it is declined without an answer; left out: it has no such end");
    v.field("reason", &app::approval_request::reason, "why it is asked, in words");
    v.field("why", &app::approval_request::why, "");
    v.field("justification", &app::approval_request::justification, "the model's words");
    v.field("willBeAllowed", &app::approval_request::will_be_allowed,
            "what a yes allows, and what stays forbidden");
    v.field("withoutSandbox", &app::approval_request::without_sandbox,
            "a yes covers leaving the sandbox");
    v.field("actionDigest", &app::approval_request::action_digest,
            "binds the answer to argv, cwd, environment change, tty and permissions");
    v.field("writeTargets", &app::approval_request::write_targets,
            "files that redirections of the command write: absolute where known, else as written");
    v.field("networkTarget", &app::approval_request::network_target,
            "of `network`: protocol, host and port");
    v.field("additionalPermissions", &app::approval_request::additional_permissions,
            "what the command asks for besides what the profile grants");
    v.field("permissions", &app::approval_request::permissions,
            "of `permissions`: what is asked for later commands");
    v.field("proposedExecpolicyAmendment", &app::approval_request::proposed_execpolicy_amendment,
            "the rule that `acceptWithExecpolicyAmendment` adds");
    v.field("availableDecisions", &app::approval_request::available_decisions, "");
  }
};

template <>
struct described<app::approval_list_result> {
  static constexpr std::string_view name = "ApprovalListResult";
  static constexpr std::string_view about = "The questions that stand, oldest first.";
  template <class V>
  static void fields(V& v) {
    v.field("data", &app::approval_list_result::data, "");
  }
};

template <>
struct described<app::approval_resolve_params> {
  static constexpr std::string_view name = "ApprovalResolveParams";
  static constexpr std::string_view about =
      "Answers a question by its id; the first valid answer counts.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::approval_resolve_params::thread_id, "");
    v.field("requestId", &app::approval_resolve_params::request_id,
            "id of the question; the same after a reconnect");
    v.field("decision", &app::approval_resolve_params::decision, "one of availableDecisions");
    v.field("actionDigest", &app::approval_resolve_params::action_digest,
            "of the question that was shown");
    v.field("reason", &app::approval_resolve_params::reason, "for the model");
    v.field(
        "permissions", &app::approval_resolve_params::permissions,
        "to a question of the kind `permissions`: give this much and never more than was asked; "
        "left out: all of it");
    v.field("scope", &app::approval_resolve_params::scope,
            "likewise: how long; left out: the turn, or the session with `acceptForSession`");
    v.field("strictAutoReview", &app::approval_resolve_params::strict_auto_review,
            "likewise: the automatic reviewer sees every later call of the turn");
  }
};

template <>
struct described<app::allow_refused_params> {
  static constexpr std::string_view name = "AllowRefusedParams";
  static constexpr std::string_view about =
      "A person says yes to an action that the automatic reviewer has just refused.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::allow_refused_params::thread_id, "");
    v.field("actionDigest", &app::allow_refused_params::action_digest,
            "of the action, from serverRequest/resolved");
  }
};

template <>
struct described<app::approval_answer> {
  static constexpr std::string_view name = "ApprovalAnswer";
  static constexpr std::string_view about = "A client's answer to a request for approval.";
  template <class V>
  static void fields(V& v) {
    v.field("decision", &app::approval_answer::decision,
            "one of availableDecisions; anything else declines. To a question of the kind "
            "`permissions` it may be left out: `permissions` that are not empty then accept");
    v.field("reason", &app::approval_answer::reason, "");
    v.field(
        "permissions", &app::approval_answer::permissions,
        "to a question of the kind `permissions`: give this much and never more than was asked; "
        "left out: all of it");
    v.field("scope", &app::approval_answer::scope,
            "likewise: how long; left out: the turn, or the session with `acceptForSession`");
    v.field("strictAutoReview", &app::approval_answer::strict_auto_review,
            "likewise: the automatic reviewer sees every later call of the turn");
  }
};

template <>
struct described<app::profile_summary> {
  static constexpr std::string_view name = "ProfileSummary";
  static constexpr std::string_view about = "A permission profile that can be named.";
  template <class V>
  static void fields(V& v) {
    v.field("id", &app::profile_summary::id, "");
    v.field("about", &app::profile_summary::about, "");
    v.field("profile", &app::profile_summary::profile, "");
  }
};

template <>
struct described<app::profile_list_result> {
  static constexpr std::string_view name = "ProfileListResult";
  static constexpr std::string_view about = "The permission profiles.";
  template <class V>
  static void fields(V& v) {
    v.field("data", &app::profile_list_result::data, "");
  }
};

} // namespace gatehouse::rpc
