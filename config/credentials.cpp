#include "config/credentials.hpp"

#include "config/private_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::config {
namespace {

constexpr std::size_t least_length = 32;
constexpr std::size_t most_length = 4096;

error failed(const std::string& path, std::string_view what) {
  return {errc::io, path + ": " + std::string{what} + ": " + std::strerror(errno), {}};
}

result<std::string> fresh_token() {
  std::array<unsigned char, 32> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
    return error{errc::io, "the kernel gives no random bits", {}};
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string token;
  unsigned value = 0;
  int bits_left = 0;
  for (const unsigned char byte : bits) {
    value = (value << 8U) | byte;
    bits_left += 8;
    while (bits_left >= 6) {
      bits_left -= 6;
      token += digits[(value >> static_cast<unsigned>(bits_left)) & 63U];
    }
  }
  if (bits_left > 0) token += digits[(value << static_cast<unsigned>(6 - bits_left)) & 63U];
  return token;
}

/// The one line of a file that is this user's alone.
result<std::string> read_own_line(const std::string& path, std::string_view remedy) {
  const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  const auto wrong = [&](const char* what) {
    return error{errc::invalid_config, path + " " + what, std::string{remedy}};
  };
  if (file.get() < 0 && errno == ELOOP) return wrong("is a link; a token is a file of its own");
  if (file.get() < 0) return failed(path, "cannot be read");
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return failed(path, "cannot be read");
  if (!S_ISREG(about.st_mode)) return wrong("is no regular file");
  if (about.st_uid != ::geteuid()) return wrong("belongs to another user");
  if ((about.st_mode & 077U) != 0) return wrong("can be read by others");
  std::string text(most_length + 2, '\0');
  const auto length = ::read(file.get(), text.data(), text.size());
  if (length < 0) return failed(path, "cannot be read");
  text.resize(static_cast<std::size_t>(length));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

result<std::string> read_token(const std::string& path) {
  constexpr std::string_view remedy = "Delete it; a new token is made at the next start.";
  const auto wrong = [&](const char* what) {
    return error{errc::invalid_config, path + " " + what, std::string{remedy}};
  };
  auto text = read_own_line(path, remedy);
  if (!text) return text;
  if (text->size() < least_length || text->size() > most_length)
    return wrong("holds no token of at least 32 characters");
  for (const char c : *text)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
          c == '_'))
      return wrong("holds characters that are not base64url");
  return text;
}

} // namespace

result<std::string> read_or_make_token(const std::string& path) {
  const auto folder = std::filesystem::path{path}.parent_path();
  if (const auto own = require_own_folder(folder.empty() ? "." : folder.string()); !own)
    return own.error();
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 && errno == ENOENT) {
    if (const auto made = make_folders_above(path); !made) return made.error();
    auto token = fresh_token();
    if (!token) return token;
    if (const auto written = write_whole_file(path, *token + "\n", 0600, existing_file::keep);
        !written)
      return written.error();
  }
  return read_token(path);
}

result<std::string> read_own_token(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 && errno == ENOENT)
    return error{errc::not_found, path + " is not there",
                 "Make it: a file of mode 0600 with one line of 32 or more base64url characters."};
  return read_token(path);
}

result<std::string> read_given_token(const std::string& path) {
  constexpr std::string_view remedy =
      "It is the file that the exec server names when it starts, mode 0600.";
  auto text = read_own_line(path, remedy);
  if (!text)
    return error{text.error().code, "no token can be read: " + text.error().message,
                 std::string{remedy}};
  const bool plain = std::ranges::all_of(*text, [](char c) { return c > ' ' && c <= '~'; });
  if (text->empty() || text->size() > most_length || !plain)
    return error{errc::invalid_config, "no token can be read: " + path + " holds none in one line",
                 std::string{remedy}};
  return text;
}

} // namespace gatehouse::config
