// Linked into the programs of the tsan preset only (gatehouse_program).

/// Asked by the thread sanitizer when a program begins: a race ends the program, so that whoever
/// talks to it sees one.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1:second_deadlock_stack=1";
}
