#pragma once

#include "sandbox/caller.hpp"

#include <cstdint>
#include <functional>
#include <string>

#include <sys/types.h>

namespace gatehouse::sandbox {

/// What a supervised call answers.
struct answer {
  int error = 0; ///< errno; 0: success
  /// A descriptor to hand to the caller as the call's value.
  file_descriptor opened;
  bool close_on_exec = false;
  /// May wait for somebody (a named pipe, a peer): to be done on a thread of its own. Called again
  /// when it fails with EINTR and its caller has no signal to take.
  std::function<answer()> later;
  /// The kernel performs the call; only where what stands behind its pointers does not matter.
  bool let_through = false;

  static answer failure(int code) {
    answer a;
    a.error = code;
    return a;
  }
};

/// Gives up every capability of this process for good: what it performs for the command it then
/// does with the command's rights, whose user it shares. False: it must not perform anything.
bool give_up_capabilities() noexcept;

// Each performs one call on pinned places (sandbox/caller.hpp), in the caller's view of the file
// system. Mount points are left alone: the kernel protects them only from inside the namespace they
// are in.

/// Opens what stands at `at`; /dev/tty is our own terminal. `may_write`: the second wall lets the
/// caller change it.
answer open_existing(const place& at, int flags, bool may_write);
/// Is a file without a name wanted, in a folder that is opened (O_TMPFILE)?
bool is_nameless_open(int flags) noexcept;
answer open_nameless(const place& folder, int flags, mode_t mode);
answer set_length(const place& at, off_t length);
answer open_new(const place& at, int flags, mode_t mode);
answer make_folder(const place& at, mode_t mode);
answer make_node(const place& at, mode_t mode, dev_t device);
answer make_link_text(const place& at, const std::string& text);
answer make_hard_link(const place& from, const place& to);
answer rename_entry(const place& from, const place& to, unsigned flags);
answer remove_entry(const place& at, int flags);

/// True for a pipe, or a file or terminal that is open for writing as a standard stream of this
/// process: such a stream may be reopened through /dev/stdout.
bool is_own_stream(const place& at);

/// Is it /dev/tty, which is another terminal for every session?
bool is_controlling_terminal(const place& at) noexcept;

/// True when what stands at `at` is a file of /proc itself, not one that /proc leads to.
bool is_process_information(const place& at);

/// Where an open file or folder of this host lies now, links to it (/proc/PID/fd/N) followed; not
/// absolute when it has no name (a pipe, a memory file). Only for callers whose view is our own.
std::string path_on_host(const file_descriptor& file);

/// EROFS on a read-only mount, else EACCES: what the caller would have been told by the kernel.
int refusal_of(const place& at);

/// Sends the answer for notification `id` of `thread`, at once or from a thread of its own; EAGAIN
/// when too many of those are waiting. A call that waits ends early when a signal for its caller
/// does, as it would in the kernel. An answer nobody waits for any more is dropped.
void deliver(int listener, pid_t thread, std::uint64_t id, answer what);

} // namespace gatehouse::sandbox
