#include "sandbox/landlock.hpp"

#include "sandbox/kernel_call.hpp"

#include <cstdint>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace gatehouse::sandbox::landlock {
namespace {

// Kernel interface, spelled out because the system's header is older than the kernels we run on.
constexpr std::uint64_t write_file = 1ull << 1;
constexpr std::uint64_t remove_dir = 1ull << 4;
constexpr std::uint64_t remove_file = 1ull << 5;
constexpr std::uint64_t make_char = 1ull << 6;
constexpr std::uint64_t make_dir = 1ull << 7;
constexpr std::uint64_t make_reg = 1ull << 8;
constexpr std::uint64_t make_sock = 1ull << 9;
constexpr std::uint64_t make_fifo = 1ull << 10;
constexpr std::uint64_t make_block = 1ull << 11;
constexpr std::uint64_t make_sym = 1ull << 12;
constexpr std::uint64_t refer = 1ull << 13;
constexpr std::uint64_t truncate_file = 1ull << 14;
constexpr std::uint64_t control_device = 1ull << 15;

constexpr std::uint64_t bind_tcp = 1ull << 0;
constexpr std::uint64_t connect_tcp = 1ull << 1;

constexpr std::uint64_t scope_abstract_unix = 1ull << 0;
constexpr std::uint64_t scope_signal = 1ull << 1;

struct ruleset_attr {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};
struct [[gnu::packed]] path_beneath_attr {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};
constexpr unsigned create_version_flag = 1;
constexpr int rule_path_beneath = 1;

/// @return 0 or errno
int grant(long ruleset, long fd, std::uint64_t handled) noexcept {
  struct statx st {};
  if (const long r = kernel_call(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &st); is_error(r))
    return static_cast<int>(-r);
  std::uint64_t wanted = handled & ~(make_char | make_block);
  if (!S_ISDIR(st.stx_mode)) wanted &= write_file | truncate_file | control_device;
  const path_beneath_attr rule{wanted, static_cast<std::int32_t>(fd)};
  return static_cast<int>(
      -kernel_call(SYS_landlock_add_rule, ruleset, rule_path_beneath, &rule, 0));
}

/// A path that cannot be opened gets no grant, and none leads through a link put there meanwhile.
int grant_path(long ruleset, const char* path, std::uint64_t handled) noexcept {
  const long fd = kernel_call(SYS_openat, AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (is_error(fd)) return 0;
  const int failure = grant(ruleset, fd, handled);
  kernel_call(SYS_close, fd);
  return failure;
}

} // namespace

int abi_version() noexcept {
  const long version = kernel_call(SYS_landlock_create_ruleset, nullptr, 0, create_version_flag);
  return is_error(version) ? 0 : static_cast<int>(version);
}

int restrict_writes(wall w, const char* const* write_paths, std::size_t count, const int* keep_open,
                    std::size_t keep_count) noexcept {
  const int abi = abi_version();
  if (w.alone && abi < least_abi_alone) return ENOSYS;
  // Before ABI 2 moving between folders is refused outright under any ruleset; builds and git need
  // it, and the mounts already hold, so there the second wall is left out.
  if (abi < 2) return 0;
  std::uint64_t handled = write_file | remove_dir | remove_file | make_char | make_dir | make_reg |
                          make_sock | make_fifo | make_block | make_sym | refer;
  if (abi >= 3) handled |= truncate_file;
  // Behind bubblewrap the devices are private.
  if (w.alone) handled |= control_device;

  const ruleset_attr attr{handled, w.network ? 0 : bind_tcp | connect_tcp,
                          abi >= 6 ? scope_abstract_unix | scope_signal : 0};
  const std::size_t size = abi >= 6 ? sizeof attr : abi >= 4 ? 16 : 8;
  const long ruleset = kernel_call(SYS_landlock_create_ruleset, &attr, size, 0);
  if (is_error(ruleset)) return static_cast<int>(-ruleset);

  int failure = 0;
  for (std::size_t i = 0; i < count && failure == 0; ++i)
    failure = grant_path(ruleset, write_paths[i], handled);
  for (std::size_t i = 0; i < keep_count && failure == 0; ++i)
    failure = grant(ruleset, keep_open[i], handled);
  if (failure == 0)
    failure = static_cast<int>(-kernel_call(SYS_landlock_restrict_self, ruleset, 0));
  kernel_call(SYS_close, ruleset);
  return failure;
}

int restrict_signals() noexcept {
  const ruleset_attr attr{0, 0, scope_signal};
  const long ruleset = kernel_call(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
  if (is_error(ruleset)) return static_cast<int>(-ruleset);
  const long failure = kernel_call(SYS_landlock_restrict_self, ruleset, 0);
  kernel_call(SYS_close, ruleset);
  return static_cast<int>(-failure);
}

} // namespace gatehouse::sandbox::landlock
