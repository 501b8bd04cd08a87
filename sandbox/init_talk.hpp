#pragma once

#include "sandbox/init_protocol.hpp"
#include "sandbox/kernel_call.hpp"

/// How the inner stage tells the outer one, and ends. Without a C library
/// (sandbox/kernel_call.hpp).
namespace gatehouse::sandbox::init {

[[noreturn]] inline void end(int status) {
  for (;;)
    kernel_call(SYS_exit_group, status);
}

/// The number at the front of `text`; `text` is moved behind it.
int take_number(const char*& text);

/// @param attached a descriptor that goes along; below 0: none
void send(int control, const message& m, int attached = -1);

} // namespace gatehouse::sandbox::init
