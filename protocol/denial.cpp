#include "protocol/denial.hpp"

namespace gatehouse {

std::string_view to_string(denial_kind k) noexcept {
  switch (k) {
  case denial_kind::file_read: return "file_read";
  case denial_kind::file_write: return "file_write";
  case denial_kind::network: return "network";
  case denial_kind::system_call: return "system_call";
  }
  return "system_call";
}

} // namespace gatehouse
