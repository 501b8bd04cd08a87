#include "sandbox/missing_program.hpp"

#include "policy/path_text.hpp"
#include "sandbox/file_descriptor.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

/// Canonical; empty when there is none.
std::string find(const std::string& program, const std::string& cwd, std::string_view path) {
  char real[PATH_MAX];
  const auto canonical = [&](const std::string& file) {
    return ::access(file.c_str(), X_OK) == 0 && ::realpath(file.c_str(), real) != nullptr
               ? std::string{real}
               : std::string{};
  };
  if (program.find('/') != std::string::npos)
    return canonical(policy::absolute_below(cwd, program));
  while (!path.empty()) {
    const auto colon = path.find(':');
    const auto folder = policy::absolute_below(cwd, path.substr(0, colon));
    if (auto found = canonical((folder == "/" ? "" : folder) + "/" + program); !found.empty())
      return found;
    path = colon == std::string_view::npos ? std::string_view{} : path.substr(colon + 1);
  }
  return {};
}

/// The first word behind `#!`, as the kernel reads it.
std::string interpreter_of(const std::string& file) {
  const file_descriptor script{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  char start[256];
  const ssize_t size = script ? ::read(script.get(), start, sizeof start) : 0;
  std::string_view line{start, size > 0 ? static_cast<std::size_t>(size) : 0};
  if (!line.starts_with("#!")) return {};
  line = line.substr(2, line.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string{line.substr(0, line.find_first_of(" \t"))};
}

} // namespace

std::vector<std::string> hidden_parts_of(const std::string& program, const std::string& cwd,
                                         std::string_view path,
                                         const std::function<bool(const std::string&)>& is_hidden) {
  constexpr int most_interpreters = 4; // the kernel's own bound is 5
  std::vector<std::string> hidden;
  std::string next = program;
  for (int i = 0; i <= most_interpreters && !next.empty(); ++i) {
    const auto file = find(next, cwd, path);
    if (file.empty()) break;
    if (is_hidden(file)) hidden.push_back(file);
    next = interpreter_of(file);
  }
  return hidden;
}

} // namespace gatehouse::sandbox
