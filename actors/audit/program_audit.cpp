#include "actors/audit/program_audit.hpp"

#include <utility>

namespace gatehouse::actors {
namespace {

program_audit& slot() {
  static program_audit one;
  return one;
}

} // namespace

void set_program_audit(program_audit audit) {
  slot() = std::move(audit);
}

const program_audit& the_program_audit() noexcept {
  return slot();
}

} // namespace gatehouse::actors
