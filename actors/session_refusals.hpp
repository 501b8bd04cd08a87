#pragma once

#include "protocol/error.hpp"

#include <cstddef>
#include <string>
#include <utility>

/// What a session_thread says to a message that it does not take.
namespace gatehouse::actors {

constexpr std::size_t longest_id = 256; ///< of calls and turns, in bytes

inline error wrong_order(std::string what, std::string remedy = {}) {
  return {errc::invalid_request, std::move(what), std::move(remedy)};
}

/// No id is ever used twice in a thread, and what it can remember of them is bounded.
inline error too_many_ids(std::size_t most) {
  return wrong_order("this thread has had " + std::to_string(most) +
                         " calls and turns, as many as one can have",
                     "Start another thread.");
}

} // namespace gatehouse::actors
