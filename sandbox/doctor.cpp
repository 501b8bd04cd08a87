#include "sandbox/doctor.hpp"

#include "protocol/ascii_text.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"
#include "sandbox/bwrap_failure.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace gatehouse::sandbox {
namespace {

/// The first `count` numbers of a version, missing ones 0.
template <std::size_t count>
std::array<int, count> numbers_of(std::string_view text) {
  std::array<int, count> numbers{};
  for (int& number : numbers) {
    const auto start = text.find_first_of("0123456789");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc{}) break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
  }
  return numbers;
}

doctor_check ok(std::string name, std::string found) {
  return {std::move(name), check_state::ok, std::move(found), {}};
}
doctor_check warning(std::string name, std::string found, std::string remedy) {
  return {std::move(name), check_state::warning, std::move(found), std::move(remedy)};
}
doctor_check failed_check(std::string name, std::string found, std::string remedy) {
  return {std::move(name), check_state::failed, std::move(found), std::move(remedy)};
}

doctor_check check_kernel(const host_findings& f) {
  if (is_wsl1(f.kernel_version_text))
    return failed_check("kernel", "this is WSL 1, which has no namespaces",
                        "convert the distribution: wsl --set-version NAME 2");
  constexpr std::array least{5, 14};
  if (numbers_of<2>(f.kernel_release) < least)
    return failed_check("kernel",
                        "Linux " + f.kernel_release + " is too old for supervised filters",
                        "use Linux 5.14 or newer");
  return ok("kernel", "Linux " + f.kernel_release);
}

doctor_check check_bubblewrap(const host_findings& f) {
  if (f.bwrap_path.empty())
    return failed_check("bubblewrap", f.bwrap_missing, "apt-get install bubblewrap");
  const auto version = numbers_of<3>(f.bwrap_version);
  const std::string found = f.bwrap_path + ", " + f.bwrap_version;
  if (version < std::array{0, 8, 0})
    return failed_check("bubblewrap", found + ", is too old", "install bubblewrap 0.8 or newer");
  if (!f.bwrap_setuid) return ok("bubblewrap", found);
  const bool steerable = version >= std::array{0, 11, 0} && version <= std::array{0, 11, 1};
  return warning("bubblewrap",
                 found + ", is installed setuid root" +
                     (steerable ? ", and this release can be steered in that mode "
                                  "(CVE-2026-41163)"
                                : ""),
                 "Gatehouse never needs that: chmod u-s " + f.bwrap_path);
}

doctor_check check_user_namespaces(const host_findings& f) {
  const std::string who = f.is_root ? " (tried as root)" : "";
  const std::string limit =
      f.max_user_namespaces ? ", at most " + std::to_string(*f.max_user_namespaces) : "";
  const bool switched_off = f.unprivileged_userns_clone == 0;
  const bool restricted = f.apparmor_restricts_namespaces.value_or(0) > 0;
  std::string remedy;
  if (f.max_user_namespaces == 0)
    remedy = "sysctl user.max_user_namespaces=15000";
  else if (switched_off)
    remedy = "sysctl kernel.unprivileged_userns_clone=1";
  else if (restricted)
    remedy = "install an AppArmor profile that allows userns for " +
             (f.bwrap_path.empty() ? std::string{"bwrap"} : f.bwrap_path) +
             ", or sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  if (f.user_namespace_error != 0)
    return failed_check(
        "user_namespaces", "cannot be made" + who + ": " + std::strerror(f.user_namespace_error),
        remedy.empty() ? "in a container, start it with a seccomp profile that allows "
                         "unshare and clone; else sysctl user.max_user_namespaces=15000"
                       : remedy);
  if (!remedy.empty())
    return warning("user_namespaces", "can be made" + who + ", but not by every ordinary user",
                   remedy);
  return ok("user_namespaces", "can be made" + who + limit);
}

doctor_check check_network_namespaces(const host_findings& f) {
  if (f.network_namespace_error == 0) return ok("network_namespaces", "can be made");
  return failed_check("network_namespaces",
                      std::string{"cannot be made: "} + std::strerror(f.network_namespace_error),
                      "sysctl user.max_net_namespaces=15000; in a container, allow unshare");
}

doctor_check check_view(const host_findings& f) {
  if (f.bwrap_path.empty()) return failed_check("view", "not tried without bubblewrap", {});
  if (!f.view_complaint) return ok("view", "bubblewrap builds it, with a fresh /proc");
  const error why = explain_bwrap_failure(*f.view_complaint);
  return failed_check("view", why.message, why.remedy);
}

doctor_check check_filter(const host_findings& f) {
  if (f.filter_error == 0) return ok("filter", "seccomp with supervision can be loaded");
  return failed_check(
      "filter",
      std::string{"seccomp with supervision cannot be loaded: "} + std::strerror(f.filter_error),
      "use a kernel with CONFIG_SECCOMP_FILTER; in a container, allow the seccomp call; "
      "another supervisor (a debugger, a sandbox) around us may be in the way");
}

