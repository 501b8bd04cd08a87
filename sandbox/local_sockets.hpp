#pragma once

#include "protocol/sandbox_choice.hpp"
#include "protocol/sandbox_event.hpp"
#include "sandbox/caller.hpp"
#include "sandbox/guarded_folders.hpp"
#include "sandbox/performed_call.hpp"

#include <deque>
#include <functional>
#include <string>

struct seccomp_data;

namespace gatehouse::sandbox {

/// Sockets of one sandbox (§82). Programs inside may talk to one another over unix sockets; the
/// sockets of the host, which the view shows like any file, cannot be reached. What counts as
/// inside is not a path, which anybody can move, but the file behind a socket that a program of the
/// sandbox listens on.
class local_sockets {
public:
  /// `own_abstract_names`: the command has a network namespace unless the network is full, so that
  /// abstract names are all inside it. `folders` and `report` must outlive the object.
  local_sockets(network_mode network, bool own_abstract_names, bool local_binding,
                const guarded_folders& folders,
                const std::function<void(const sandbox_event&)>& report)
      : network_{network}, own_abstract_names_{own_abstract_names && network != network_mode::full},
        local_binding_{local_binding}, folders_{folders}, report_{report} {}

  /// `socket` of a family or kind that the network mode does not have.
  answer refuse_family(const seccomp_data& call) const;
  /// Performed here, whatever the family: were it let through, the address could change behind our
  /// back.
  answer connect(const caller& who, const seccomp_data& call) const;
  /// Looked at for the guards, then let through: the kernel itself checks where a socket file may
  /// be made, and nobody can connect to it before `listen`.
  answer bind(const caller& who, const seccomp_data& call) const;
  /// Remembers the file of a unix socket, then lets the call through.
  answer listen(const caller& who, const seccomp_data& call);

  /// The oldest is forgotten (connecting to it is refused) when there are more.
  static constexpr std::size_t most_listening = 256;

private:
  [[nodiscard]] bool is_ours(int object) const noexcept;
  /// errno when `path` (as in the address) must not be connected to; else the file in `target`.
  int find_listener(const caller& who, const std::string& path, file_descriptor& target) const;
  void blocked(const char* call, std::string path, std::string family, std::string entry,
               std::string host = {}) const;

  network_mode network_;
  bool own_abstract_names_;
  bool local_binding_;
  const guarded_folders& folders_;
  const std::function<void(const sandbox_event&)>& report_;
  /// Held open, so that the number of the inode cannot be given to another file.
  std::deque<file_descriptor> listening_;
};

} // namespace gatehouse::sandbox
