#pragma once

#include "protocol/result.hpp"

#include <optional>
#include <string>

namespace gatehouse::config {

/// Reads a whole regular file of at most `max_bytes`. Follows links; a file that is not there is
/// nothing, everything else that goes wrong is an error with the path.
result<std::optional<std::string>> read_text_file(const std::string& path,
                                                  std::size_t max_bytes = 4u << 20);

} // namespace gatehouse::config
