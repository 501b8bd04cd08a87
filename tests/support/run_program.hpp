#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::tests {

struct program_result {
  int status = -1; ///< exit status; 128 + n after signal n
  std::string out;
  std::string err;
};

/// The environment and place of a program under test: nothing of the caller's leaks in.
struct program_options {
  std::string cwd = "/";
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"};
  std::string_view input = {};
};

/// Runs `argv` (argv[0] a path) to its end, feeding `input`, and collects what it says.
/// Throws std::runtime_error when it cannot be started.
program_result run_program(const std::vector<std::string>& argv, const program_options& how = {});

/// The path of a program in $GATEHOUSE_BUILD_DIR.
std::string built(std::string_view name);

} // namespace gatehouse::tests
