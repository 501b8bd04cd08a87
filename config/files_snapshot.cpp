#include "config/files_snapshot.hpp"

#include <ctime>

#include <sys/stat.h>

namespace gatehouse::config {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

files_snapshot::seen files_snapshot::look_at(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};
  return {true,
          about.st_dev,
          about.st_ino,
          about.st_size,
          nanoseconds(about.st_mtim),
          nanoseconds(about.st_ctim)};
}

files_snapshot::files_snapshot(std::vector<std::string> paths) : paths_{std::move(paths)} {
  // The clock that file systems stamp with: a later write in this tick leaves the same stamp.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  seen_.reserve(paths_.size());
  for (const auto& path : paths_) {
    seen_.push_back(look_at(path));
    uncertain_ = uncertain_ || seen_.back().altered_ns >= nanoseconds(now);
  }
}

bool files_snapshot::changed() const {
  if (uncertain_) return true;
  for (std::size_t i = 0; i < paths_.size(); ++i)
    if (look_at(paths_[i]) != seen_[i]) return true;
  return false;
}

} // namespace gatehouse::config
