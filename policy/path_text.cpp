#include "policy/path_text.hpp"

#include <algorithm>

namespace gatehouse::policy {

std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (end > at) parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string lexically_normal(std::string_view path) {
  std::vector<std::string_view> kept;
  for (auto part : components_of(path)) {
    if (part == ".") continue;
    if (part != "..")
      kept.push_back(part);
    else if (!kept.empty())
      kept.pop_back();
  }
  std::string text;
  for (auto part : kept)
    text.append("/").append(part);
  return text.empty() ? "/" : text;
}

std::string absolute_below(std::string_view base, std::string_view path) {
  if (path.starts_with('/')) return lexically_normal(path);
  return lexically_normal(std::string{base}.append("/").append(path));
}

bool is_below(std::string_view path, std::string_view base) noexcept {
  if (base == "/") return path.size() > 1;
  return path.size() > base.size() && path.starts_with(base) && path[base.size()] == '/';
}

bool is_at_or_below(std::string_view path, std::string_view base) noexcept {
  return path == base || is_below(path, base);
}

std::size_t component_count(std::string_view path) noexcept {
  if (path == "/") return 0;
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

std::string_view parent_of(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? std::string_view{"/"}
                                                       : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

} // namespace gatehouse::policy
