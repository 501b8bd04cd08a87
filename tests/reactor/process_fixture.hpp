#pragma once

#include "reactor/process.hpp"
#include "reactor/unique_fd.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gatehouse::reactor::test {

/// Only ends a test that hangs; nothing waits for it.
inline constexpr std::chrono::seconds hang_guard{60};

inline spawn_request shell(std::string script) {
  spawn_request r;
  r.argv = {"sh", "-c", std::move(script)};
  r.program = "/bin/sh";
  r.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"};
  return r;
}

/// A child, all that it said and did.
struct recorded {
  std::string out;
  std::string err;
  std::string order; ///< o, e, x (exit), E (end), d (input drained)
  std::optional<exit_status> exit;
  std::optional<process_end> end;
  std::shared_ptr<process> child;
  bool auto_grant = true;

  process_listener listener() {
    return {.on_output =
                [this](output_stream s, std::string_view bytes) {
                  const bool is_out = s == output_stream::standard_output;
                  (is_out ? out : err) += bytes;
                  order += is_out ? 'o' : 'e';
                  if (auto_grant && child) child->grant(s);
                },
            .on_exit =
                [this](const exit_status& status) {
                  exit = status;
                  order += 'x';
                },
            .on_end =
                [this](const process_end& e) {
                  end = e;
                  order += 'E';
                },
            .on_input_drained = [this] { order += 'd'; }};
  }
};

/// Starts a child; `child` stays empty when that fails, and `finish` is then false.
inline std::unique_ptr<recorded> start(event_loop& loop, const spawn_request& request,
                                       process_limits limits = {}) {
  auto r = std::make_unique<recorded>();
  auto child = process::spawn(loop, request, r->listener(), limits);
  if (child) r->child = std::move(*child);
  return r;
}

inline bool finish(event_loop& loop, recorded& r) {
  return r.child && loop.run_until([&] { return r.end.has_value(); }, hang_guard);
}

/// A pipe to tell or hear from a child besides its streams.
struct pipe_pair {
  pipe_pair() {
    int fds[2] = {-1, -1};
    if (::pipe2(fds, O_CLOEXEC) == 0) {
      read_end.reset(fds[0]);
      write_end.reset(fds[1]);
    }
  }
  /// Blocks until the child has written.
  void wait() const {
    pollfd readable{read_end.get(), POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(std::chrono::milliseconds{hang_guard}.count()));
  }

  unique_fd read_end;
  unique_fd write_end;
};

inline std::size_t open_descriptors() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"})
    ++n;
  return n;
}

/// True while `pid` is a process that is not merely waiting to be reaped.
inline bool is_running(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  // By operator<<, which survives a process that ends while it is read.
  std::ostringstream text;
  text << file.rdbuf();
  const auto stat = text.str();
  const auto name_end = stat.rfind(')');
  return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
}

/// Waits for a process that is not a child of ours.
inline bool wait_gone(pid_t pid) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0) return true;
  pollfd gone{handle, POLLIN, 0};
  const bool ended =
      ::poll(&gone, 1, static_cast<int>(std::chrono::milliseconds{hang_guard}.count())) == 1;
  ::close(handle);
  return ended;
}

} // namespace gatehouse::reactor::test
