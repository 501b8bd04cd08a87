#include "cli/sandbox_explain.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/utf8.hpp"
#include "protocol/visible_text.hpp"
#include "sandbox/choose_backend.hpp"
#include "sandbox/landlock_backend.hpp"
#include "sandbox/seatbelt/seatbelt.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace gatehouse::cli {
namespace {

using lines = std::vector<std::string>;

void add(std::string& out, std::string_view title, const lines& list) {
  if (list.empty()) return;
  out += std::string{title} + ":\n";
  for (const auto& line : list)
    out += "  " + visible_words(line) + "\n";
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

/// What the mounts come to.
void sum_up(explained_boundary& out, const sandbox::mount_plan& plan) {
  using sandbox::mount_kind;
  const auto inside = [](const std::string& path, const lines& roots) {
    return std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
      return root == "/" || path == root || path.starts_with(root + "/");
    });
  };
  for (const auto& step : plan.mounts)
    switch (step.kind) {
    case mount_kind::read_only_bind:
      (inside(step.target, out.writable) ? out.is_protected : out.readable).push_back(step.target);
      break;
    case mount_kind::writable_bind:
    case mount_kind::device_bind: out.writable.push_back(step.target); break;
    case mount_kind::empty_folder:
    case mount_kind::denied_file: out.hidden.push_back(step.target); break;
    default: break;
    }
  const bool all = inside("/", out.readable) || inside("/", out.writable);
  std::erase(out.readable, "/");
  if (all) out.readable.insert(out.readable.begin(), "/");
  out.guards = plan.guards;
  out.mounts = plan.mounts;
}

std::string_view words_of_boundary(network_mode network) {
  switch (network) {
  case network_mode::full: return "the host's network; no unix sockets but those made inside";
  case network_mode::isolated: return "none; local sockets work among the command's own processes";
  case network_mode::proxy_only: return "only through the managed proxy";
  }
  return {};
}

void add_filter(explained_boundary& out, bool guards, bool on_host) {
  const auto kind = out.network == network_mode::full         ? sandbox::init::full
                    : out.network == network_mode::proxy_only ? sandbox::init::proxy_only
                                                              : sandbox::init::isolated;
  std::map<sandbox::filter_answer, std::map<std::string, std::set<std::string>>> calls;
  for (const auto& rule : sandbox::describe_filter(kind, guards, on_host))
    calls[rule.answer][rule.call].insert(rule.condition);
  for (const auto& [answer, named] : calls)
    for (const auto& [call, conditions] : named) {
      const bool families = call == "socket" || call == "socketpair";
      out.system_calls[answer].push_back(conditions.contains("always") ? call
                                         : families
                                             ? call + " (families that the network does not allow)"
                                             : call + " (" + *conditions.begin() + ")");
    }
}

struct kind_of_answer {
  sandbox::filter_answer answer;
  std::string_view name; ///< in JSON
  std::string_view title;
};
constexpr kind_of_answer answers[] = {
    {sandbox::filter_answer::refuse, "refused", "system calls refused"},
    {sandbox::filter_answer::unsupported, "unsupported", "system calls that do not exist"},
    {sandbox::filter_answer::supervise, "supervised", "system calls that the supervisor decides"}};

std::string_view name_of(sandbox::mount_kind kind) {
  using sandbox::mount_kind;
  switch (kind) {
  case mount_kind::read_only_bind: return "read_only";
  case mount_kind::writable_bind: return "writable";
  case mount_kind::device_bind: return "device";
  case mount_kind::devices: return "private_devices";
  case mount_kind::processes: return "own_processes";
  case mount_kind::empty_folder: return "empty_folder";
  case mount_kind::folder: return "folder";
  case mount_kind::link: return "link";
  case mount_kind::denied_file: return "hidden_file";
  case mount_kind::seal: return "sealed";
  }
  return {};
}

std::string_view name_of(sandbox::guard_kind kind) {
  switch (kind) {
  case sandbox::guard_kind::closed: return "closed";
  case sandbox::guard_kind::nested: return "nested";
  case sandbox::guard_kind::keep: return "keep";
  case sandbox::guard_kind::made: return "no_link";
  }
  return {};
}

void write_list(json_writer& out, std::string_view name, const lines& list) {
  out.key(name);
  out.open('[');
  for (const auto& one : list) {
    out.item();
    out.text(one);
  }
  out.close(']');
}

void write_guards(json_writer& out, const std::vector<sandbox::creation_guard>& guards) {
  out.key("guards");
  out.open('[');
  for (const auto& guard : guards) {
    out.item();
    out.open('{');
    out.field("kind", name_of(guard.kind));
    out.field(guard.is_glob ? "glob" : "path", guard.path);
    out.field("folder", guard.directory);
    out.field("why", guard.why);
    if (!guard.opened.empty()) write_list(out, "opened", guard.opened);
    out.close('}');
  }
  out.close(']');
}

void write_mounts(json_writer& out, const std::vector<sandbox::mount_step>& mounts) {
  out.key("mounts");
  out.open('[');
  for (const auto& step : mounts) {
    out.item();
    out.open('{');
    out.field("kind", name_of(step.kind));
    out.field("target", step.target);
    if (!step.source.empty()) out.field("source", step.source);
    out.close('}');
  }
  out.close(']');
}

} // namespace

