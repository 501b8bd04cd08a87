#include "reactor/detail/process_tree.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace gatehouse::reactor {
namespace {

/// A fork bomb outside of any boundary must not keep the loop busy for long.
constexpr std::size_t max_visited = 4096;

/// Shorter or empty for a process that ends meanwhile: an iterator over the file would throw then.
std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  return std::move(text).str();
}

std::string proc(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> out;
  std::error_code ec;
  for (std::filesystem::directory_iterator it{proc(parent) + "/task", ec}, end; !ec && it != end;
       it.increment(ec)) {
    const auto list = read_file(it->path().string() + "/children");
    for (const char *at = list.data(), *stop = at + list.size(); at < stop;) {
      pid_t pid = 0;
      const auto [next, bad] = std::from_chars(at, stop, pid);
      if (bad != std::errc{}) break;
      out.push_back(pid);
      at = next + 1;
    }
  }
  return out;
}

struct relation {
  bool has_ended = false;
  pid_t parent = 0;
  pid_t group = 0;
};

std::optional<relation> relation_of(pid_t pid) {
  const auto stat = read_file(proc(pid) + "/stat");
  // The name stands in parentheses and may hold anything, also ") R 1 1".
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > stat.size()) return std::nullopt;
  const char* const stop = stat.data() + stat.size();
  relation r;
  r.has_ended = stat[name_end + 2] == 'Z' || stat[name_end + 2] == 'X';
  const auto parent = std::from_chars(stat.data() + name_end + 4, stop, r.parent);
  if (parent.ec != std::errc{} || parent.ptr == stop) return std::nullopt;
  const auto group = std::from_chars(parent.ptr + 1, stop, r.group);
  if (group.ec != std::errc{}) return std::nullopt;
  return r;
}

} // namespace

std::vector<escapee> find_escapees(pid_t leader) {
  std::vector<escapee> out;
  std::vector<pid_t> open{leader};
  for (std::size_t visited = 0; !open.empty() && visited < max_visited; ++visited) {
    const pid_t parent = open.back();
    open.pop_back();
    for (const pid_t pid : children_of(parent)) {
      unique_fd handle{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
      // Asked only now: if it is still a child of `parent`, the handle means the one we saw.
      const auto r = relation_of(pid);
      if (!r || r->parent != parent || r->has_ended) continue;
      open.push_back(pid);
      if (handle && r->group != leader) out.push_back({std::move(handle), parent == leader});
    }
  }
  return out;
}

void send_signal(const unique_fd& pidfd, int signal) noexcept {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
}

} // namespace gatehouse::reactor
