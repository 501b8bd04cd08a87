#include "sandbox/inner_conversation.hpp"

#include "protocol/visible_text.hpp"
#include "sandbox/bwrap_failure.hpp"
#include "sandbox/file_descriptor.hpp"
#include "sandbox/inner_stage.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace gatehouse::sandbox {
namespace {

std::string stage_text(std::uint32_t stage) {
  switch (static_cast<init::stage>(stage)) {
  case init::stage::capabilities: return "capabilities are left over inside the boundary";
  case init::stage::no_new_privileges: return "no_new_privs cannot be set";
  case init::stage::filter: return "the supervised system call filter cannot be loaded";
  case init::stage::landlock: return "Landlock refuses the rules";
  case init::stage::bridge: return "the way to the network proxy cannot be made";
  case init::stage::view: return "the view cannot be completed";
  case init::stage::namespaces:
    return "bubblewrap started the inner stage without namespaces of its own";
  case init::stage::folder: return "the command's working folder cannot be entered";
  case init::stage::process: return "no process can be started inside the boundary";
  case init::stage::spec:
  case init::stage::none: break;
  }
  return "gatehouse-sandbox and gatehouse-sandbox-init do not fit together";
}

/// Passes a listening socket on to whoever serves it.
bool pass_on(int channel, int listener, std::int32_t port) {
  const auto tag = static_cast<std::uint32_t>(port);
  iovec data{const_cast<std::uint32_t*>(&tag), sizeof tag};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = sizeof space;
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(part), &listener, sizeof listener);
  ssize_t sent = -1;
  do
    sent = sendmsg(channel, &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == sizeof tag;
}

} // namespace

bool inner_conversation::read() {
  for (;;) {
    init::message m{};
    iovec data{&m, sizeof m};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = sizeof space;
    const ssize_t size = recvmsg(control_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    // Told once, before what it had said.
    if (size < 0 && errno == ECONNRESET) {
      unread_ = true;
      continue;
    }
    if (size != sizeof m) return false;
    heard_ = true;
    file_descriptor attached;
    for (auto* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
      if (part->cmsg_level != SOL_SOCKET) continue;
      int fd = -1;
      ucred sender{};
      if (part->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
        attached.reset(fd);
      } else if (part->cmsg_type == SCM_CREDENTIALS) {
        std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
        sender_ = sender.pid;
      }
    }
    if (m.kind == init::listener) {
      if (watcher_ && attached) watcher_->adopt(attached.release());
    } else if (m.kind == init::bridge) {
      if (attached) take_bridge(attached.get(), m.value);
    } else if (m.kind == init::started) {
      started_ = true;
      report_.send({});
    } else if (m.kind == init::stopped || m.kind == init::continued) {
      sandbox_event event;
      event.kind =
          m.kind == init::stopped ? sandbox_event_kind::stopped : sandbox_event_kind::continued;
      if (m.kind == init::stopped) event.signal = m.value;
      report_.send(event);
    } else {
      last_ = m;
    }
  }
}

void inner_conversation::read_to_its_end() {
  constexpr int longest_ms = 2000;
  pollfd more{control_, POLLIN, 0};
  while (read() && poll(&more, 1, longest_ms) != 0) {
  }
}

/// Without the answer the inner stage starts nothing: it waits until it is ended.
void inner_conversation::take_bridge(int listener, std::int32_t port) {
  if (!pass_on(proxy_channel_, listener, port)) {
    last_ = init::message{init::boundary_failed, errno,
                          static_cast<std::uint32_t>(init::stage::bridge)};
    shutdown(control_, SHUT_RDWR);
    return;
  }
  const init::message taken{init::bridge_taken, 0, 0};
  send(control_, &taken, sizeof taken, MSG_NOSIGNAL);
}

void inner_conversation::forward_signals(int signals) {
  signalfd_siginfo info{};
  while (::read(signals, &info, sizeof info) == sizeof info) {
    const init::message m{init::forward_signal, static_cast<std::int32_t>(info.ssi_signo), 0};
    forwarded_ = true;
    send(control_, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

/// The inner stage has said nothing of an end: it, or bubblewrap around it, was ended before.
int inner_conversation::conclude_without_word(int status, int complaints) {
  const auto ended = "the boundary " + (WIFSIGNALED(status) ? "was ended from outside by signal " +
                                                                  std::to_string(WTERMSIG(status))
                                                            : std::string{"ended"});
  if (started_) {
    report_.killed({errc::boundary_failed,
                    "the boundary was ended from outside; the command may have run in part",
                    "look at what it left before you run it again"});
    return 128 + SIGKILL;
  }
  char text[4096];
  const ssize_t size = ::read(complaints, text, sizeof text);
  // Who was killed has not given up: its words are warnings.
  if (size > 0 && !WIFSIGNALED(status)) {
    report_.boundary_failed(explain_bwrap_failure({text, static_cast<std::size_t>(size)}));
    return exit_no_boundary;
  }
  if (!nothing_began()) {
    report_.killed({errc::boundary_failed, ended + " before it had told that the command began",
                    "look at what it may have left before you run it again"});
    return 128 + SIGKILL;
  }
  report_.boundary_failed(
      WIFSIGNALED(status)
          ? error{errc::boundary_failed, ended + " before the command began", "run it again"}
          : explain_bwrap_failure({}));
  return exit_no_boundary;
}

int inner_conversation::conclude(int status, int complaints, const std::string& program,
                                 const std::function<std::string()>& explain) {
  sandbox_event event;
  if (!last_) return conclude_without_word(status, complaints);
  switch (last_->kind) {
  case init::exited:
    event.kind = sandbox_event_kind::exited;
    event.exit_code = last_->value;
    report_.send(event);
    return last_->value;
  case init::signalled:
    event.kind = sandbox_event_kind::signalled;
    event.signal = last_->value;
    report_.send(event);
    return 128 + last_->value;
  case init::exec_failed: {
    const bool missing = last_->value == ENOENT || last_->value == ENOTDIR;
    event.kind = sandbox_event_kind::exec_failed;
    event.error_number = last_->value;
    event.message = program + ": " + (missing ? "not found" : std::strerror(last_->value));
    if (explain) event.message += explain();
    std::fprintf(stderr, "gatehouse-sandbox: %s\n", visible_lines(event.message, "    ").c_str());
    report_.send(event);
    return missing ? 127 : 126;
  }
  default:
    report_.boundary_failed({errc::boundary_failed,
                             stage_text(last_->stage) + ": " + std::strerror(last_->value),
                             static_cast<init::stage>(last_->stage) == init::stage::folder
                                 ? "choose a folder that the permission profile makes readable"
                                 : "run `gatehouse doctor` to see what this host can enforce"});
    return exit_no_boundary;
  }
}

} // namespace gatehouse::sandbox
