#include "reactor/output_capture.hpp"

#include <utility>

namespace gatehouse::reactor {

output_capture::output_capture(capture_limits limits)
    : channels_{channel{limits.bytes}, channel{limits.bytes}}, aggregate_{limits.bytes},
      deltas_left_{limits.deltas} {}

std::optional<std::string> output_capture::append(output_stream stream, std::string_view bytes) {
  auto& c = at(stream);
  c.kept.append(bytes);
  // The other stream must not fall into the middle of this one's character.
  auto whole = std::exchange(c.begun, {}).append(bytes);
  const auto end = whole.size() - incomplete_utf8_suffix(whole);
  c.begun = whole.substr(end);
  aggregate_.append(std::string_view{whole}.substr(0, end));
  return announce(c.decoder.decode(bytes));
}

std::optional<std::string> output_capture::finish(output_stream stream) {
  auto& c = at(stream);
  aggregate_.append(std::exchange(c.begun, {}));
  return announce(c.decoder.finish());
}

std::optional<std::string> output_capture::announce(std::string text) {
  if (text.empty() || deltas_left_ == 0) return std::nullopt;
  --deltas_left_;
  return text;
}

std::uint64_t output_capture::total_bytes() const noexcept {
  return channels_[0].kept.total_bytes() + channels_[1].kept.total_bytes() + lost_;
}

captured_output output_capture::output() const {
  auto out = channels_[0].kept.render();
  auto err = channels_[1].kept.render();
  auto both = aggregate_.render();
  return {std::move(out.value),  std::move(err.value),
          std::move(both.value), out.omitted_bytes + err.omitted_bytes + lost_,
          total_bytes(),         both.omitted_bytes + lost_};
}

} // namespace gatehouse::reactor
