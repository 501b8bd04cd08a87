#include "config/amendment.hpp"

#include "config/text_file.hpp"
#include "policy/amendment.hpp"
#include "policy/rules/rule_file.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::config {
namespace {

error failure(const std::string& what, const std::string& path, int number = errno) {
  return {errc::io, "cannot " + what + " " + path + ": " + std::strerror(number),
          "The rule was not saved. Correct this and approve again."};
}

class descriptor {
public:
  explicit descriptor(int fd) : fd_{fd} {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

private:
  int fd_;
};

std::string parent_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.find_last_of('/'), 1));
}

result<void> flush_folder(const std::string& folder) {
  const descriptor fd{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) return failure("flush", folder);
  return {};
}

result<void> make_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0) return flush_folder(parent_of(folder));
  if (errno == EEXIST) return {};
  return failure("make the folder", folder);
}

result<void> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("write", path);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(fd) != 0) return failure("flush", path);
  return {};
}

bool holds_line(std::string_view text, std::string_view line) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end) == line) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

/// Puts `text` in the place of `path` in one step: a reader, or a crash, sees the old file or the
/// new one.
result<void> replace_file(const std::string& path, std::string_view text, mode_t mode) {
  const auto fresh = path + ".new"; // not "*.rules": never loaded
  ::unlink(fresh.c_str());
  const descriptor fd{
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (fd.get() < 0) return failure("create", fresh);
  auto written = write_all(fd.get(), text, fresh);
  if (written && ::fchmod(fd.get(), mode) != 0) written = failure("set the mode of", fresh);
  if (written && ::rename(fresh.c_str(), path.c_str()) != 0) written = failure("replace", path);
  if (!written) {
    ::unlink(fresh.c_str());
    return written;
  }
  return flush_folder(parent_of(path));
}

} // namespace

result<std::string> prefix_rule_line(const std::vector<std::string>& prefix, bool keeps_sandbox) {
  if (prefix.empty())
    return error{errc::invalid_request, "an empty prefix cannot become a rule",
                 "Name at least the program."};
  std::string tokens;
  for (const auto& token : prefix) {
    if (token.find('\0') != std::string::npos || find_invalid_utf8(token))
      return error{errc::invalid_request,
                   "a word of the command is not UTF-8 text and cannot stand in a rule file",
                   "Approve it once instead."};
    tokens += (tokens.empty() ? "" : ", ") + json_quote(token);
  }
  const std::string exact = policy::needs_exact_rule(prefix) ? ", exact=True" : "";
  const std::string keep =
      keeps_sandbox || policy::keeps_sandbox(prefix) ? ", sandbox=\"keep\"" : "";
  return "prefix_rule(pattern=[" + tokens + "], decision=\"allow\"" + exact + keep + ")";
}

result<std::string> network_rule_line(const host_key& key, bool allow) {
  const bool v6 = key.host.find(':') != std::string::npos;
  const std::string host = (v6 ? "[" + key.host + "]" : key.host) + ":" + std::to_string(key.port);
  std::string line = "network_rule(host=" + json_quote(host) +
                     ", protocol=" + json_quote(to_string(key.protocol)) +
                     ", decision=" + (allow ? "\"allow\"" : "\"deny\"") + ")";
  const auto read = policy::read_rule_file(line, "amendment", {});
  if (read.problems.empty() && read.network.size() == 1) return line;
  return error{errc::invalid_request, "the host `" + key.host + "` cannot stand in a rule", {}};
}

result<amendment_outcome> append_rule(const std::string& gatehouse_home, std::string_view line) {
  const auto folder = gatehouse_home + "/rules";
  for (const auto& needed : {gatehouse_home, folder})
    if (const auto made = make_folder(needed); !made) return made.error();

  const descriptor lock{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (lock.get() < 0) return failure("open", folder);
  while (::flock(lock.get(), LOCK_EX) != 0)
    if (errno != EINTR) return failure("lock", folder);

  auto path = folder + "/default.rules";
  struct stat about {};
  mode_t mode = 0600;
  if (::stat(path.c_str(), &about) == 0) {
    mode = about.st_mode & 0777;
    // A link (into a folder of dot files, say) stays a link: what it leads to is replaced.
    char resolved[PATH_MAX];
    if (!::realpath(path.c_str(), resolved)) return failure("resolve", path);
    path = resolved;
  } else if (errno != ENOENT) {
    return failure("examine", path);
  }
  const auto old = read_text_file(path, policy::largest_rule_file);
  if (!old) return old.error();
  std::string text = old->value_or("");
  if (find_invalid_utf8(text))
    return error{errc::io, path + " is not valid UTF-8, so no rule in it counts",
                 "The rule was not saved. Mend the file and approve again."};
  if (holds_line(text, line)) return amendment_outcome::already_there;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
  text += '\n';
  if (const auto replaced = replace_file(path, text, mode); !replaced) return replaced.error();
  return amendment_outcome::added;
}

} // namespace gatehouse::config
