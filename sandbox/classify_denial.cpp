#include "sandbox/classify_denial.hpp"

#include "policy/path_text.hpp"
#include "protocol/ascii_text.hpp"
#include "protocol/profile_json.hpp"
#include "sandbox/failure_text.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

namespace gatehouse::sandbox {
namespace {

/// Services that the C library asks in passing; being refused there fails nothing.
constexpr std::array<std::string_view, 5> asked_in_passing{
    "/var/run/nscd", "/run/nscd", "/run/systemd/userdb", "/dev/log", "/run/systemd/journal"};

/// What local_sockets says of a datagram socket behind the proxy.
constexpr std::string_view only_tcp_refusal = "TCP only, through the proxy; no UDP, no DNS";

class classifier {
public:
  classifier(const permission_profile& profile, const policy::access_context& context,
             const denial_evidence& evidence)
      : profile_{profile}, context_{context}, evidence_{evidence} {}

  std::optional<denial> run() const {
    if (profile_.kind != profile_kind::managed || evidence_.signal || evidence_.timed_out ||
        evidence_.exit_code.value_or(0) == 0)
      return std::nullopt;
    auto found = from_observed();
    // Programs try things in passing (an update, a log): what they complain about goes first.
    if (!found || !is_named(*found))
      if (auto told = from_text(evidence_.stderr_tail)) found = std::move(told);
    if (!found) found = from_network_text();
    if (!found) found = from_text(evidence_.stdout_tail);
    if (!found && evidence_.exit_code == 128 + SIGSYS)
      found = denial{denial_kind::system_call, {}, {}, "system calls outside the filter", {}};
    if (found) found->remedy = remedy_for(*found);
    return found;
  }

private:
  [[nodiscard]] std::optional<denial> from_observed() const {
    std::optional<denial> chosen;
    for (const auto& seen : evidence_.observed) {
      if (std::any_of(asked_in_passing.begin(), asked_in_passing.end(),
                      [&](std::string_view p) { return policy::is_at_or_below(seen.path, p); }))
        continue;
      // Looking for a name in passing fails nothing either, unless the command says so.
      if (seen.kind == denial_kind::network && seen.entry == only_tcp_refusal &&
          !complains_of_network())
        continue;
      // Sanitizers and run-times look at processes in passing, too.
      if (seen.kind == denial_kind::system_call && !complains_of_call(seen)) continue;
      // The last refusal is likeliest to have ended the command, unless its words name another.
      if (!chosen || !is_named(*chosen) || is_named(seen)) chosen = seen;
    }
    if (!chosen) return chosen;
    if (chosen->kind == denial_kind::network) {
      if (chosen->host.empty() && chosen->path.empty()) chosen->host = likely_host();
      if (chosen->entry.empty()) chosen->entry = network_entry();
    } else if (chosen->entry.empty() && !chosen->path.empty()) {
      chosen->entry = policy::evaluate_access(profile_, context_, chosen->path).decided_by;
    }
    return chosen;
  }

  [[nodiscard]] bool complains_of_network() const {
    return !find_network_failures(evidence_.stderr_tail, evidence_.argv).empty() ||
           !find_network_failures(evidence_.stdout_tail, evidence_.argv).empty();
  }

  /// By the name of the call, which ends the entry, or by saying that something is not permitted.
  [[nodiscard]] bool complains_of_call(const denial& seen) const {
    const auto contains = [](std::string_view text, std::string_view word) {
      return std::search(text.begin(), text.end(), word.begin(), word.end(),
                         [](char a, char b) { return to_lower_ascii(a) == b; }) != text.end();
    };
    const std::string_view entry = seen.entry;
    const auto space = entry.rfind(' ');
    const auto call = entry.substr(space == std::string_view::npos ? 0 : space + 1);
    for (const auto text : {evidence_.stderr_tail, evidence_.stdout_tail})
      if (contains(text, call) || contains(text, "permi")) return true;
    return false;
  }

  [[nodiscard]] bool is_named(const denial& seen) const {
    const auto name = policy::name_of(seen.path);
    return !name.empty() && (evidence_.stderr_tail.find(name) != std::string_view::npos ||
                             evidence_.stdout_tail.find(name) != std::string_view::npos);
  }

