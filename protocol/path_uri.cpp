#include "protocol/path_uri.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace gatehouse {
namespace {

constexpr std::string_view scheme = "file://";

error wrong_uri(std::string_view text, const std::string& why) {
  return {errc::invalid_request, "'" + std::string{text} + "' is not the URI of a path: " + why,
          "write it as file:///folder/name"};
}

std::optional<int> hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool has_drive(std::string_view path) {
  return path.size() >= 2 && std::isalpha(static_cast<unsigned char>(path[0])) != 0 &&
         path[1] == ':' && (path.size() == 2 || path[2] == '/');
}

void escape(std::string& out, std::string_view path) {
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        std::string_view{"-._~/"}.find(c) != std::string_view::npos) {
      out += c;
    } else {
      constexpr char digits[] = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4], digits[byte & 15u]};
    }
  }
}

} // namespace

result<path_uri> parse_path_uri(std::string_view text) {
  if (!text.starts_with(scheme)) return wrong_uri(text, "it does not begin with file://");
  auto rest = text.substr(scheme.size());
  if (rest.starts_with("localhost/")) rest.remove_prefix(9);
  if (!rest.starts_with('/')) return wrong_uri(text, "it names another machine");
  if (rest.find_first_of("?#") != std::string_view::npos)
    return wrong_uri(text, "it has a query or a fragment");
  path_uri uri;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    char c = rest[i];
    if (c == '%') {
      const auto high = i + 2 < rest.size() ? hex(rest[i + 1]) : std::nullopt;
      const auto low = i + 2 < rest.size() ? hex(rest[i + 2]) : std::nullopt;
      if (!high || !low) return wrong_uri(text, "a % is not followed by two hexadecimal digits");
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (c == '\0') return wrong_uri(text, "it holds a NUL");
    uri.path += c;
  }
  if (has_drive(std::string_view{uri.path}.substr(1))) {
    uri.convention = path_convention::windows;
    uri.path.erase(0, 1);
  }
  return uri;
}

bool names_its_convention(std::string_view text) noexcept {
  return text.starts_with(scheme) ||
         (text.size() >= 3 && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
          text[1] == ':' && (text[2] == '/' || text[2] == '\\'));
}

result<path_uri> read_path(std::string_view text) {
  if (text.starts_with(scheme)) return parse_path_uri(text);
  if (text.starts_with('/')) return path_uri{path_convention::posix, std::string{text}};
  if (!names_its_convention(text)) return wrong_uri(text, "it is no absolute path");
  path_uri uri{path_convention::windows, std::string{text}};
  std::ranges::replace(uri.path, '\\', '/');
  return uri;
}

std::string rooted_path(const path_uri& uri) {
  return uri.convention == path_convention::windows ? "/" + uri.path : uri.path;
}

path_uri from_rooted_path(path_convention convention, std::string_view path) {
  if (convention == path_convention::windows && path.starts_with('/') && has_drive(path.substr(1)))
    return {path_convention::windows, std::string{path.substr(1)}};
  return {path_convention::posix, std::string{path}};
}

std::string to_string(const path_uri& uri) {
  std::string out{scheme};
  std::string_view path = uri.path;
  if (uri.convention == path_convention::windows) {
    out.append("/").append(path.substr(0, 2));
    path.remove_prefix(2);
  }
  escape(out, path);
  return out;
}

std::string file_uri(std::string_view path) {
  return to_string(path_uri{path_convention::posix, std::string{path}});
}

result<std::string> native_path(const path_uri& uri) {
  if (uri.convention == path_convention::posix) return uri.path;
  return error{errc::invalid_request,
               "'" + uri.path + "' is a path of Windows, and this machine is none",
               "name a path of this machine"};
}

} // namespace gatehouse
