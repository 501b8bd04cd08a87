#include "sandbox/find_and_execute.hpp"

#include "sandbox/kernel_call.hpp"

#include <cstddef>
#include <cstring>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace gatehouse::sandbox {
namespace {

long length_of(const char* text) {
  long size = 0;
  while (text[size])
    ++size;
  return size;
}

/// Executes `program` with what `s` says; on ENOEXEC as a script of /bin/sh, as shells do.
/// @return a negative errno
long execute(const char* program, const init_spec& s) {
  const long failure = kernel_call(SYS_execve, program, s.arguments, s.environment);
  if (failure != -ENOEXEC) return failure;
  // The table has a free slot in front only when we make one: two words and the rest.
  const std::size_t count = s.head->argument_count;
  const long table = kernel_call(SYS_mmap, 0, (count + 2) * sizeof(char*), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(table)) return table;
  auto* words = reinterpret_cast<const char**>(table);
  words[0] = "sh";
  words[1] = program;
  for (std::size_t i = 1; i < count; ++i)
    words[i + 1] = s.arguments[i];
  return kernel_call(SYS_execve, "/bin/sh", words, s.environment);
}

} // namespace

long find_and_execute(const init_spec& s) {
  const char* name = s.arguments[0];
  const long size = length_of(name);
  if (size == 0) return -ENOENT;
  for (long i = 0; i < size; ++i)
    if (name[i] == '/') return execute(name, s);

  const char* path = "/usr/local/bin:/usr/bin:/bin";
  for (char** entry = s.environment; *entry; ++entry) {
    const char* text = *entry;
    if (text[0] == 'P' && text[1] == 'A' && text[2] == 'T' && text[3] == 'H' && text[4] == '=')
      path = text + 5;
  }
  long outcome = -ENOENT;
  char candidate[4096];
  for (;;) {
    long used = 0;
    bool fits = true;
    for (; *path && *path != ':'; ++path) {
      fits = used + size + 2 < static_cast<long>(sizeof candidate);
      if (fits) candidate[used++] = *path;
    }
    if (fits) {
      // An empty entry is the working folder.
      if (used > 0) candidate[used++] = '/';
      memcpy(candidate + used, name, static_cast<std::size_t>(size) + 1);
      const long failure = execute(candidate, s);
      struct statx st {};
      // A folder that may not be searched hides its programs: as good as not there.
      if (failure == -EACCES)
        outcome = is_error(kernel_call(SYS_statx, AT_FDCWD, candidate, 0, STATX_TYPE, &st))
                      ? outcome
                      : failure;
      else if (failure != -ENOENT && failure != -ENOTDIR)
        return failure;
    }
    if (!*path) return outcome;
    ++path;
  }
}

} // namespace gatehouse::sandbox