  [[nodiscard]] std::string real(const std::string& path) const {
    return evidence_.look ? evidence_.look(path).canonical : path;
  }

  [[nodiscard]] std::optional<denial> from_text(std::string_view text) const {
    for (const auto& failure : find_reported_failures(text, evidence_.argv))
      for (const auto& written : failure.paths) {
        if (written.size() > 4096 || written.find('\0') != std::string::npos) continue;
        if (auto found = judge(failure, policy::absolute_below(evidence_.cwd, written)))
          return found;
        const bool unexplained = failure.words == failure_words::unexplained;
        if (written.starts_with('/') || (failure.words != failure_words::read_only && !unexplained))
          continue;
        // Said in a folder that the command had gone to (`cd`, `tar -C`).
        for (const auto& folder : unexplained ? entered_folders(evidence_.argv) : folders_in_argv())
          if (auto found = judge(
                  failure,
                  policy::absolute_below(policy::absolute_below(evidence_.cwd, folder), written)))
            return found;
      }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<denial> judge(const reported_failure& failure,
                                            const std::string& written) const {
    const auto path = real(written);
    const auto answer = policy::evaluate_access(profile_, context_, path);
    const auto kind = refused(failure, path, answer);
    return kind ? std::optional{denial{*kind, path, {}, answer.decided_by, {}}} : std::nullopt;
  }

  /// The absolute paths of the command line that are folders here.
  [[nodiscard]] std::vector<std::string> folders_in_argv() const {
    std::vector<std::string> folders;
    if (!evidence_.look) return folders;
    constexpr std::string_view between = " \t\n\"'`;&|()<>=";
    for (const std::string_view text : evidence_.argv)
      for (std::size_t at = 0; at < text.size() && folders.size() < 8;) {
        const auto end = std::min(text.find_first_of(between, at), text.size());
        const auto word = text.substr(at, end - at);
        at = end + 1;
        if (word.starts_with('/') && evidence_.look(word).kind == path_kind::directory)
          folders.emplace_back(word);
      }
    return folders;
  }

  /// Would this boundary have answered with these words?
  [[nodiscard]] std::optional<denial_kind> refused(const reported_failure& failure,
                                                   const std::string& path,
                                                   const policy::access_answer& answer) const {
    using enum failure_words;
    const bool hidden = answer.granted == access::deny;
    const auto kind = failure.about_writing ? denial_kind::file_write : denial_kind::file_read;
    switch (failure.words) {
    case read_only:
    case unexplained:
      if (answer.granted != access::write) return denial_kind::file_write;
      break;
    case not_permitted:
    case busy:
      // Ownership and running mounts give these words too; only a protection or a denial is ours.
      if (answer.is_protection) return denial_kind::file_write;
      if (hidden && answer.entry) return kind;
      break;
    case permission_denied:
      if (hidden) return kind;
      // Without mounts a refused write has these words, and so has a missing execute bit.
      if (evidence_.backend == sandbox_backend::landlock && answer.granted == access::read &&
          evidence_.exit_code != 126)
        return denial_kind::file_write;
      break;
    case not_found:
      if (hidden && evidence_.look && evidence_.look(path).kind != path_kind::missing) return kind;
      break;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<denial> from_network_text() const {
    if (evidence_.network != network_mode::isolated) return std::nullopt;
    for (const auto text : {evidence_.stderr_tail, evidence_.stdout_tail}) {
      const auto failures = find_network_failures(text, evidence_.argv);
      if (failures.empty()) continue;
      return denial{denial_kind::network, {}, likely_host(), network_entry(), {}};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string likely_host() const {
    for (const auto text : {evidence_.stderr_tail, evidence_.stdout_tail})
      if (const auto failures = find_network_failures(text, evidence_.argv);
          !failures.empty() && !failures.front().host.empty())
        return failures.front().host;
    return host_in_argv(evidence_.argv);
  }

  [[nodiscard]] std::string network_entry() const {
    return evidence_.network == network_mode::proxy_only ? "network through the managed proxy only"
                                                         : "network restricted";
  }

  [[nodiscard]] std::string remedy_for(const denial& what) const {
    switch (what.kind) {
    case denial_kind::network:
      if (!what.path.empty())
        return request({{}, {{literal_path{what.path}, access::write, {}}}, {}});
      if (evidence_.network == network_mode::proxy_only)
        return "The program went past the proxy. Only TCP through http://127.0.0.1:3128 (HTTP, "
               "CONNECT, SOCKS5) leaves this sandbox, and names are resolved there. Use a client "
               "that reads HTTPS_PROXY (curl, wget, git, pip, npm, cargo), or give it the proxy by "
               "its own option; Node reads it from version 24 on (NODE_USE_ENV_PROXY is set). "
               "Listening needs network.allow_local_binding in the profile.";
      return request({true, {}, {}});
    case denial_kind::system_call:
      return has_denied_reads(profile_)
                 ? "No request can allow this system call, since the profile denies reads: reach "
                   "the goal without it."
                 : "Call again with sandbox_permissions \"require_escalated\" and a justification, "
                   "or reach the goal without this system call.";
    case denial_kind::file_read:
    case denial_kind::file_write: return remedy_for_path(what);
    }
    return {};
  }

  [[nodiscard]] std::string remedy_for_path(const denial& what) const {
    if (what.path.empty()) return "Work inside the writable folders" + writable_folders() + ".";
    const auto answer = policy::evaluate_access(profile_, context_, what.path);
    if (answer.denied_explicitly())
      return "This is denied for everybody in this session and no request can open it: work "
             "without it, or ask the user to change the profile.";
    if (answer.granted == access::write)
      return "No request opens this: the path may be written already, but what is granted or "
             "protected there must neither be moved nor become a link.";
    std::string text = request({{}, entries_for(what), {}});
    if (what.kind == denial_kind::file_write)
      text += " Writable without a request" + writable_folders() + ".";
    if (answer.is_protection)
      text += " It is protected because other programs execute or trust what stands there.";
    return text;
  }

  static std::string request(const additional_permissions& overlay) {
    return "Call again with sandbox_permissions \"with_additional_permissions\" and "
           "additional_permissions " +
           encode_additional_permissions(overlay) + ", and say in justification why.";
  }

  /// The smallest entries that would allow it. A name that does not exist yet cannot be granted:
  /// its folder is.
  [[nodiscard]] std::vector<profile_entry> entries_for(const denial& what) const {
    if (what.kind == denial_kind::file_read)
      return {{literal_path{what.path}, access::read, false}};
    if (const auto git = git_folder_of(what.path); !git.empty() && what.path != git) {
      // All that git writes, but not what it executes.
      auto entries = git_preset_entries_at(git);
      std::rotate(entries.begin(), entries.begin() + 1, entries.end());
      std::erase_if(entries, [&](profile_entry& entry) {
        entry.skip_missing = false;
        return entry.access == access::read &&
               policy::is_at_or_below(what.path, std::get<literal_path>(entry.path).path);
      });
      return entries;
    }
    std::string path = what.path;
    if (evidence_.look)
      if (const auto fact = evidence_.look(path); fact.kind == path_kind::missing)
        path = fact.existing_folder;
    // The folder may be writable while this one name in it is not: then only the name helps.
    if (policy::evaluate_access(profile_, context_, path).granted == access::write)
      path = what.path;
    return {{literal_path{path}, access::write, false}};
  }

  static std::string git_folder_of(std::string_view path) {
    const auto at = path.find("/.git/");
    return at == std::string_view::npos ? std::string{} : std::string{path.substr(0, at + 5)};
  }

  [[nodiscard]] std::string writable_folders() const {
    std::string text;
    for (const auto& entry : policy::resolve_entries(profile_.file_system, context_))
      if (entry.access == access::write && text.find(" " + entry.path + ",") == std::string::npos)
        text += " " + entry.path + ",";
    if (text.empty()) return ": nothing";
    text.pop_back();
    return ":" + text;
  }

  const permission_profile& profile_;
  const policy::access_context& context_;
  const denial_evidence& evidence_;
};

} // namespace

std::optional<denial> classify_denial(const permission_profile& profile,
                                      const policy::access_context& context,
                                      const denial_evidence& evidence) {
  return classifier{profile, context, evidence}.run();
}

} // namespace gatehouse::sandbox
