#include "protocol/sandbox_choice.hpp"

namespace gatehouse {

std::string_view to_string(sandbox_backend b) noexcept {
  switch (b) {
  case sandbox_backend::none: return "none";
  case sandbox_backend::linux_bubblewrap: return "linux";
  case sandbox_backend::landlock: return "landlock";
  case sandbox_backend::seatbelt: return "seatbelt";
  case sandbox_backend::windows: return "windows";
  case sandbox_backend::windows_elevated: return "windows-elevated";
  }
  return "none";
}

std::optional<sandbox_backend> sandbox_backend_from(std::string_view name) noexcept {
  using enum sandbox_backend;
  for (const auto b : {none, linux_bubblewrap, landlock, seatbelt, windows, windows_elevated})
    if (to_string(b) == name) return b;
  return std::nullopt;
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
