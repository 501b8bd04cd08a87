#include "sandbox/init_spec.hpp"

#include "sandbox/kernel_call.hpp"

#include <cstddef>
#include <cstdint>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace gatehouse::sandbox {

long read_spec(int fd, init_spec& s) {
  struct statx st {};
  const long seen = kernel_call(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &st);
  if (is_error(seen)) return seen;
  const std::size_t size = st.stx_size;
  if (size < sizeof(init::spec_header)) return -EPROTO;
  const long base = kernel_call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (is_error(base)) return base;
  s.head = reinterpret_cast<const init::spec_header*>(base);
  if (s.head->magic != init::spec_magic || s.head->argument_count == 0) return -EPROTO;
  const std::size_t strings = std::size_t{s.head->argument_count} + s.head->environment_count +
                              s.head->write_path_count + std::size_t{2} * s.head->step_count +
                              s.has(init::complete_view);
  // Five lists, each closed by a null.
  const long table = kernel_call(SYS_mmap, 0, (strings + 5) * sizeof(char*), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(table)) return table;
  const std::size_t steps = s.head->step_count * sizeof(init::view_step);
  if (size < sizeof(init::spec_header) + steps) return -EPROTO;
  char* at = reinterpret_cast<char*>(base) + sizeof(init::spec_header) + steps;
  char* const stop = reinterpret_cast<char*>(base) + size;
  char** slot = reinterpret_cast<char**>(table);
  bool complete = true;
  const auto take = [&](std::uint32_t count) {
    char** first = slot;
    for (std::uint32_t i = 0; i < count && complete; ++i) {
      *slot++ = at;
      while (at < stop && *at)
        ++at;
      complete = at < stop;
      ++at;
    }
    ++slot;
    return first;
  };
  s.arguments = take(s.head->argument_count);
  s.environment = take(s.head->environment_count);
  s.write_paths = take(s.head->write_path_count);
  s.step_paths = take(2 * s.head->step_count);
  s.folder = take(s.has(init::complete_view) ? 1 : 0);
  return complete ? 0 : -EPROTO;
}

} // namespace gatehouse::sandbox
