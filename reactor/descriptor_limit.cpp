#include "reactor/descriptor_limit.hpp"

namespace gatehouse::reactor {
namespace {

std::optional<rlimit> of_children;

} // namespace

void raise_descriptor_limit() {
  rlimit now{};
  if (of_children || ::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  auto raised = now;
  raised.rlim_cur = raised.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) of_children = now;
}

const std::optional<rlimit>& descriptor_limit_of_children() noexcept {
  return of_children;
}

std::size_t descriptor_limit() noexcept {
  rlimit now{};
  return ::getrlimit(RLIMIT_NOFILE, &now) == 0 ? static_cast<std::size_t>(now.rlim_cur) : 0;
}

} // namespace gatehouse::reactor
