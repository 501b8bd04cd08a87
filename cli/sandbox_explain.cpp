#include "cli/sandbox_explain.hpp"

#include "protocol/profile_json.hpp"
#include "sandbox/choose_backend.hpp"
#include "sandbox/landlock_backend.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/seatbelt/seatbelt.hpp"
#include "sandbox/seccomp_filter.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace gatehouse::cli {
namespace {

using lines = std::vector<std::string>;

void add(std::string& out, std::string_view title, const lines& list) {
  if (list.empty()) return;
  out += std::string{title} + ":\n";
  for (const auto& line : list)
    out += "  " + line + "\n";
}

std::string words_of_boundary(const sandbox::mount_step& step) {
  using sandbox::mount_kind;
  switch (step.kind) {
  case mount_kind::read_only_bind: return "read-only " + step.target;
  case mount_kind::writable_bind: return "writable " + step.target;
  case mount_kind::device_bind: return "device " + step.target;
  case mount_kind::devices: return "private devices " + step.target;
  case mount_kind::processes: return "own processes " + step.target;
  case mount_kind::empty_folder: return "empty folder " + step.target;
  case mount_kind::folder: return "folder " + step.target;
  case mount_kind::link: return "link " + step.target + " to " + step.source;
  case mount_kind::denied_file: return "hidden file " + step.target;
  case mount_kind::seal: return "sealed " + step.target;
  }
  return {};
}

/// Guards for nested names come by the dozen: one line for each root.
lines guards_in_words(const std::vector<sandbox::creation_guard>& guards) {
  lines list;
  std::map<std::string, std::string> nested;
  for (const auto& guard : guards) {
    if (guard.kind == sandbox::guard_kind::nested)
      nested[guard.directory] += " " + guard.path.substr(guard.directory.size() + 1);
    else
      list.push_back(guard.path +
                     (guard.kind == sandbox::guard_kind::keep   ? " stays as it is: "
                      : guard.kind == sandbox::guard_kind::made ? " must not come to be as a link: "
                                                                : " must not come to be: ") +
                     guard.why);
  }
  for (const auto& [root, names] : nested)
    list.push_back("no new one of these in any folder below " + root +
                   " that the command did not make itself:" + names);
  return list;
}

void add_view(std::string& out, const sandbox::mount_plan& plan) {
  using sandbox::mount_kind;
  lines readable, writable, hidden, is_protected, steps;
  const auto inside = [&](const std::string& path, const lines& roots) {
    return std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
      return root == "/" || path == root || path.starts_with(root + "/");
    });
  };
  for (const auto& step : plan.mounts) {
    steps.push_back(words_of_boundary(step));
    switch (step.kind) {
    case mount_kind::read_only_bind:
      (inside(step.target, writable) ? is_protected : readable).push_back(step.target);
      break;
    case mount_kind::writable_bind:
    case mount_kind::device_bind: writable.push_back(step.target); break;
    case mount_kind::empty_folder:
      if (step.target == "/")
        hidden.emplace_back("everything that is not named here");
      else
        hidden.push_back(step.target);
      break;
    case mount_kind::denied_file: hidden.push_back(step.target); break;
    default: break;
    }
  }
  if (inside("/", readable) || inside("/", writable))
    readable.insert(readable.begin(), "everything else");
  std::erase(readable, "/");
  add(out, "readable", readable);
  add(out, "writable (and readable)", writable);
  add(out, "hidden", hidden);
  add(out, "protected: inside a writable folder, but read-only", is_protected);
  add(out, "protected while the command runs, by the supervisor", guards_in_words(plan.guards));
  add(out, "mounts, in this order", steps);
}

std::string_view words_of_boundary(network_mode network) {
  switch (network) {
  case network_mode::full: return "the host's network; no unix sockets but those made inside";
  case network_mode::isolated: return "none; local sockets work among the command's own processes";
  case network_mode::proxy_only: return "only through the managed proxy";
  }
  return {};
}

void add_filter(std::string& out, network_mode network, bool guards, bool on_host) {
  using sandbox::filter_answer;
  const auto kind = network == network_mode::full         ? sandbox::init::full
                    : network == network_mode::proxy_only ? sandbox::init::proxy_only
                                                          : sandbox::init::isolated;
  std::map<filter_answer, std::map<std::string, std::set<std::string>>> calls;
  for (const auto& rule : sandbox::describe_filter(kind, guards, on_host))
    calls[rule.answer][rule.call].insert(rule.condition);
  const auto list = [&](filter_answer answer) {
    std::string text;
    for (const auto& [call, conditions] : calls[answer]) {
      text += (text.empty() ? "" : ", ") + call;
      if (conditions.contains("always")) continue;
      const bool families = call == "socket" || call == "socketpair";
      text += families ? " (families that the network does not allow)"
                       : " (" + *conditions.begin() + ")";
    }
    return lines{text};
  };
  add(out, "system calls refused", list(filter_answer::refuse));
  add(out, "system calls that do not exist", list(filter_answer::unsupported));
  add(out, "system calls that the supervisor decides", list(filter_answer::supervise));
  out += "other architectures' system calls end the process\n";
}

/// The policy as macOS would get it, for paths as this host has them.
result<std::string> seatbelt_in_words(const permission_profile& profile,
                                      const policy::access_context& context, network_mode network) {
  const auto policy = sandbox::make_seatbelt_policy(
      profile, context, sandbox::gather_host_facts(profile, context), {network, {}});
  if (!policy) return policy.error();
  std::string out = "for macOS, where this program has never been run:\n";
  lines parameters;
  for (const auto& [name, path] : policy->parameters)
    parameters.push_back(name + " = " + path);
  add(out, "parameters", parameters);
  add(out, "warnings", policy->warnings);
  return out + "policy:\n" + policy->text;
}

} // namespace

result<std::string> explain_sandbox(const permission_profile& profile,
                                    const policy::access_context& context, sandbox_backend backend,
                                    bool managed_network) {
  std::string out = "profile: " + encode_profile(profile) + "\n";
  const auto network = sandbox::choose_network(profile, managed_network);
  out += "network: " + std::string{to_string(network)} + "\n";
  if (profile.kind != profile_kind::managed) return out + "boundary: none of ours\n";
  if (backend == sandbox_backend::seatbelt) {
    const auto words = seatbelt_in_words(profile, context, network);
    return words ? result<std::string>{out + *words} : words;
  }
  const auto usable = sandbox::choose_backend(backend, sandbox::look_at_platform(),
                                              sandbox::needs_of(profile, context, network));
  if (!usable) return usable.error();
  auto spelled = profile;
  auto place = context;
  sandbox::spell_out(spelled, place);
  const auto plan =
      sandbox::make_mount_plan(spelled, place, sandbox::gather_host_facts(spelled, place));
  if (!plan) return plan.error();
  out += "  " + std::string{words_of_boundary(network)} + "\n";
  if (backend == sandbox_backend::landlock) {
    const auto limits = sandbox::make_landlock_plan(*plan, sandbox::children_on_host);
    if (!limits) return limits.error();
    out += "everything can be read\n";
    add(out, "writable", limits->write_paths);
    add(out, "read-only parts", limits->read_only_paths);
    add(out, "granted by Landlock", limits->grants);
    add(out, "protected while the command runs, by the supervisor",
        guards_in_words(limits->guards));
    add_filter(out, network, true, true);
  } else {
    add_view(out, *plan);
    add_filter(out, network, !plan->guards.empty(), false);
  }
  add(out, "warnings", plan->warnings);
  return out;
}

} // namespace gatehouse::cli
