#include "sandbox/bwrap_argv.hpp"

#include <array>
#include <cassert>
#include <cstdio>
#include <initializer_list>
#include <string_view>

namespace gatehouse::sandbox {
namespace {

std::string octal(unsigned perms) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", perms);
  return text.data();
}

} // namespace

std::vector<std::string> bwrap_argv(std::span<const mount_step> mounts,
                                    const bwrap_options& options) {
  assert(options.empty_fds.size() >= denied_file_count(mounts));
  std::vector<std::string> argv{"--die-with-parent", "--unshare-user", "--unshare-pid",
                                "--unshare-ipc",     "--unshare-uts",  "--unshare-cgroup-try"};
  const auto add = [&](std::initializer_list<std::string_view> words) {
    argv.insert(argv.end(), words.begin(), words.end());
  };
  if (options.new_session) add({"--new-session"});
  if (options.network != network_mode::full) add({"--unshare-net"});
  std::size_t next_empty_fd = 0;
  for (const auto& step : mounts) {
    switch (step.kind) {
    case mount_kind::read_only_bind: add({"--ro-bind", step.source, step.target}); break;
    case mount_kind::writable_bind: add({"--bind", step.source, step.target}); break;
    case mount_kind::device_bind: add({"--dev-bind", step.source, step.target}); break;
    case mount_kind::devices: add({"--dev", step.target}); break;
    case mount_kind::processes:
      if (options.fresh_proc)
        add({"--proc", step.target});
      else
        add({"--perms", "0555", "--tmpfs", step.target, "--remount-ro", step.target});
      break;
    case mount_kind::empty_folder:
      add({"--perms", octal(step.perms), "--tmpfs", step.target});
      break;
    case mount_kind::folder: add({"--perms", octal(step.perms), "--dir", step.target}); break;
    case mount_kind::link: add({"--symlink", step.source, step.target}); break;
    case mount_kind::denied_file:
      add({"--perms", "0000", "--ro-bind-data", std::to_string(options.empty_fds[next_empty_fd++]),
           step.target});
      break;
    case mount_kind::seal: add({"--remount-ro", step.target}); break;
    }
  }
  if (!options.chdir.empty()) add({"--chdir", options.chdir});
  add({"--cap-drop", "ALL"});
  if (options.payload_completes)
    // To mount; to make places in closed folders of its own; to lower the bounding set again.
    add({"--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add",
         "CAP_SETPCAP"});
  else
    // As root, kernel settings could be written there, and by anybody the memory of other
    // processes.
    add({"--remount-ro", "/proc"});
  return argv;
}

} // namespace gatehouse::sandbox
