#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// What was found on this host by trying, not by reading version numbers where a try is possible.
struct host_findings {
  std::string kernel_release;      ///< "6.1.0-13-amd64"
  std::string kernel_version_text; ///< of /proc/version
  bool is_root = false;            ///< the tries below were made with all rights
  std::string bwrap_path;          ///< empty: none that may be trusted
  std::string bwrap_missing;       ///< then: why
  std::string bwrap_version;       ///< what it prints
  bool bwrap_setuid = false;
  int user_namespace_error = 0;    ///< errno of making one; 0: works
  int network_namespace_error = 0; ///< errno of making one inside a user namespace
  std::optional<long> max_user_namespaces;
  std::optional<long> unprivileged_userns_clone;     ///< Debian's switch
  std::optional<long> apparmor_restricts_namespaces; ///< Ubuntu's switch
  std::optional<std::string> view_complaint;         ///< bubblewrap's words when it built no view
  int filter_error = 0;                              ///< errno of loading a supervised filter
  int landlock_abi = 0;
  std::optional<long> ptrace_scope; ///< Yama
  /// Windows programs can be started from here (WSL); nothing: this is no WSL.
  std::optional<bool> wsl_interop;
  /// A command that tried to write where it must not, through the real programs.
  enum class trial : std::uint8_t { held, broken, did_not_run } boundary = trial::did_not_run;
  std::string boundary_complaint; ///< broken: what a command got away with; else what the helper
                                  ///< said when it did not run
};

enum class check_state : std::uint8_t { ok, warning, failed };
/// "ok", "warning", "failed".
std::string_view to_string(check_state s) noexcept;

/// One line of the report.
struct doctor_check {
  std::string name; ///< stable, for scripts: "bubblewrap", "user_namespaces", …
  check_state state = check_state::ok;
  std::string found;  ///< what is, one sentence
  std::string remedy; ///< how to mend it; empty when ok

  bool operator==(const doctor_check&) const = default;
};

/// What this host can enforce and the fix for each gap (§92c).
struct doctor_report {
  std::vector<doctor_check> checks;

  /// Nothing failed: sandboxed commands run here, and their boundary held when it was tried.
  [[nodiscard]] bool enforced() const noexcept;
};

/// Pure.
doctor_report diagnose(const host_findings& findings);

/// Tries everything on this host. `helper`: gatehouse-sandbox; its inner stage lies beside it.
/// Makes and removes one folder below /var/tmp or /tmp. Forks: for a program with a single thread.
host_findings examine_host(const std::string& helper, std::string_view path_variable);

/// For people, a line or two a check.
std::string doctor_text(const doctor_report& report);
/// One JSON object: {"enforced":…,"checks":[{"name","state","found","remedy"?}]} and a newline.
std::string doctor_json(const doctor_report& report);

/// WSL 1 has no namespaces (§84). `text` is /proc/version.
bool is_wsl1(std::string_view text);

} // namespace gatehouse::sandbox
