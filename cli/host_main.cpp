// The program `gatehouse-host`: what needs actors. People start it through `gatehouse`.
#include "cli/apply_patch_command.hpp"
#include "cli/batch_command.hpp"
#include "cli/exec_server_command.hpp"
#include "cli/load_command.hpp"
#include "cli/mcp_command.hpp"
#include "cli/output.hpp"
#include "cli/review_command.hpp"
#include "cli/run_command.hpp"
#include "cli/serve_command.hpp"
#include "reactor/descriptor_limit.hpp"
#include "sandbox/inner_stage.hpp"

#include <exception>
#include <string>
#include <string_view>

namespace {

int run(gatehouse::cli::arguments given) {
  using namespace gatehouse::cli;
  gatehouse::reactor::raise_descriptor_limit();
  const std::string_view name{given.empty() ? "" : given.front()};
  if (name == "run") return run_command(given.subspan(1));
  if (name == "apply-patch") return apply_patch_command(given.subspan(1));
  if (name == "batch") return batch_command(given.subspan(1));
  if (name == "load") return load_command(given.subspan(1));
  if (name == "mcp") return mcp_command(given.subspan(1));
  if (name == "exec-server") return exec_server_command(given.subspan(1));
  if (name == "serve") return serve_command(given.subspan(1));
  if (name == "review") return review_command(given.subspan(1));
  return wrong_usage({gatehouse::errc::invalid_request,
                      name.empty() ? std::string{"a command is missing"}
                                   : "`" + std::string{name} + "` is not part of this version",
                      {}},
                     "gatehouse run -- make test");
}

} // namespace

int main(int argc, char** argv) {
  using namespace gatehouse::cli;
  try {
    return run({const_cast<const char* const*>(argv) + 1,
                static_cast<std::size_t>(argc > 1 ? argc - 1 : 0)});
  } catch (const std::exception& lacking) {
    // Threads, descriptors of the event loop, memory: without them nothing can be started, and what
    // this process had started ends with it.
    return fail({gatehouse::errc::io, "cannot go on: " + std::string{lacking.what()},
                 "end other programs, or raise the limits of open files, processes and memory "
                 "(ulimit -a)."},
                gatehouse::sandbox::exit_no_boundary);
  }
}
