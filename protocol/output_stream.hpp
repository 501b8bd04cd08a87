#pragma once

#include <cstdint>

namespace gatehouse {

/// A terminal counts as standard output.
enum class output_stream : std::uint8_t { standard_output, standard_error };

} // namespace gatehouse
