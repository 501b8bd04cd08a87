#pragma once

#include <string_view>

namespace gatehouse::policy {

/// True for a file (by the name of the real one) that is many programs, which one it is being
/// decided by the name it is called by: busybox, systemctl (`reboot`), kmod (`rmmod`).
bool is_many_tools(std::string_view file_name) noexcept;

} // namespace gatehouse::policy
