#pragma once

#include <cstdint>

/// What the outer stage and `gatehouse-sandbox-init` say to each other. Plain old data only: the
/// inner stage has no library at all. Both programs come from one build, so nothing here is
/// versioned beyond a magic number that catches a mixed installation.
namespace gatehouse::sandbox::init {

inline constexpr std::uint32_t spec_magic = 0x67683034;

enum spec_flag : std::uint32_t {
  /// We are the payload of bubblewrap: check capabilities, apply Landlock and the filters. Without
  /// it (disabled and external profiles) the program only supervises: it becomes a subreaper, so
  /// that the whole tree can be ended.
  confine = 1,
  /// Creating system calls are put to the supervisor, because the plan guards missing names.
  guard_creation = 2,
  /// Standard input is the controlling terminal of a session that is all ours: the command becomes
  /// its foreground process group.
  own_terminal = 4,
  /// With `confine`: there is no bubblewrap around us. Capabilities are given up here, Landlock
  /// stands alone, and the tree is ended as without `confine`.
  on_host = 8,
  /// With `confine`: bubblewrap has left part of the view to us, and the capabilities for it.
  complete_view = 16,
};

/// Which prepared filter to load (sandbox/seccomp_filter.hpp).
enum network_kind : std::uint32_t { full = 0, isolated = 1, proxy_only = 2 };

/// Where the proxy listens inside, always: tools may be configured with it (BR-084).
inline constexpr std::uint16_t proxy_port = 3128;
inline constexpr std::uint32_t most_forwarded_ports = 32;

/// Head of the specification, which stands in a sealed memory file. It is followed by `step_count`
/// view_steps and by NUL-terminated strings: `argument_count`, `environment_count`,
/// `write_path_count`, then target and source of each step, and with `complete_view` the working
/// folder.
struct spec_header {
  std::uint32_t magic;
  std::uint32_t flags;
  std::uint32_t network;
  /// Descriptor of the command's standard error. Until the command starts, descriptor 2 leads to
  /// the outer stage, so that bubblewrap's own complaints do not mix with the command's words.
  std::int32_t stderr_fd;
  std::uint32_t argument_count;
  std::uint32_t environment_count;
  std::uint32_t write_path_count;
  std::uint32_t step_count;
  /// proxy_only: 1 when a host process waits for the proxy's listener.
  std::uint32_t bridge;
  /// Further loopback ports that lead to granted ports of the host, each through the same gate.
  std::uint32_t forwarded_count;
  std::uint16_t forwarded[most_forwarded_ports];
  /// With `confine` below bubblewrap: what the outer stage sees as its own. Whoever sees the same
  /// was not separated from it, whatever the program was that should have done it (BR-069).
  std::uint64_t outer_root_mount;     ///< mount id of "/"
  std::uint64_t outer_network_cookie; ///< SO_NETNS_COOKIE
};

struct view_step {
  std::uint32_t kind; ///< a mount_kind
  std::uint32_t perms;
};

enum message_kind : std::uint32_t {
  // from init
  listener = 1,        ///< carries the notification descriptor; value unused
  started = 2,         ///< the command has been executed; value: its pid inside the namespace
  exec_failed = 3,     ///< value: errno; nothing ran
  exited = 4,          ///< value: exit code of the command
  signalled = 5,       ///< value: signal that ended the command
  boundary_failed = 6, ///< value: errno; stage says what could not be applied; nothing ran
  bridge = 7,          ///< carries a listening socket; value: its port. Waits for bridge_taken
  stopped = 8,         ///< value: signal that stopped the command, which has not ended
  continued = 9,       ///< and it goes on
  // to init
  proceed = 15,        ///< the specification is complete; nothing is done before this
  forward_signal = 16, ///< value: signal for the command's process group
  bridge_taken = 17,   ///< somebody listens: the command may start
};

/// What failed in `boundary_failed`.
enum class stage : std::uint32_t {
  none,
  spec,
  capabilities,
  no_new_privileges,
  filter,
  landlock,
  process,
  bridge,
  view,
  folder,
  namespaces,
};

/// One datagram on the control socket (SOCK_SEQPACKET).
struct message {
  std::uint32_t kind;
  std::int32_t value;
  std::uint32_t stage;
};

} // namespace gatehouse::sandbox::init
