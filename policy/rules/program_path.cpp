#include "policy/rules/program_path.hpp"

#include "policy/path_text.hpp"

#include <vector>

namespace gatehouse::policy {
namespace {

template <class Visit>
void each_component(std::string_view path, Visit visit) {
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    if (end > 0) visit(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
}

} // namespace

bool is_path(std::string_view program) noexcept {
  return program.find('/') != std::string_view::npos;
}

std::string lexically_absolute(std::string_view program, std::string_view cwd,
                               std::string_view home) {
  if (program.empty()) return {};
  if (program.front() == '/') return lexically_normal(program);
  auto base = cwd;
  if (program == "~" || program.starts_with("~/")) {
    base = home;
    program.remove_prefix(1);
  }
  if (!base.starts_with('/')) return {};
  return lexically_normal(std::string{base} + "/" + std::string{program});
}

std::string_view base_name(std::string_view path) noexcept {
  while (path.ends_with('/'))
    path.remove_suffix(1);
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool climbs(std::string_view path) noexcept {
  bool found = false;
  each_component(path, [&](std::string_view part) { found = found || part == ".."; });
  return found;
}

} // namespace gatehouse::policy
