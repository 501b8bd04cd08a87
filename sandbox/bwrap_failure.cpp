#include "sandbox/bwrap_failure.hpp"

#include <algorithm>

namespace gatehouse::sandbox {
namespace {

struct known_cause {
  std::string_view needle;
  errc code;
  std::string_view cause;
  std::string_view remedy;
};

constexpr std::string_view userns_remedy =
    "allow unprivileged user namespaces: sysctl user.max_user_namespaces=15000, and on Debian "
    "kernel.unprivileged_userns_clone=1, on Ubuntu an AppArmor profile for bwrap (or "
    "kernel.apparmor_restrict_unprivileged_userns=0); in a container, start it with a seccomp "
    "profile that allows unshare and clone. `gatehouse doctor` shows which one applies";

// The words are bubblewrap's own.
constexpr std::string_view limits_remedy =
    "end other calls or raise the limits of open files and processes (ulimit -n, ulimit -u)";

constexpr known_cause causes[] = {
    // Before those that blame the host: a full process table is no lack of a right.
    {"Resource temporarily unavailable", errc::boundary_failed,
     "no further process or namespace can be made at the moment", limits_remedy},
    {"Too many open files", errc::boundary_failed, "no further file can be opened", limits_remedy},
    {"No permissions to create a new namespace", errc::boundary_unavailable,
     "this host does not let ordinary programs create user namespaces", userns_remedy},
    {"No permissions to creating new namespace", errc::boundary_unavailable,
     "this host does not let ordinary programs create user namespaces", userns_remedy},
    {"Creating new namespace failed", errc::boundary_unavailable,
     "this host does not let programs create the namespaces", userns_remedy},
    {"setting up uid map", errc::boundary_unavailable,
     "this host creates user namespaces but forbids to use them", userns_remedy},
    {"loopback: Failed", errc::boundary_unavailable, "the network namespace cannot be set up here",
     userns_remedy},
    {"Can't mount proc", errc::boundary_unavailable,
     "a fresh /proc cannot be mounted here, and the host's is never shown instead",
     "in a container, start it with an unmasked /proc (docker: --security-opt "
     "systempaths=unconfined); remove mounts that cover parts of /proc"},
    {"Can't chdir to", errc::boundary_failed,
     "the command's working folder does not exist inside the boundary",
     "choose a folder that the permission profile makes readable"},
    {"Unknown option", errc::boundary_unavailable, "this bubblewrap is too old",
     "install bubblewrap 0.8 or newer"},
};

} // namespace

error explain_bwrap_failure(std::string_view complaint) {
  while (!complaint.empty() && (complaint.back() == '\n' || complaint.back() == ' '))
    complaint.remove_suffix(1);
  const std::string quoted = complaint.empty()
                                 ? std::string{"bubblewrap ended without saying why"}
                                 : "bubblewrap says: " + std::string{complaint.substr(0, 600)};
  for (const auto& known : causes)
    if (complaint.find(known.needle) != std::string_view::npos)
      return {known.code, std::string{known.cause} + " (" + quoted + ")",
              std::string{known.remedy}};
  return {errc::boundary_failed, "the boundary could not be built (" + quoted + ")",
          "run `gatehouse doctor` to see what this host can enforce"};
}

} // namespace gatehouse::sandbox
