#include "sandbox/seatbelt/seatbelt.hpp"

#include "policy/glob.hpp"
#include "policy/path_text.hpp"
#include "sandbox/capabilities.hpp"
#include "sandbox/seatbelt/base_policy.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace gatehouse::sandbox {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Shallow before deep; of one path what grants before what refuses.
struct by_depth {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::pair{policy::component_count(a), std::string_view{a}} <
           std::pair{policy::component_count(b), std::string_view{b}};
  }
};

class writer {
public:
  writer(const permission_profile& profile, const policy::access_context& context,
         const host_facts& facts, const seatbelt_network& network)
      : files_{profile.file_system}, facts_{facts}, context_{with_facts(context, facts)},
        network_{network}, entries_{policy::resolve_entries(files_, context_)} {}

  result<seatbelt_policy> run(const permission_profile& profile) {
    if (auto expressed = check_expressible(sandbox_backend::seatbelt,
                                           needs_of(profile, context_, network_.mode));
        !expressed)
      return expressed.error();
    if (auto usable = check_paths(); !usable) return usable.error();
    if (network_.mode == network_mode::proxy_only && network_.proxy_ports.empty())
      return error{errc::boundary_unavailable,
                   "refusing to run unsandboxed: the network is managed, and there is no proxy",
                   "start the managed proxy first"};
    out_.text = seatbelt_base_policy();
    if (std::any_of(files_.entries.begin(), files_.entries.end(), [](const profile_entry& e) {
          const auto* special = std::get_if<special_path>(&e.path);
          return special && special->kind == special_kind::minimal && e.access != access::deny;
        }))
      out_.text += seatbelt_minimal_policy();
    if (files_.restricted) {
      write_places();
      write_folders_that_stay();
      write_denied_patterns();
    } else {
      out_.text += "\n(allow file-read* file-write* (subpath \"/\"))\n";
    }
    write_network();
    out_.warnings = facts_.warnings;
    return std::move(out_);
  }

private:
  /// On these volumes letters beyond ASCII have several spellings that mean the same file.
  [[nodiscard]] static error two_spellings(const std::string& what) {
    return {errc::invalid_profile,
            "the denied path `" + what +
                "` has characters beyond ASCII, which macOS lets be spelled in several ways; only "
                "one of them would be denied",
            "deny a folder above it whose name is plain"};
  }

  result<void> check_paths() {
    for (const auto& entry : entries_) {
      if (entry.path.find('\0') != std::string::npos)
        return error{errc::invalid_profile, "a path of the profile holds a NUL byte", {}};
      if (entry.access == access::deny && !is_ascii(entry.path)) return two_spellings(entry.path);
    }
    for (const auto& denied : context_.denied_paths)
      if (!is_ascii(denied)) return two_spellings(denied);
    for (const auto& glob : policy::resolve_globs(files_, context_)) {
      auto compiled = policy::path_glob::compile(glob.pattern());
      if (!compiled) return compiled.error();
      if (!is_ascii(glob.pattern())) return two_spellings(glob.pattern());
      globs_.push_back(std::move(*compiled));
    }
    return {};
  }

  std::string parameter(const std::string& path) {
    const auto [at, added] = names_.try_emplace(path, "PATH_" + std::to_string(names_.size()));
    if (added) out_.parameters.emplace_back(at->second, path);
    return "(param \"" + at->second + "\")";
  }
  std::string subpath(const std::string& path) { return "(subpath " + parameter(path) + ")"; }
  static std::string regex(const std::string& expression) {
    return "(regex " + seatbelt_string(expression) + ")";
  }
  void line(const std::string& text) { out_.text += text + "\n"; }

  void write_places() {
    std::map<std::string, access, by_depth> granted;
    std::set<std::string, by_depth> held;
    for (const auto& entry : entries_) {
      const auto [at, added] = granted.try_emplace(entry.path, entry.access);
      if (!added) at->second = std::max(at->second, entry.access);
      if (entry.access == access::write)
        for (const auto& name : context_.protected_names)
          hold(held, policy::absolute_below(entry.path, name));
    }
    for (const auto& place : context_.protected_paths)
      hold(held, place);

    line("\n; the way to what can be read");
    write_way(granted);
    line("\n; what the profile grants, from the root down");
    auto next = held.begin();
    const auto write_held = [&](std::size_t depth) {
      for (; next != held.end() && policy::component_count(*next) <= depth; ++next) {
        line("(deny file-write* " + regex(seatbelt_path_regex(*next)) + ")");
        stays_.insert(*next);
      }
    };
    for (auto at = granted.begin(); at != granted.end(); ++at) {
      const auto depth = policy::component_count(at->first);
      if (depth > 0) write_held(depth - 1);
      write_place(at->first, at->second);
      if (std::next(at) == granted.end() || policy::component_count(std::next(at)->first) > depth)
        write_held(depth);
    }
    write_held(static_cast<std::size_t>(-1));
  }

