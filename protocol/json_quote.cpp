#include "protocol/json_quote.hpp"

namespace gatehouse {

std::string json_quote(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string quoted{'"'};
  for (const char c : text) {
    switch (c) {
    case '"': quoted += "\\\""; break;
    case '\\': quoted += "\\\\"; break;
    case '\b': quoted += "\\b"; break;
    case '\f': quoted += "\\f"; break;
    case '\n': quoted += "\\n"; break;
    case '\r': quoted += "\\r"; break;
    case '\t': quoted += "\\t"; break;
    default:
      if (const auto byte = static_cast<unsigned char>(c); byte < 0x20) {
        quoted += "\\u00";
        quoted += digits[byte >> 4];
        quoted += digits[byte & 15];
      } else {
        quoted += c;
      }
    }
  }
  quoted += '"';
  return quoted;
}

} // namespace gatehouse
