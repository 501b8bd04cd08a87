#include "protocol/sandbox_choice.hpp"

namespace gatehouse {

std::string_view to_string(sandbox_backend b) noexcept {
  switch (b) {
  case sandbox_backend::none: return "none";
  case sandbox_backend::linux_bubblewrap: return "linux";
  case sandbox_backend::landlock: return "landlock";
  case sandbox_backend::seatbelt: return "seatbelt";
  case sandbox_backend::windows: return "windows";
  }
  return "none";
}

std::string_view to_string(network_mode m) noexcept {
  switch (m) {
  case network_mode::full: return "full";
  case network_mode::isolated: return "isolated";
  case network_mode::proxy_only: return "proxy_only";
  }
  return "isolated";
}

} // namespace gatehouse
