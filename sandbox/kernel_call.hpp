#pragma once

#include <cstdint>

#include <sys/syscall.h>

/// System calls without the C library. `gatehouse-sandbox-init` is built without one: the start-up
/// of a static glibc program asks the processor for its features, which traps in every virtual
/// machine and takes longer (0.3 ms) than everything the inner stage has to do.
namespace gatehouse::sandbox {

/// Calls the kernel. @return its answer: a value, or a negative errno
template <class... Args>
inline long kernel_call(long number, Args... arguments) noexcept {
  static_assert(sizeof...(Args) <= 6);
  const long a[6] = {(long)arguments...};
#if defined(__x86_64__)
  long answer;
  register long r10 __asm__("r10") = a[3];
  register long r8 __asm__("r8") = a[4];
  register long r9 __asm__("r9") = a[5];
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return answer;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a[0];
  register long x1 __asm__("x1") = a[1];
  register long x2 __asm__("x2") = a[2];
  register long x3 __asm__("x3") = a[3];
  register long x4 __asm__("x4") = a[4];
  register long x5 __asm__("x5") = a[5];
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
#else
#error "Gatehouse's sandbox knows x86_64 and aarch64"
#endif
}

/// Is the answer an error?
inline bool is_error(long answer) noexcept {
  return answer < 0;
}

/// Every signal gets its default action, also the ones that the C library keeps for itself. A plain
/// loop of calls: made between fork and exec.
inline void reset_signal_actions() noexcept {
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    std::uint64_t mask;
  } plain{};
  for (int number = 1; number <= 64; ++number)
    kernel_call(SYS_rt_sigaction, number, &plain, nullptr, sizeof plain.mask);
}

} // namespace gatehouse::sandbox
