#include "sandbox/capabilities.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::sandbox {
namespace {

using policy::is_at_or_below;
using policy::is_below;

constexpr capability_cell yes(std::string_view how) {
  return {true, how};
}
constexpr capability_cell no(std::string_view why) {
  return {false, why};
}

constexpr std::array<capability_row, capability_count> table{{
    {capability::limited_write,
     "writing limited to folders",
     {yes("read-only mounts"), yes("Landlock"), yes("policy text"), yes("restricting SIDs"),
      yes("own account")}},
    {capability::whole_disk_write,
     "writing everywhere",
     {yes("writable mounts"), no("limits writing only"), yes("policy text"),
      no("a token limits writing or does nothing"), no("an account owns no disk")}},
    {capability::restricted_read,
     "reading limited to folders",
     {yes("empty root"), no("this backend leaves reading open"), yes("policy text"),
      no("a write-restricted token leaves reading open"),
      yes("own account, where no group opens more")}},
    {capability::denied_paths,
     "denied paths",
     {yes("masks"), no("this backend leaves reading open"), yes("policy text"),
      no("a write-restricted token leaves reading open"), yes("deny entries")}},
    {capability::denied_globs,
     "denied globs",
     {yes("masks and guarded creation"), no("this backend leaves reading open"), yes("regexes"),
      no("a write-restricted token leaves reading open"),
      no("entries hold for what exists, not for what comes")}},
    {capability::reopened_reads,
     "grants below a denied folder",
     {yes("later mounts"), no("this backend leaves reading open"), yes("later rules"),
      no("a write-restricted token leaves reading open"),
      no("the order of inherited entries is not proven here")}},
    {capability::read_only_parts,
     "read-only parts of writable folders",
     {yes("later mounts"), yes("grants beside the part, supervised calls"), yes("later rules"),
      yes("deny entries"), yes("deny entries")}},
    {capability::reopened_writes,
     "writable parts of read-only parts",
     {yes("later mounts"), yes("a further grant"), yes("later rules"),
      no("the order of inherited entries is not proven here"),
      no("the order of inherited entries is not proven here")}},
    {capability::protected_names,
     "protected names, also missing ones",
     {yes("read-only mounts and guarded creation"), yes("supervised calls"), yes("regexes"),
      yes("folders made first, deny entries"), yes("folders made first, deny entries")}},
    {capability::device_grants,
     "devices by path",
     {yes("device mounts"), no("the host's /dev is in view"), no("no rule for devices is written"),
      no("devices have no paths"), no("devices have no paths")}},
    {capability::network_off,
     "no network",
     {yes("network namespace, seccomp"), yes("seccomp, Landlock"), yes("policy text"),
      no("a token does not limit the network"), yes("firewall filters by account")}},
    {capability::network_proxy_only,
     "only the managed proxy",
     {yes("network namespace, bridge"), no("Landlock knows ports, not hosts"),
      yes("loopback ports in the policy text"), no("a token does not limit the network"),
      yes("firewall filters by account")}},
    {capability::network_on,
     "network",
     {yes("host network"), yes("host network"), yes("policy text"), yes("host network"),
      yes("online account")}},
    {capability::unix_socket_grants,
     "host sockets by path",
     {no("no profile can say it yet"), no("no profile can say it yet"),
      no("no profile can say it yet"), no("no profile can say it yet"),
      no("no profile can say it yet")}},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].what) != i) return false;
  return true;
}
static_assert(is_in_order());

/// Collects needs, each capability with its first reason.
class need_list {
public:
  void add(capability what, std::string because) {
    if (std::none_of(needs_.begin(), needs_.end(), [&](const auto& n) { return n.what == what; }))
      needs_.push_back({what, std::move(because)});
  }
  std::vector<capability_need> take() { return std::move(needs_); }

private:
  std::vector<capability_need> needs_;
};

void add_network(need_list& needs, network_mode network) {
  switch (network) {
  case network_mode::full: return needs.add(capability::network_on, "the network is enabled");
  case network_mode::isolated:
    return needs.add(capability::network_off, "the network is restricted");
  case network_mode::proxy_only:
    return needs.add(capability::network_proxy_only, "the network is managed");
  }
}

/// What the entries mean to one another.
class entry_needs {
public:
  entry_needs(need_list& needs, const file_system_policy& policy,
              const policy::access_context& context)
      : needs_{needs}, policy_{policy}, context_{context}, entries_{policy::resolve_entries(
                                                               policy, context)} {}