doctor_check check_landlock(const host_findings& f) {
  const std::string found = "Landlock ABI " + std::to_string(f.landlock_abi);
  if (f.landlock_abi == 0)
    return warning("landlock", "there is no Landlock: the mounts stand without a second wall",
                   "boot with landlock in the lsm= list (CONFIG_SECURITY_LANDLOCK)");
  if (f.landlock_abi < 3)
    return warning("landlock", found + " cannot restrict renaming and truncating well",
                   "use Linux 6.2 or newer");
  if (f.landlock_abi < 6)
    return warning("landlock",
                   found + " does not scope signals and abstract sockets; the pid namespace and "
                           "the supervisor do",
                   "use Linux 6.12 or newer for the second wall");
  return ok("landlock", found);
}

doctor_check check_yama(const host_findings& f) {
  if (f.ptrace_scope.value_or(0) >= 3)
    return failed_check(
        "ptrace_scope",
        "kernel.yama.ptrace_scope is 3: the supervisor cannot read supervised calls",
        "boot with kernel.yama.ptrace_scope set to 2 or less (it cannot be lowered later)");
  if (!f.ptrace_scope || *f.ptrace_scope == 0)
    return ok("ptrace_scope", "Yama does not restrict debugging; commands are kept from it anyway");
  return ok("ptrace_scope", "kernel.yama.ptrace_scope is " + std::to_string(*f.ptrace_scope));
}

/// Interop speaks over a socket of the host, which no command in a boundary can reach; one without
/// a boundary can.
doctor_check check_wsl_interop(bool enabled) {
  if (!enabled) return ok("wsl_interop", "Windows programs cannot be started from here");
  return warning("wsl_interop",
                 "Windows programs can be started from here, outside of every limit; commands in "
                 "the boundary cannot do it, unsandboxed ones can",
                 "set enabled=false below [interop] in /etc/wsl.conf");
}

doctor_check check_boundary(const host_findings& f) {
  switch (f.boundary) {
  case host_findings::trial::held:
    return ok("boundary",
              "held: a forbidden write, a denied file and the host's network were out of reach");
  case host_findings::trial::broken:
    return failed_check(
        "boundary", "NOT ENFORCED: a command " + f.boundary_complaint,
        "do not run commands here; report it with the output of `gatehouse doctor --json`");
  case host_findings::trial::did_not_run: break;
  }
  return failed_check("boundary", "cannot be built: " + f.boundary_complaint,
                      "mend what failed above; until then no command runs sandboxed, or at all");
}

} // namespace

std::string_view to_string(check_state s) noexcept {
  switch (s) {
  case check_state::ok: return "ok";
  case check_state::warning: return "warning";
  case check_state::failed: break;
  }
  return "failed";
}

bool doctor_report::enforced() const noexcept {
  return std::none_of(checks.begin(), checks.end(),
                      [](const doctor_check& c) { return c.state == check_state::failed; });
}

bool is_wsl1(std::string_view text) {
  const auto lower = to_lower_ascii(text);
  // "…-microsoft-standard-WSL2" names its generation; the first kernels said "Microsoft" only.
  for (auto at = lower.find("wsl"); at != std::string::npos; at = lower.find("wsl", at + 3)) {
    int generation = 0;
    const char* start = lower.data() + at + 3;
    const auto read = std::from_chars(start, lower.data() + lower.size(), generation);
    if (read.ec == std::errc{}) return generation == 1;
  }
  return lower.find("microsoft") != std::string::npos &&
         lower.find("microsoft-standard") == std::string::npos;
}

doctor_report diagnose(const host_findings& findings) {
  doctor_report report{{check_kernel(findings), check_bubblewrap(findings),
                        check_user_namespaces(findings), check_network_namespaces(findings),
                        check_view(findings), check_filter(findings), check_landlock(findings),
                        check_yama(findings), check_boundary(findings)}};
  if (findings.wsl_interop) report.checks.push_back(check_wsl_interop(*findings.wsl_interop));
  return report;
}

std::string doctor_text(const doctor_report& report) {
  std::string text;
  for (const auto& check : report.checks) {
    std::string state{to_string(check.state)};
    state.resize(9, ' ');
    std::string name = check.name;
    name.resize(20, ' ');
    text += state + name + check.found + "\n";
    if (!check.remedy.empty()) text += std::string(29, ' ') + "fix: " + check.remedy + "\n";
  }
  text += report.enforced() ? "Commands can be sandboxed on this host.\n"
                            : "Commands cannot be sandboxed on this host: they will not run.\n";
  return text;
}

std::string doctor_json(const doctor_report& report) {
  const auto quoted = [](std::string_view text) { return json_quote(to_valid_utf8(text)); };
  std::string text = "{\"enforced\":";
  text += report.enforced() ? "true" : "false";
  text += ",\"checks\":[";
  for (const auto& check : report.checks) {
    if (text.back() != '[') text += ',';
    text += "{\"name\":" + quoted(check.name) + ",\"state\":" + quoted(to_string(check.state)) +
            ",\"found\":" + quoted(check.found);
    if (!check.remedy.empty()) text += ",\"remedy\":" + quoted(check.remedy);
    text += '}';
  }
  return text + "]}\n";
}

} // namespace gatehouse::sandbox
