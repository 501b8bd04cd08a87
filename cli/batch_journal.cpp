#include "cli/batch_journal.hpp"

#include "protocol/visible_text.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

using rpc::batch::journal_line;

error failed(const std::string& path, std::string_view what) {
  return {errc::io, path + ": " + std::string{what} + ": " + std::strerror(errno), {}};
}

std::string in_words(const rpc::batch::journal_place& place) {
  const auto or_as_configured = [](const std::string& text) {
    return text.empty() ? std::string{"as configured"} : text;
  };
  return visible_text(place.environment + ":" + place.folder + " (" +
                      (place.runner == "daemon" ? "by a daemon, " : "") + "profile " +
                      or_as_configured(place.profile) + ", approval policy " +
                      or_as_configured(place.approval_policy) + ")");
}

/// A run that was killed this moment may still hold it through a child that it was starting.
bool lock_soon(int fd) {
  for (int tries = 0; tries < 40; ++tries) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    const timespec pause{0, 50'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

} // namespace

std::string real_place(const std::string& path) {
  std::error_code failed;
  auto whole = std::filesystem::absolute(path, failed);
  if (!whole.has_filename()) whole = whole.parent_path(); // of a folder with a slash behind it
  const auto above = std::filesystem::weakly_canonical(whole.parent_path(), failed);
  return (failed ? whole : above / whole.filename()).lexically_normal().string();
}

std::vector<std::string> names_of_place(const std::string& path) {
  std::vector<std::string> names{real_place(path)};
  std::error_code failed;
  auto given = std::filesystem::absolute(path, failed).lexically_normal().string();
  while (given.size() > 1 && given.back() == '/')
    given.pop_back();
  // Behind a link `..` leads elsewhere than the text says; then this name is of another place.
  if (given != names.front() && real_place(given) == names.front()) names.push_back(given);
  return names;
}

result<std::unique_ptr<batch_journal>>
batch_journal::open(const std::string& path, journal_wish wish, const journal_owner& owner) {
  const int make = wish == journal_wish::go_on ? 0 : O_CREAT;
  const int fd = ::open(path.c_str(), O_RDWR | make | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == ENOENT && wish == journal_wish::go_on)
    return error{errc::invalid_request,
                 path + ": there is no such journal, so nothing to go on with",
                 "Name the journal of the run that was cut. Without --resume every call runs."};
  if (fd < 0) return failed(path, "the journal cannot be opened");
  std::unique_ptr<batch_journal> journal{new batch_journal{path, fd}};
  struct stat about {};
  if (::fstat(fd, &about) != 0) return failed(path, "the journal cannot be read");
  if (!S_ISREG(about.st_mode))
    return error{errc::invalid_request, path + ": a journal is a regular file", "Name another."};
  if (!lock_soon(fd))
    return error{errc::io, path + ": another run holds this journal",
                 "Wait for it, or name another journal."};
  if (const auto read = journal->read(owner); !read) return read.error();
  return journal;
}

batch_journal::~batch_journal() {
  ::close(fd_);
}

result<void> batch_journal::read(const journal_owner& owner) {
  std::string text;
  char bytes[65536];
  ssize_t count = 0;
  while ((count = ::read(fd_, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR))
    if (count > 0) text.append(bytes, static_cast<std::size_t>(count));
  if (count < 0) return failed(path_, "the journal cannot be read");
  journal_line head;
  const auto items = static_cast<std::int64_t>(owner.items);
  head.run = rpc::batch::journal_head{items, owner.input, owner.place};
  const auto first = rpc::to_json(head) + "\n";
  // A last line that was cut while it was written: its effect was never told. Nothing is taken away
  // before all else has shown that this is a journal, and the one of this input.
  const auto last = text.rfind('\n');
  const auto whole = last == std::string::npos ? 0 : last + 1;
  if (whole == 0 && !first.starts_with(text)) return not_a_journal(1);
  std::size_t number = 0;
  for (auto rest = std::string_view{text}.substr(0, whole); !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    const json_source source{path_ + ":" + std::to_string(++number), errc::invalid_request, "",
                             std::size_t{64} << 20U};
    const auto tree = parse_json(line, source);
    if (!tree) return not_a_journal(number);
    const auto read = rpc::codec<journal_line>::decode(json_node{*tree, source});
    if (!read) return not_a_journal(number);
    if (number == 1) {
      if (!read->run) return not_a_journal(number);
      if (read->run->input != owner.input || read->run->items != items)
        return error{errc::invalid_request, path_ + ": this journal belongs to another input",
                     "Give the same input again, or name another journal."};
      if (read->run->place != owner.place)
        return error{errc::invalid_request,
                     path_ + ": the calls of this journal ran in " + in_words(read->run->place) +
                         ", and these would run in " + in_words(owner.place),
                     "Give --cwd, --environment, --profile, --ask and --url as then, or name "
                     "another journal."};
    } else if (read->started) {
      entries_[*read->started]; // unless an end follows, it was cut
    } else if (read->finished) {
      const auto& end = *read->finished;
      entries_[end.index] = {true, end.call_id, end.status, end.result.text};
    } else {
      return not_a_journal(number);
    }
  }
  if (whole < text.size() && ::ftruncate(fd_, static_cast<off_t>(whole)) != 0)
    return failed(path_, "the journal cannot be mended");
  size_ = static_cast<std::int64_t>(whole);
  if (::lseek(fd_, static_cast<off_t>(size_), SEEK_SET) < 0)
    return failed(path_, "the journal cannot be read");
  return number > 0 ? unchanged() : append(first);
}

result<void> batch_journal::unchanged() const {
  const auto not_ours = [this](std::string_view what) {
    return error{errc::io, path_ + ": " + std::string{what},
                 "Nothing more was started or noted. What such a file tells may be forged: begin "
                 "with a new journal, where no call and no other program writes."};
  };
  struct stat ours {};
  struct stat named {};
  if (::fstat(fd_, &ours) != 0) return failed(path_, "the journal cannot be looked at");
  if (::lstat(path_.c_str(), &named) != 0 || named.st_dev != ours.st_dev ||
      named.st_ino != ours.st_ino)
    return not_ours("the journal of this run was removed or replaced while it ran");
  if (static_cast<std::int64_t>(ours.st_size) != size_)
    return not_ours("something else has written to the journal of this run");
  if (ours.st_nlink != 1) return not_ours("the journal has a second name (a hard link)");
  return {};
}

error batch_journal::not_a_journal(std::size_t line) const {
  return {errc::invalid_request,
          path_ + ":" + std::to_string(line) + ": this is no journal of a batch, or it was changed",
          "Nothing was changed in it. Name another file."};
}

result<void> batch_journal::append(const std::string& line) {
  const auto give_up = [this] {
    auto why = failed(path_, "the journal cannot be written");
    // Half a line may stand there, which another would make unreadable.
    whole_ = ::ftruncate(fd_, static_cast<off_t>(size_)) == 0 &&
             ::lseek(fd_, static_cast<off_t>(size_), SEEK_SET) >= 0;
    why.remedy = "Make room; the same command goes on from here.";
    return why;
  };
  if (!whole_) return error{errc::io, path_ + ": the journal could not be written before", {}};
  if (auto ours = unchanged(); !ours) return ours;
  std::string_view rest = line;
  while (!rest.empty()) {
    const auto count = ::write(fd_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return give_up();
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fdatasync(fd_) != 0) return give_up();
  size_ += static_cast<std::int64_t>(line.size());
  return {};
}

result<void> batch_journal::started(std::int64_t index) {
  journal_line line;
  line.started = index;
  return append(rpc::to_json(line) + "\n");
}

result<void> batch_journal::finished(std::int64_t index, const std::string& call_id,
                                     rpc::app::call_status status, const std::string& result_json) {
  journal_line line;
  line.finished = rpc::batch::journal_end{index, call_id, status, {result_json}};
  return append(rpc::to_json(line) + "\n");
}

} // namespace gatehouse::cli