  void add() {
    bool reads_root = false;
    for (const auto& entry : entries_) {
      reads_root |= entry.path == "/" && entry.access != access::deny;
      if (entry.access == access::write)
        needs_.add(entry.path == "/" ? capability::whole_disk_write : capability::limited_write,
                   name(entry.index));
      // A private /dev is part of every view that has one; what is in it needs no grant.
      if (is_below(entry.path, "/dev") && !is_at_or_below(entry.path, "/dev/shm"))
        needs_.add(capability::device_grants, name(entry.index));
    }
    if (reads_root) needs_.add(capability::limited_write, "`:root` read");
    if (!reads_root) needs_.add(capability::restricted_read, "no entry grants `:root`");
    for (std::size_t i = 0; i < policy_.entries.size(); ++i)
      if (policy_.entries[i].access == access::deny)
        needs_.add(std::holds_alternative<glob_path>(policy_.entries[i].path)
                       ? capability::denied_globs
                       : capability::denied_paths,
                   name(i));
    for (const auto& outer : entries_) {
      if (outer.access == access::deny) add_reopened_reads(outer);
      if (outer.access == access::write) add_parts(outer);
    }
  }

private:
  [[nodiscard]] std::string name(std::size_t index) const {
    const auto& entry = policy_.entries[index];
    return "`" + describe(entry.path) + "` " + std::string{to_string(entry.access)};
  }

  void add_reopened_reads(const policy::resolved_entry& denied) {
    for (const auto& inner : entries_)
      if (inner.access != access::deny && is_below(inner.path, denied.path))
        needs_.add(capability::reopened_reads, name(inner.index));
  }

  void add_reopened_writes(std::string_view part) {
    for (const auto& inner : entries_)
      if (inner.access == access::write && is_below(inner.path, part))
        needs_.add(capability::reopened_writes, name(inner.index));
  }

  void add_parts(const policy::resolved_entry& root) {
    for (const auto& inner : entries_)
      if (inner.access == access::read && is_below(inner.path, root.path)) {
        needs_.add(capability::read_only_parts, name(inner.index));
        add_reopened_writes(inner.path);
      }
    for (const auto& protected_name : context_.protected_names) {
      const auto place = policy::absolute_below(root.path, protected_name);
      needs_.add(capability::protected_names, "protected name `" + protected_name + "`");
      add_reopened_writes(place);
    }
    for (const auto& place : context_.protected_paths)
      if (is_at_or_below(place, root.path)) {
        needs_.add(capability::read_only_parts, "protected path `" + place + "`");
        add_reopened_writes(place);
      }
  }

  need_list& needs_;
  const file_system_policy& policy_;
  const policy::access_context& context_;
  std::vector<policy::resolved_entry> entries_;
};

} // namespace

std::span<const capability_row> capability_table() noexcept {
  return table;
}

const capability_cell& find_cell(sandbox_backend backend, capability what) noexcept {
  const auto column = std::find(backends.begin(), backends.end(), backend) - backends.begin();
  return table[static_cast<std::size_t>(what)].cells[static_cast<std::size_t>(column)];
}

std::string capability_table_text() {
  std::string text = "| |";
  for (const auto backend : backends)
    text += " " + std::string{to_string(backend)} + " |";
  text += "\n|---|";
  for (std::size_t i = 0; i < backends.size(); ++i)
    text += "---|";
  text += "\n";
  for (const auto& row : table) {
    text += "| " + std::string{row.name} + " |";
    for (const auto& cell : row.cells)
      text += (cell.expressed ? " yes: " : " **no**: ") + std::string{cell.note} + " |";
    text += "\n";
  }
  return text;
}

std::vector<capability_need> needs_of(const permission_profile& profile,
                                      const policy::access_context& context, network_mode network) {
  if (profile.kind != profile_kind::managed) return {};
  need_list needs;
  add_network(needs, network);
  if (profile.file_system.restricted)
    entry_needs{needs, profile.file_system, context}.add();
  else
    needs.add(capability::whole_disk_write, "the file system is unrestricted");
  return needs.take();
}

namespace {

/// Only what this machine could run is worth naming.
bool same_platform(sandbox_backend a, sandbox_backend b) {
  const auto is_linux = [](sandbox_backend x) {
    return x == sandbox_backend::linux_bubblewrap || x == sandbox_backend::landlock;
  };
  const bool mac = a == sandbox_backend::seatbelt || b == sandbox_backend::seatbelt;
  return is_linux(a) == is_linux(b) && (!mac || a == b);
}

} // namespace

result<void> check_expressible(sandbox_backend backend, std::span<const capability_need> needs) {
  std::string missing, others;
  for (const auto& need : needs) {
    const auto& cell = find_cell(backend, need.what);
    if (cell.expressed) continue;
    missing += missing.empty() ? "" : "; ";
    missing += std::string{table[static_cast<std::size_t>(need.what)].name} + " (" + need.because +
               "): " + std::string{cell.note};
  }
  if (missing.empty()) return {};
  for (const auto other : backends)
    if (other != backend && same_platform(other, backend) &&
        std::all_of(needs.begin(), needs.end(),
                    [&](const auto& need) { return find_cell(other, need.what).expressed; }))
      others += (others.empty() ? "" : ", ") + std::string{to_string(other)};
  return error{errc::boundary_unavailable,
               "refusing to run unsandboxed: the " + std::string{to_string(backend)} +
                   " backend cannot express " + missing,
               "change the profile" +
                   (others.empty() ? "" : ", or use a backend that can (" + others + ")")};
}

} // namespace gatehouse::sandbox