  /// A place is protected unless an entry opens it as a whole.
  void hold(std::set<std::string, by_depth>& held, const std::string& place) const {
    const bool opened = std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) {
      return e.path == place && e.access == access::write;
    });
    if (!opened) held.insert(place);
  }

  void write_place(const std::string& path, access granted) {
    switch (granted) {
    case access::read:
      line("(allow file-read* " + subpath(path) + ")");
      return line("(deny file-write* " + subpath(path) + ")");
    case access::write: return line("(allow file-read* file-write* " + subpath(path) + ")");
    case access::deny:
      stays_.insert(path);
      return line("(deny file-read* file-write* " + regex(seatbelt_path_regex(path)) + ")");
    }
  }

  /// Programs look at the folders above what they open.
  void write_way(const std::map<std::string, access, by_depth>& granted) {
    std::set<std::string, by_depth> way;
    for (const auto& [path, what] : granted)
      if (what != access::deny)
        for (std::string folder{policy::parent_of(path)};; folder = policy::parent_of(folder)) {
          way.insert(folder);
          if (folder == "/") break;
        }
    for (const auto& folder : way)
      line("(allow file-read-metadata (literal " + parameter(folder) + "))");
  }

  /// Moving a folder would take what is denied or protected in it out of its place.
  void write_folders_that_stay() {
    for (const auto& match : facts_.glob_matches) {
      const auto glob = policy::path_glob::compile(match.pattern);
      std::string_view root;
      for (const auto& entry : entries_)
        if (entry.access == access::write && policy::is_at_or_below(match.path, entry.path) &&
            entry.path.size() > root.size())
          root = entry.path;
      if (!glob || root.empty() || !glob->by_name_only_below(root))
        stays_.insert(match.found.canonical);
    }
    std::set<std::string, by_depth> folders;
    for (const auto& place : stays_)
      for (std::string folder{policy::parent_of(place)}; folder != "/";
           folder = policy::parent_of(folder))
        folders.insert(folder);
    if (!folders.empty()) line("\n; folders that may not be moved or removed");
    for (const auto& folder : folders)
      line("(deny file-write-unlink (literal " + parameter(folder) + "))");
  }

  void write_denied_patterns() {
    if (!globs_.empty() || !context_.denied_paths.empty()) line("\n; denied whatever stands above");
    for (const auto& glob : globs_)
      line("(deny file-read* file-write* " + regex(glob.as_regex()) + ")");
    for (const auto& denied : context_.denied_paths)
      line("(deny file-read* file-write* " + regex(seatbelt_path_regex(denied)) + ")");
  }

  void write_network() {
    if (network_.mode == network_mode::isolated) return line("\n; no network");
    if (network_.mode == network_mode::full) {
      line("\n; network, but no socket of another program");
      line("(allow network-outbound (remote ip \"*:*\"))");
      line("(allow network-inbound (local ip \"*:*\"))");
      line("(allow network-bind (local ip \"*:*\"))");
      line("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))");
    } else {
      line("\n; only the managed proxy");
      for (const auto port : network_.proxy_ports)
        line("(allow network-outbound (remote ip \"localhost:" + std::to_string(port) + "\"))");
    }
    out_.text += seatbelt_network_services();
  }

  const file_system_policy& files_;
  const host_facts& facts_;
  policy::access_context context_;
  const seatbelt_network& network_;
  std::vector<policy::resolved_entry> entries_;
  std::vector<policy::path_glob> globs_;
  std::set<std::string> stays_;
  std::map<std::string, std::string> names_;
  seatbelt_policy out_;
};

} // namespace

std::string seatbelt_path_regex(std::string_view path) {
  // A pattern without a wildcard; it compiles because every special character is escaped.
  if (path == "/") return "^/";
  const auto glob = policy::path_glob::compile(policy::escape_glob(path));
  return glob ? glob->as_regex() : "^/";
}

std::string seatbelt_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

result<seatbelt_policy> make_seatbelt_policy(const permission_profile& profile,
                                             const policy::access_context& context,
                                             const host_facts& facts,
                                             const seatbelt_network& network) {
  return writer{profile, context, facts, network}.run(profile);
}

std::vector<std::string> seatbelt_argv(const seatbelt_policy& policy,
                                       const std::vector<std::string>& command) {
  std::vector<std::string> argv{"/usr/bin/sandbox-exec", "-p", policy.text};
  for (const auto& [name, path] : policy.parameters)
    argv.push_back(std::string{"-D"}.append(name).append("=").append(path));
  argv.emplace_back("--");
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

} // namespace gatehouse::sandbox
