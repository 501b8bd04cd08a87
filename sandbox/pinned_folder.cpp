#include "sandbox/pinned_folder.hpp"

#include "policy/path_text.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace gatehouse::sandbox {

// Not openat2: a filter that cannot look behind its pointer refuses it.
pinned_folder pinned_folder::open(const std::string& canonical, folder_making* making) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  pinned_folder folder;
  folder.fd_.reset(::open("/", flags));
  std::string so_far;
  for (const auto part : policy::components_of(canonical)) {
    const std::string name{part};
    so_far.append("/").append(part);
    file_descriptor next{::openat(folder.get(), name.c_str(), flags)};
    if (!next && errno == ENOENT && making) {
      const bool over = making->stopped && making->stopped();
      const bool made = !over && ::mkdirat(folder.get(), name.c_str(), 0777) == 0;
      if (made && making->topmost.empty()) making->topmost = so_far;
      if (made || (!over && errno == EEXIST))
        next.reset(::openat(folder.get(), name.c_str(), flags));
      else if (over)
        errno = ECANCELED;
    }
    if (!next) {
      folder.failure_ = errno;
      folder.fd_.reset();
      return folder;
    }
    folder.fd_ = std::move(next);
  }
  if (!folder.fd_) folder.failure_ = errno;
  return folder;
}

} // namespace gatehouse::sandbox
