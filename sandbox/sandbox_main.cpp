// gatehouse-sandbox: runs one command inside the boundary of a permission profile (§76).
#include "sandbox/inner_stage.hpp"
#include "sandbox/outer.hpp"
#include "sandbox/outer_options.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
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

} // namespace

int main(int argc, char** argv) {
  using namespace gatehouse::sandbox;
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(outer_usage().data(), stdout);
    return 0;
  }
  const char* tmpdir = std::getenv("TMPDIR");
  const std::vector<const char*> arguments(argv + 1, argv + argc);
  const auto options = parse_outer_options(arguments, tmpdir ? tmpdir : "");
  if (!options) {
    std::fprintf(stderr, "gatehouse-sandbox: %s\n", to_string(options.error()).c_str());
    return exit_wrong_usage;
  }
  std::vector<const char*> environment;
  for (char** entry = environ; *entry; ++entry)
    environment.push_back(*entry);
  return run_outer(*options, init_path(), environment);
}
