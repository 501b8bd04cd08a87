#pragma once

#include "sandbox/init_protocol.hpp"

#include <string>
#include <string_view>
#include <vector>

struct sock_filter;

namespace gatehouse::sandbox {

/// What a filter answers. Everything not listed is allowed; a foreign architecture (also x32)
/// kills the process (§81, §82).
enum class filter_answer {
  refuse,      ///< EPERM
  unsupported, ///< ENOSYS (ENOTTY for ioctl), so that programs fall back to something older
  supervise,   ///< the supervisor decides, and performs it where a race would matter
};

/// One line of a filter as people read it, for documentation and tests.
struct filter_rule {
  std::string call;
  filter_answer answer = filter_answer::refuse;
  std::string condition; ///< "always", or which argument values are meant
};

/// The rules of the filter for a kind of network; `guard_creation` adds the calls that make,
/// rename or remove names and the openings for writing, which a plan with guards puts to the
/// supervisor. `on_host` adds what namespaces and read-only mounts do otherwise: owners, modes and
/// times are supervised; extended attributes, System V memory and the scheduling of others are
/// refused.
std::vector<filter_rule> describe_filter(init::network_kind network, bool guard_creation,
                                         bool on_host = false);

/// The same rules as a program for seccomp(2). Made at build time (seccomp_generate_main.cpp), so
/// that nothing of libseccomp runs at a launch.
/// @return empty when libseccomp refuses a rule, which is a bug: the build stops.
/// @pre guard_creation when on_host
std::vector<sock_filter> build_filter(init::network_kind network, bool guard_creation,
                                      bool on_host = false);

} // namespace gatehouse::sandbox
