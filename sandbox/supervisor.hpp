#pragma once

#include "protocol/sandbox_choice.hpp"
#include "protocol/sandbox_event.hpp"
#include "sandbox/plan.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace gatehouse::sandbox {

/// Answers the system calls that the filter puts to us (seccomp user notification). A filter sees
/// registers only; what stands behind a pointer is looked at here, and, because the command could
/// change it after the look, an allowed call is never let through but performed here on what was
/// looked at, with no more rights than the command has.
///
/// - `socket` of a family or kind the network mode refuses: EPERM and an event.
/// - `connect` past the proxy, `listen` without a grant, in proxy_only: refused with an event.
/// - `connect` to a unix socket: only to one that a command of this sandbox listens on (§82).
/// - calls that make, rename or remove names: checked against the plan's guards (§63, §D12).
///
/// Runs on the thread that calls serve(). If this process dies the kernel answers ENOSYS and the
/// sandbox dies with it.
class supervisor {
public:
  struct setting {
    network_mode network = network_mode::isolated;
    /// The command's terminal is our own: opening /dev/tty by it may be served.
    bool own_terminal = false;
    std::vector<creation_guard> guards;
    /// Only below these is anything changed: the same second wall that the command has.
    std::vector<std::string> write_paths;
    /// … and not at or below these, unless one of `write_paths` lies deeper.
    std::vector<std::string> read_only_paths;
    /// There are no namespaces around the command: abstract sockets are the host's.
    bool on_host = false;
    /// proxy_only: programs may listen on their own loopback.
    bool local_binding = false;
    std::function<void(const sandbox_event&)> report; ///< called on the thread of serve()
  };

  explicit supervisor(setting s);
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  /// Takes ownership of the notification descriptor. Called once, before serve().
  void adopt(int listener);
  /// The descriptor to poll for reading, or -1 before adopt().
  [[nodiscard]] int listener() const noexcept;
  /// Answers one pending call. False when the filter has no user left.
  bool serve();

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace gatehouse::sandbox
