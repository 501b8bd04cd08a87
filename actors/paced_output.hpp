#pragma once

#include "protocol/attempt.hpp"
#include "protocol/output_stream.hpp"

#include <functional>
#include <string_view>

namespace gatehouse::actors {

/// A `shell_terms::on_output` whose reader may be slow: a stream is read on after `next`, which
/// `when_ready` calls once, at once or later, or never when nobody wants more. The command is
/// slowed by it; its time limit and its end are not. A host sets one for its thread and hears all
/// output, also what is beyond the announced deltas (§96). On the loop. What runs on another
/// machine is not slowed.
struct paced_output {
  std::function<void(const attempt_terms&, output_stream, std::string_view)> hear;
  std::function<void(std::function<void()> next)> when_ready;

  void operator()(const attempt_terms& of, output_stream stream, std::string_view bytes) const {
    hear(of, stream, bytes);
  }
};

} // namespace gatehouse::actors
