#pragma once

#include "actors/remote_stream.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// Events of one remote process, and somebody who hears them.
namespace gatehouse::test {

using event = actors::remote_stream::event;

/// Output with its number as its text.
inline event said(std::uint64_t seq) {
  return {"p", seq, event::output{"stdout", std::to_string(seq) + " "}};
}
inline event exited(std::uint64_t seq) {
  return {"p", seq, event::exited{3, false}};
}
inline event closed(std::uint64_t seq) {
  return {"p", seq, event::closed{}};
}

/// What was told, as one text: each piece of output, "exit " and "end ".
struct listener {
  std::string heard;
  void take(const std::vector<event>& events) {
    for (const auto& e : events) {
      if (const auto* out = std::get_if<event::output>(&e.what))
        heard += out->bytes;
      else
        heard += std::holds_alternative<event::exited>(e.what) ? "exit " : "end ";
    }
  }
};

} // namespace gatehouse::test