result<explained_boundary> explain_sandbox(const permission_profile& profile,
                                           const policy::access_context& context,
                                           sandbox_backend backend, bool managed_network) {
  explained_boundary out;
  out.profile = encode_profile(profile);
  out.network = sandbox::choose_network(profile, managed_network);
  if (profile.kind != profile_kind::managed) return out;
  out.backend = backend;
  if (backend == sandbox_backend::seatbelt) {
    // For paths as this host has them.
    auto policy = sandbox::make_seatbelt_policy(
        profile, context, sandbox::gather_host_facts(profile, context), {out.network, {}});
    if (!policy) return policy.error();
    out.parameters.assign(policy->parameters.begin(), policy->parameters.end());
    out.policy = std::move(policy->text);
    out.warnings = std::move(policy->warnings);
    return out;
  }
  const auto usable = sandbox::choose_backend(backend, sandbox::look_at_platform(),
                                              sandbox::needs_of(profile, context, out.network));
  if (!usable) return usable.error();
  auto spelled = profile;
  auto place = context;
  sandbox::spell_out(spelled, place);
  const auto plan =
      sandbox::make_mount_plan(spelled, place, sandbox::gather_host_facts(spelled, place));
  if (!plan) return plan.error();
  out.warnings = plan->warnings;
  if (backend == sandbox_backend::landlock) {
    auto limits = sandbox::make_landlock_plan(*plan, sandbox::children_on_host);
    if (!limits) return limits.error();
    out.readable = {"/"};
    out.writable = std::move(limits->write_paths);
    out.is_protected = std::move(limits->read_only_paths);
    out.grants = std::move(limits->grants);
    out.guards = std::move(limits->guards);
    add_filter(out, true, true);
  } else {
    sum_up(out, *plan);
    add_filter(out, !plan->guards.empty(), false);
  }
  return out;
}

std::string boundary_text(const explained_boundary& boundary) {
  std::string out = "profile: " + visible_words(boundary.profile) +
                    "\nnetwork: " + std::string{to_string(boundary.network)} + "\n";
  if (boundary.backend == sandbox_backend::none) return out + "boundary: none of ours\n";
  if (boundary.backend == sandbox_backend::seatbelt) {
    out += "for macOS, where this program has never been run:\n";
    lines parameters;
    for (const auto& [name, path] : boundary.parameters)
      parameters.push_back(name + " = " + path);
    add(out, "parameters", parameters);
    add(out, "warnings", boundary.warnings);
    return out + "policy:\n" + visible_text(boundary.policy);
  }
  out += "  " + std::string{words_of_boundary(boundary.network)} + "\n";
  const auto with_rest = [](lines list, std::string_view rest) {
    std::ranges::replace(list, "/", rest);
    return list;
  };
  add(out, "readable", with_rest(boundary.readable, "everything else"));
  add(out, "writable (and readable)", boundary.writable);
  add(out, "hidden", with_rest(boundary.hidden, "everything that is not named here"));
  add(out, "protected: inside a writable folder, but read-only", boundary.is_protected);
  add(out, "granted by Landlock", boundary.grants);
  add(out, "protected while the command runs, by the supervisor", guards_in_words(boundary.guards));
  lines steps;
  for (const auto& step : boundary.mounts)
    steps.push_back(words_of_boundary(step));
  add(out, "mounts, in this order", steps);
  for (const auto& [answer, name, title] : answers)
    if (const auto calls = boundary.system_calls.find(answer);
        calls != boundary.system_calls.end()) {
      std::string all;
      for (const auto& call : calls->second)
        all += (all.empty() ? "" : ", ") + call;
      add(out, title, {all});
    }
  out += "other architectures' system calls end the process\n";
  add(out, "warnings", boundary.warnings);
  return out;
}

std::string boundary_json(const explained_boundary& boundary) {
  json_writer out;
  out.open('{');
  out.key("profile");
  out.raw(to_valid_utf8(boundary.profile));
  out.field("network", to_string(boundary.network));
  out.field("backend", to_string(boundary.backend));
  if (boundary.backend == sandbox_backend::seatbelt) {
    out.key("parameters");
    out.open('{');
    for (const auto& [name, path] : boundary.parameters)
      out.field(name, path);
    out.close('}');
    out.field("policy", boundary.policy);
  } else if (boundary.backend != sandbox_backend::none) {
    write_list(out, "readable", boundary.readable);
    write_list(out, "writable", boundary.writable);
    write_list(out, "hidden", boundary.hidden);
    write_list(out, "protected", boundary.is_protected);
    if (boundary.backend == sandbox_backend::landlock)
      write_list(out, "granted", boundary.grants);
    else
      write_mounts(out, boundary.mounts);
    write_guards(out, boundary.guards);
    out.key("system_calls");
    out.open('{');
    for (const auto& [answer, name, title] : answers) {
      const auto calls = boundary.system_calls.find(answer);
      write_list(out, name, calls != boundary.system_calls.end() ? calls->second : lines{});
    }
    out.close('}');
  }
  write_list(out, "warnings", boundary.warnings);
  out.close('}');
  return std::move(out).take();
}

} // namespace gatehouse::cli
