#include "reactor/heap_memory.hpp"

#include <malloc.h>

namespace gatehouse::reactor {

void prepare_heap() {
#ifdef __GLIBC__
  (void)::mallopt(M_ARENA_MAX, 2);
  // Said once, it stays: else the library raises it to the largest block that it has seen.
  (void)::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  (void)::mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

void give_back_memory() {
#ifdef __GLIBC__
  (void)::malloc_trim(0);
#endif
}

} // namespace gatehouse::reactor
