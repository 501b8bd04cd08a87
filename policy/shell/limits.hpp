#pragma once

#include <cstddef>

namespace gatehouse::policy::shell {

inline constexpr std::size_t max_script_size = 1 << 20; ///< bytes; larger is not read at all
inline constexpr int max_wrapper_depth = 8;             ///< §D20
inline constexpr std::size_t max_segments = 4096;

} // namespace gatehouse::policy::shell
