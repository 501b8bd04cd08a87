#pragma once

/// What the C library's heap keeps of what was given back to it. Any thread.
namespace gatehouse::reactor {

/// For a daemon that runs for weeks: few separate heaps, and large blocks apart from small ones, so
/// that a peak does not stay in its memory for good. Before the first other thread.
void prepare_heap();

/// Gives what is free back to the system; it takes some milliseconds.
void give_back_memory();

} // namespace gatehouse::reactor
