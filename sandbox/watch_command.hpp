#pragma once

#include "sandbox/init_spec.hpp"

#include <cstdint>

#include <signal.h>

/// What process 1 of a sandbox does once its command runs. Without a C library
/// (sandbox/kernel_call.hpp).
namespace gatehouse::sandbox {

using signal_set = std::uint64_t; // as the kernel has it

constexpr signal_set bit(int number) {
  return signal_set{1} << (number - 1);
}
constexpr signal_set forwarded = bit(SIGHUP) | bit(SIGINT) | bit(SIGQUIT) | bit(SIGTERM) |
                                 bit(SIGUSR1) | bit(SIGUSR2) | bit(SIGWINCH);

/// Sends the command's process group a signal, or the command before it has one.
void to_command(long command, int number);

/// Passes signals on, reaps, tells the outer stage what becomes of the command, and ends with it:
/// what it leaves behind has a moment to end by itself. Ends at once when the outer stage has gone.
/// @param control the socket of the outer stage
/// @param signals a signalfd that does not block, of `forwarded` and SIGCHLD, which are blocked
[[noreturn]] void watch_command(const init_spec& s, int control, long command, long signals);

} // namespace gatehouse::sandbox
