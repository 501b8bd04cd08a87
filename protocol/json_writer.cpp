#include "protocol/json_writer.hpp"

#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"

namespace gatehouse {

void json_writer::new_line() {
  if (layout_ == json_layout::compact) return;
  out_ += '\n';
  out_.append(depth_ * 2, ' ');
}

void json_writer::open(char bracket) {
  out_ += bracket;
  ++depth_;
  first_ = true;
}

void json_writer::close(char bracket) {
  --depth_;
  if (!first_) new_line(); // an empty list stays `[]`
  out_ += bracket;
  first_ = false;
}

void json_writer::item() {
  if (!first_) out_ += ',';
  new_line();
  first_ = false;
}

void json_writer::key(std::string_view name) {
  item();
  out_ += json_quote(name);
  out_ += layout_ == json_layout::compact ? ":" : ": ";
}

void json_writer::text(std::string_view value) {
  out_ += json_quote(to_valid_utf8(value));
}

void json_writer::number(std::int64_t value) {
  out_ += std::to_string(value);
}

void json_writer::boolean(bool value) {
  out_ += value ? "true" : "false";
}

void json_writer::null() {
  out_ += "null";
}

void json_writer::raw(std::string_view json) {
  // Exactly: the little that may still come must not double the room of a large text.
  constexpr std::size_t rest = 64;
  out_.reserve(out_.size() + json.size() + rest);
  out_ += json;
}

} // namespace gatehouse
