#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gatehouse {

enum class json_layout : std::uint8_t { compact, indented };

/// Writes one JSON value in the order of its calls, compact or indented by two spaces. The caller
/// keeps the nesting right; bytes that are no UTF-8 appear as U+FFFD.
class json_writer {
public:
  explicit json_writer(json_layout layout = json_layout::compact) : layout_{layout} {}

  /// '{' or '['.
  void open(char bracket);
  /// '}' or ']'.
  void close(char bracket);
  /// Before every element of an array.
  void item();
  /// Before every value of an object.
  void key(std::string_view name);

  void text(std::string_view value);
  void number(std::int64_t value);
  void boolean(bool value);
  void null();
  /// `json` is a JSON value already; it stands as it is, whatever the layout.
  void raw(std::string_view json);

  void field(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }

  [[nodiscard]] std::string take() && { return std::move(out_); }

private:
  void new_line();

  json_layout layout_;
  std::string out_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

} // namespace gatehouse
