#include "tests/support/run_program.hpp"

#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gatehouse::tests {
namespace {

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"pipe2 failed"};
  return {ends[0], ends[1]};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const auto& text : texts)
    list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

} // namespace

program_result run_program(const std::vector<std::string>& argv, const program_options& how) {
  const auto in = make_pipe();
  const auto out = make_pipe();
  const auto err = make_pipe();
  const auto arguments = pointers(argv);
  const auto environment = pointers(how.environment);
  const auto child = ::fork();
  if (child < 0) throw std::runtime_error{"fork failed"};
  if (child == 0) {
    ::dup2(in.read, 0);
    ::dup2(out.write, 1);
    ::dup2(err.write, 2);
    if (::chdir(how.cwd.c_str()) == 0) ::execve(arguments[0], arguments.data(), environment.data());
    ::_exit(127);
  }
  ::close(in.read);
  ::close(out.write);
  ::close(err.write);
  ::fcntl(in.write, F_SETFL, O_NONBLOCK);
  const auto old_pipe_handler = ::signal(SIGPIPE, SIG_IGN);
  program_result result;
  auto input = how.input;
  pollfd fds[] = {{in.write, POLLOUT, 0}, {out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
  const auto close_one = [](pollfd& p) {
    ::close(p.fd);
    p.fd = -1;
  };
  if (input.empty()) close_one(fds[0]);
  while (fds[1].fd >= 0 || fds[2].fd >= 0) {
    if (::poll(fds, 3, -1) < 0) continue;
    if (fds[0].fd >= 0 && fds[0].revents != 0) {
      const auto count = ::write(fds[0].fd, input.data(), input.size());
      if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
      if (count < 0 || input.empty()) close_one(fds[0]);
    }
    for (auto [p, text] : {std::pair{&fds[1], &result.out}, std::pair{&fds[2], &result.err}}) {
      if (p->fd < 0 || p->revents == 0) continue;
      char buffer[65536];
      const auto count = ::read(p->fd, buffer, sizeof buffer);
      if (count > 0)
        text->append(buffer, static_cast<std::size_t>(count));
      else
        close_one(*p);
    }
  }
  if (fds[0].fd >= 0) close_one(fds[0]);
  ::signal(SIGPIPE, old_pipe_handler);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error{"waitpid failed"};
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string built(std::string_view name) {
  const char* folder = std::getenv("GATEHOUSE_BUILD_DIR");
  if (!folder) throw std::runtime_error{"GATEHOUSE_BUILD_DIR is not set"};
  return std::string{folder} + "/" + std::string{name};
}

} // namespace gatehouse::tests
