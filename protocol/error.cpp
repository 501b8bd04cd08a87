#include "protocol/error.hpp"

namespace gatehouse {

std::string_view to_string(errc code) noexcept {
  switch (code) {
  case errc::invalid_request: return "invalid_request";
  case errc::invalid_rules: return "invalid_rules";
  case errc::invalid_profile: return "invalid_profile";
  case errc::invalid_config: return "invalid_config";
  case errc::not_found: return "not_found";
  case errc::io: return "io";
  case errc::too_large: return "too_large";
  case errc::boundary_unavailable: return "boundary_unavailable";
  case errc::boundary_failed: return "boundary_failed";
  case errc::spawn_failed: return "spawn_failed";
  case errc::cancelled: return "cancelled";
  case errc::internal: return "internal";
  }
  return "internal";
}

std::string to_string(const error& e) {
  return e.remedy.empty() ? e.message : e.message + "\n  next: " + e.remedy;
}

} // namespace gatehouse
