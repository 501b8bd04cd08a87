#include "actors/confined_file_call.hpp"

#include <utility>

namespace gatehouse::actors {

using namespace exec_server;

namespace {

constexpr std::chrono::milliseconds longest{60'000};

file_answer failed(std::string message, std::string kind) {
  return {{}, failure{code::internal, std::move(message), std::move(kind), {}}};
}

} // namespace

reactor::exchange_request confined_file_call(sandbox::launch_request launch, std::string call) {
  launch.profile.network = network_policy::restricted;
  launch.command_cwd = "/";
  reactor::exchange_request exchange;
  exchange.spawn.argv = sandbox::launch_argv(launch);
  exchange.spawn.program = launch.helper;
  exchange.spawn.env = {"PATH=/usr/bin:/bin"};
  exchange.input = std::move(call);
  exchange.limit = longest;
  exchange.max_output = 32U << 20U;
  return exchange;
}

file_answer file_answer_of(const reactor::exchange_end& end) {
  using ending = reactor::exchange_end::ending;
  if (end.too_much) return failed("the answer is too large for one message", "tooLarge");
  if (end.how == ending::timed_out)
    return failed("it took longer than " + std::to_string(longest.count()) +
                      " ms and was ended; what it had done by then stands",
                  "io");
  if (end.how == ending::exited && end.code == 0)
    if (auto made = decode_file_answer(end.out)) return *std::move(made);
  return failed("the file call could not be made inside the boundary: " +
                    (end.why.empty() ? end.err : end.why),
                "sandboxUnavailable");
}

} // namespace gatehouse::actors
