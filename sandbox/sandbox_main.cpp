// gatehouse-sandbox: runs one command inside the boundary of a permission profile (§76).
#include "protocol/visible_text.hpp"
#include "sandbox/inner_stage.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/outer.hpp"
#include "sandbox/outer_options.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

/// The inner stage lies beside this program, wherever that was installed.
std::string init_path() {
  char self[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof self);
  std::string path{self, size > 0 ? static_cast<std::size_t>(size) : 0};
  return path.substr(0, path.rfind('/') + 1) + "gatehouse-sandbox-init";
}

int wrong_usage(const gatehouse::error& why) {
  std::fprintf(stderr, "gatehouse-sandbox: %s\n", visible_error(why).c_str());
  return gatehouse::sandbox::exit_wrong_usage;
}

} // namespace

int main(int argc, char** argv) {
  using namespace gatehouse::sandbox;
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(outer_usage().data(), stdout);
    return 0;
  }
  const char* tmpdir = std::getenv("TMPDIR");
  std::vector<const char*> arguments(argv + 1, argv + argc);
  std::vector<std::string> late;
  bwrap_ahead_ptr ahead;
  if (argc > 3 && argv[1] == request_fd_option) { // started ahead: what to do is told later
    const auto fd = descriptor_number(argv[1], argv[2]);
    if (!fd) return wrong_usage(fd.error());
    const auto before = parse_outer_options(std::span{arguments}.subspan(2), tmpdir ? tmpdir : "");
    if (!before) return wrong_usage(before.error());
    ahead = start_bwrap_ahead(*before, init_path());
    auto told = receive_late_request(*fd);
    if (!told) return wrong_usage(told.error());
    if (told->empty()) return exit_no_boundary; // nobody needs it
    close(*fd);
    late = *std::move(told);
    arguments.clear();
    for (const auto& one : late)
      arguments.push_back(one.c_str());
  }
  const auto options = parse_outer_options(arguments, tmpdir ? tmpdir : "");
  if (!options) return wrong_usage(options.error());
  std::vector<const char*> environment;
  for (char** entry = environ; *entry; ++entry)
    environment.push_back(*entry);
  return run_outer(*options, init_path(), environment, std::move(ahead));
}
