#include "cli/exec_server_files.hpp"

#include "cli/output.hpp"
#include "protocol/base64.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/path_uri.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

namespace fs = std::filesystem;
using namespace exec_server;

constexpr std::uint64_t max_file_bytes = 11 * 1024 * 1024; // its base64 fits a message

file_answer ok(std::string json = "{}") {
  return {std::move(json), {}};
}
file_answer refused(int code, std::string message) {
  return {{}, failure{code, std::move(message), {}, {}}};
}
file_answer failed_with(int number) {
  const bool denied = number == EACCES || number == EPERM || number == EROFS;
  return {{},
          failure{number == ENOENT ? code::not_found : code::internal,
                  std::string{std::strerror(number)} + " (os error " + std::to_string(number) + ")",
                  denied ? "denied" : "",
                  {}}};
}

/// Closes what it holds.
class opened_file {
public:
  opened_file(const std::string& path, int flags)
      : fd_{::open(path.c_str(), flags | O_CLOEXEC, 0666)} {}
  ~opened_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  opened_file(const opened_file&) = delete;
  opened_file& operator=(const opened_file&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

private:
  int fd_;
};

std::string chunk_json(const std::string& bytes, bool eof) {
  return "{\"chunk\":\"" + encode_base64(bytes) + "\",\"eof\":" + (eof ? "true" : "false") + "}";
}

/// Up to `length` bytes from `offset`. @return an errno
int read_range(int fd, std::uint64_t offset, std::uint64_t length, std::string& bytes) {
  bytes.resize(length);
  std::size_t done = 0;
  while (done < length) {
    const auto n =
        ::pread(fd, bytes.data() + done, length - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return 0;
}

int write_range(int fd, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return 0;
}

file_answer read_file(const file_call& call) {
  // Not a pipe that nobody writes to.
  const opened_file file{call.path, O_RDONLY | O_NONBLOCK};
  if (!file) return failed_with(errno);
  struct stat st {};
  if (::fstat(file.get(), &st) != 0) return failed_with(errno);
  if (!S_ISREG(st.st_mode))
    return refused(code::invalid_request, "path `" + call.path + "` is not a file");
  if (static_cast<std::uint64_t>(st.st_size) > max_file_bytes)
    return {{},
            failure{code::invalid_request,
                    "the file has " + std::to_string(st.st_size) + " bytes; one message takes " +
                        std::to_string(max_file_bytes),
                    "tooLarge",
                    {}}};
  std::string bytes;
  if (const int bad = read_range(file.get(), 0, max_file_bytes, bytes)) return failed_with(bad);
  return ok("{\"dataBase64\":\"" + encode_base64(bytes) + "\"}");
}

file_answer write_whole_file(const file_call& call) {
  const opened_file file{call.path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK};
  if (!file) return failed_with(errno);
  if (const int bad = write_range(file.get(), 0, call.bytes)) return failed_with(bad);
  return ok();
}

file_answer read_block(const file_call& call) {
  const opened_file file{call.path, O_RDONLY | O_NONBLOCK};
  if (!file) return failed_with(errno);
  struct stat st {};
  if (::fstat(file.get(), &st) != 0) return failed_with(errno);
  if (!S_ISREG(st.st_mode))
    return refused(code::invalid_request, "path `" + call.path + "` is not a file");
  std::string bytes;
  if (const int bad = read_range(file.get(), call.offset, call.length, bytes))
    return failed_with(bad);
  const bool eof = call.offset + bytes.size() >= static_cast<std::uint64_t>(st.st_size);
  return ok(chunk_json(bytes, eof));
}

file_answer write_block(const file_call& call) {
  const opened_file file{call.path,
                         O_WRONLY | O_NONBLOCK | (call.truncate ? O_CREAT | O_TRUNC : 0)};
  if (!file) return failed_with(errno);
  if (const int bad = write_range(file.get(), call.offset, call.bytes)) return failed_with(bad);
  return ok();
}

file_answer create_directory(const file_call& call) {
  if (!call.recursive) return ::mkdir(call.path.c_str(), 0777) == 0 ? ok() : failed_with(errno);
  std::error_code ec;
  fs::create_directories(call.path, ec);
  return ec ? failed_with(ec.value()) : ok();
}

std::int64_t milliseconds(const timespec& t) {
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

file_answer get_metadata(const file_call& call) {
  struct stat own {
  }, target{};
  if (::lstat(call.path.c_str(), &own) != 0) return failed_with(errno);
  if (::stat(call.path.c_str(), &target) != 0) target = own;
  json_writer out;
  out.open('{');
  out.key("isDirectory");
  out.boolean(S_ISDIR(target.st_mode));
  out.key("isFile");
  out.boolean(S_ISREG(target.st_mode));
  out.key("isSymlink");
  out.boolean(S_ISLNK(own.st_mode));
  out.key("size");
  out.number(target.st_size);
  out.key("createdAtMs");
  out.number(0);
  out.key("modifiedAtMs");
  out.number(milliseconds(target.st_mtim));
  out.close('}');
  return ok(std::move(out).take());
}

file_answer canonicalize(const file_call& call) {
  std::error_code ec;
  const auto path = fs::canonical(call.path, ec);
  if (ec) return failed_with(ec.value());
  json_writer out;
  out.open('{');
  out.field("path", file_uri(path.string()));
  out.close('}');
  return ok(std::move(out).take());
}

file_answer read_directory(const file_call& call) {
  std::error_code ec;
  json_writer out;
  out.open('{');
  out.key("entries");
  out.open('[');
  for (fs::directory_iterator it{call.path, ec}, end; !ec && it != end; it.increment(ec)) {
    std::error_code ignored; // a link to nothing is neither
    out.item();
    out.open('{');
    out.field("fileName", it->path().filename().string());
    out.key("isDirectory");
    out.boolean(it->is_directory(ignored));
    out.key("isFile");
    out.boolean(it->is_regular_file(ignored));
    out.close('}');
  }
  if (ec) return failed_with(ec.value());
  out.close(']');
  out.close('}');
  return ok(std::move(out).take());
}

file_answer walk(const file_call& call) {
  const std::uint32_t depth = call.max_depth ? call.max_depth : 64;
  const std::uint32_t folders = call.max_directories ? call.max_directories : 10'000;
  const std::uint32_t most = call.max_entries ? call.max_entries : 100'000;
  std::error_code ec;
  if (!fs::is_directory(call.path, ec)) return failed_with(ec ? ec.value() : ENOTDIR);
  json_writer entries, errors;
  entries.open('[');
  errors.open('[');
  std::deque<std::pair<fs::path, std::uint32_t>> open{{call.path, 0}};
  std::uint32_t count = 0, visited = 0;
  bool truncated = false;
  while (!open.empty() && !truncated) {
    const auto [folder, level] = open.front();
    open.pop_front();
    if (++visited > folders) {
      truncated = true;
      break;
    }
    std::vector<fs::directory_entry> found;
    for (fs::directory_iterator it{folder, ec}, end; !ec && it != end; it.increment(ec))
      found.push_back(*it);
    if (ec) {
      errors.item();
      errors.open('{');
      errors.field("path", file_uri(folder.string()));
      errors.field("message", ec.message());
      errors.close('}');
    }
    std::sort(found.begin(), found.end());
    for (const auto& entry : found) {
      const auto name = entry.path().filename().string();
      std::error_code ignored; // what cannot be looked at is neither
      const bool link = entry.is_symlink(ignored);
      const bool directory = entry.is_directory(ignored) && (!link || call.follow_links);
      if (directory && call.prune_hidden && name.starts_with('.')) continue;
      if (++count > most) {
        truncated = true;
        break;
      }
      entries.item();
      entries.open('{');
      entries.field("path", file_uri(entry.path().string()));
      entries.field("kind", directory ? "directory" : link ? "symlink" : "file");
      entries.close('}');
      if (directory && level + 1 < depth) open.emplace_back(entry.path(), level + 1);
    }
  }
  entries.close(']');
  errors.close(']');
  return ok("{\"entries\":" + std::move(entries).take() + ",\"errors\":" +
            std::move(errors).take() + ",\"truncated\":" + (truncated ? "true" : "false") + "}");
}

file_answer remove_path(const file_call& call) {
  struct stat st {};
  if (::lstat(call.path.c_str(), &st) != 0)
    return errno == ENOENT && call.force ? ok() : failed_with(errno);
  std::error_code ec;
  if (call.recursive)
    fs::remove_all(call.path, ec);
  else
    fs::remove(call.path, ec);
  return ec ? failed_with(ec.value()) : ok();
}

/// Does `destination`, which need not exist, lie in the folder `source`?
bool lies_in(const fs::path& destination, const fs::path& source) {
  std::error_code ec;
  const auto folder = fs::canonical(source, ec);
  const auto made = ec ? fs::path{} : fs::weakly_canonical(destination, ec);
  return !ec && std::mismatch(folder.begin(), folder.end(), made.begin(), made.end()).first ==
                    folder.end();
}

file_answer copy_path(const file_call& call) {
  std::error_code ec;
  const auto kind = fs::symlink_status(call.path, ec).type();
  if (kind == fs::file_type::not_found) return failed_with(ENOENT);
  if (ec) return failed_with(ec.value());
  if (kind == fs::file_type::directory && !call.recursive)
    return refused(code::invalid_request,
                   "fs/copy requires recursive: true when sourcePath is a directory");
  if (kind == fs::file_type::directory && lies_in(call.destination, call.path))
    return refused(code::invalid_request, "fs/copy cannot copy a directory into itself");
  fs::copy(call.path, call.destination,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing |
               fs::copy_options::copy_symlinks,
           ec);
  return ec ? failed_with(ec.value()) : ok();
}

} // namespace

file_answer perform_file_call(const file_call& call) {
  switch (call.method) {
  case file_method::read_file: return read_file(call);
  case file_method::write_file: return write_whole_file(call);
  case file_method::create_directory: return create_directory(call);
  case file_method::get_metadata: return get_metadata(call);
  case file_method::canonicalize: return canonicalize(call);
  case file_method::read_directory: return read_directory(call);
  case file_method::walk: return walk(call);
  case file_method::remove: return remove_path(call);
  case file_method::copy: return copy_path(call);
  case file_method::read_range: return read_block(call);
  case file_method::write_range: return write_block(call);
  }
  return refused(code::invalid_params, "not a file call");
}

int file_call_command() {
  const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
  const auto call = decode_own_file_call(text);
  if (!call) return fail(call.error(), exit_wrong_usage);
  return print(encode_file_answer(perform_file_call(*call))) ? exit_ok : exit_failed;
}

} // namespace gatehouse::cli
