#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gatehouse::reactor {

enum class stdin_mode : std::uint8_t {
  null,    ///< /dev/null: a read ends at once
  pipe,    ///< written through `process::write_stdin`
  inherit, ///< the daemon's own
  pty,     ///< the terminal; needs `output_mode::pty`
};

enum class output_mode : std::uint8_t {
  pipes,   ///< one pipe each for stdout and stderr
  pty,     ///< both to a new terminal, reported as stdout
  inherit, ///< the daemon's own; nothing is reported
};

struct window_size {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
};

/// A descriptor that the child gets besides 0–2. Borrowed: the caller still closes `parent_fd`.
struct passed_fd {
  int parent_fd = -1;
  int child_fd = -1; ///< 3 or higher, each once
};

/// One child to start. It begins with exactly what stands here: a session of its own, default
/// signal dispositions, no signal blocked, descriptors 0–2 and `pass_fds`, nothing else.
struct spawn_request {
  std::vector<std::string> argv; ///< as the program sees it; not empty
  /// Absolute path of what is executed. Empty: `argv[0]`, taken as it is (relative to `cwd`) when
  /// it holds a '/', otherwise looked up in the PATH of `env`, of which relative and empty entries
  /// are skipped: the working folder must not decide which program runs.
  std::string program;
  std::vector<std::string> env; ///< "K=V"; the whole environment, nothing is inherited
  std::string cwd;              ///< empty: the daemon's own
  stdin_mode input = stdin_mode::null;
  output_mode output = output_mode::pipes;
  std::vector<passed_fd> pass_fds;
  window_size terminal; ///< with `output_mode::pty`
  /// Its children end all that is below them as soon as it has ended, those too that change their
  /// number by forking and that nobody else finds: they are left to that.
  bool children_end_theirs = false;
};

} // namespace gatehouse::reactor
