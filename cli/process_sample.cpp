#include "cli/process_sample.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <unistd.h>

namespace gatehouse::cli {

std::optional<process_sample> sample_process(pid_t pid) {
  const auto folder = "/proc/" + std::to_string(pid);
  process_sample out;
  std::ifstream statm{folder + "/statm"};
  std::int64_t pages = 0;
  if (!(statm >> pages >> pages)) return std::nullopt;
  out.memory_kib = pages * ::sysconf(_SC_PAGESIZE) / 1024;
  std::error_code failed;
  for (std::filesystem::directory_iterator it{folder + "/fd", failed}, end; it != end;
       it.increment(failed))
    ++out.descriptors;
  if (failed) return std::nullopt;
  for (std::filesystem::directory_iterator it{folder + "/task", failed}, end; it != end;
       it.increment(failed)) {
    std::ifstream children{it->path() / "children"};
    out.children += std::distance(std::istream_iterator<pid_t>{children}, {});
  }
  std::ifstream stat{folder + "/stat"};
  std::string line;
  std::getline(stat, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest{line.substr(name_end + 1)};
  std::string skipped;
  for (int i = 0; i < 11; ++i) // the 12th and 13th after the name are the times
    rest >> skipped;
  std::int64_t user = 0;
  std::int64_t system = 0;
  rest >> user >> system;
  out.cpu = std::chrono::milliseconds{(user + system) * 1000 / ::sysconf(_SC_CLK_TCK)};
  return out;
}

} // namespace gatehouse::cli
