#include "cli/batch_journal.hpp"

#include "protocol/rpc/batch_types.hpp"

#include <cerrno>
#include <cstring>
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

} // namespace

result<std::unique_ptr<batch_journal>>
batch_journal::open(const std::string& path, const std::string& fingerprint, std::size_t items) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed(path, "the journal cannot be opened");
  std::unique_ptr<batch_journal> journal{new batch_journal{path, fd}};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    return error{errc::io, path + ": another run holds this journal",
                 "Wait for it, or name another journal."};
  if (const auto read = journal->read(fingerprint, items); !read) return read.error();
  return journal;
}

batch_journal::~batch_journal() {
  ::close(fd_);
}

result<void> batch_journal::read(const std::string& fingerprint, std::size_t items) {
  std::string text;
  char bytes[65536];
  ssize_t count = 0;
  while ((count = ::read(fd_, bytes, sizeof bytes)) > 0)
    text.append(bytes, static_cast<std::size_t>(count));
  if (count < 0) return failed(path_, "the journal cannot be read");
  const auto last = text.rfind('\n');
  const auto whole = last == std::string::npos ? 0 : last + 1;
  if (whole < text.size()) {
    // Cut while it was written: its effect was never told.
    if (::ftruncate(fd_, static_cast<off_t>(whole)) != 0)
      return failed(path_, "the journal cannot be mended");
    text.resize(whole);
  }
  if (::lseek(fd_, 0, SEEK_END) < 0) return failed(path_, "the journal cannot be read");
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    const json_source source{path_ + ":" + std::to_string(++number), errc::invalid_request,
                             "This is no journal of a batch; name another file.",
                             std::size_t{64} << 20U};
    const auto tree = parse_json(line, source);
    if (!tree) return tree.error();
    const json_node node{*tree, source};
    const auto read = rpc::codec<journal_line>::decode(node);
    if (!read) return read.error();
    if (number == 1) {
      if (!read->run) return node.wrong("the first line tells which input it belongs to");
      if (read->run->input != fingerprint || read->run->items != static_cast<std::int64_t>(items))
        return error{errc::invalid_request, path_ + ": this journal belongs to another input",
                     "Give the same input again, or name another journal."};
    } else if (read->started) {
      entries_[*read->started]; // unless an end follows, it was cut
    } else if (read->finished) {
      const auto& end = *read->finished;
      entries_[end.index] = {true, end.call_id, end.status, end.result.text};
    } else {
      return node.wrong("neither a start nor an end");
    }
  }
  if (number > 0) return {};
  journal_line head;
  head.run = rpc::batch::journal_head{static_cast<std::int64_t>(items), fingerprint};
  return append(rpc::to_json(head));
}

result<void> batch_journal::append(std::string line) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const auto count = ::write(fd_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path_, "the journal cannot be written");
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fdatasync(fd_) != 0) return failed(path_, "the journal cannot be written");
  return {};
}

result<void> batch_journal::started(std::int64_t index) {
  journal_line line;
  line.started = index;
  return append(rpc::to_json(line));
}

result<void> batch_journal::finished(std::int64_t index, const std::string& call_id,
                                     rpc::app::call_status status, const std::string& result_json) {
  journal_line line;
  line.finished = rpc::batch::journal_end{index, call_id, status, {result_json}};
  return append(rpc::to_json(line));
}

} // namespace gatehouse::cli
