#include "policy/starlark/string_literal.hpp"

#include <charconv>

namespace gatehouse::policy::starlark {
namespace {

class decoder {
public:
  decoder(std::string_view text, bool bytes, position where)
      : text_{text}, bytes_{bytes}, where_{where} {}

  std::string run(bool raw) {
    std::string out;
    out.reserve(text_.size());
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') continue;
      if (c == '\\' && !raw)
        read_escape(out);
      else
        out += c;
    }
    return out;
  }

private:
  void read_escape(std::string& out) {
    if (at_ == text_.size()) raise("a string ends in a backslash", where_);
    const char c = text_[at_++];
    switch (c) {
    case 'n': out += '\n'; return;
    case 'r': out += '\r'; return;
    case 't': out += '\t'; return;
    case 'a': out += '\a'; return;
    case 'b': out += '\b'; return;
    case 'f': out += '\f'; return;
    case 'v': out += '\v'; return;
    case '\\':
    case '\'':
    case '"': out += c; return;
    case '\n': return;
    case '\r': at_ += at_ < text_.size() && text_[at_] == '\n' ? 1 : 0; return;
    case 'x': return put(out, read_digits(2, 16, "\\x"));
    case 'u': return put_scalar(out, read_digits(4, 16, "\\u"));
    case 'U': return put_scalar(out, read_digits(8, 16, "\\U"));
    default: break;
    }
    if (c < '0' || c > '7') {
      out += '\\';
      out += c;
      return;
    }
    --at_;
    std::size_t digits = 0;
    while (digits < 3 && at_ + digits < text_.size() && text_[at_ + digits] >= '0' &&
           text_[at_ + digits] <= '7')
      ++digits;
    put(out, read_digits(digits, 8, "\\"));
  }

  std::uint32_t read_digits(std::size_t count, int base, std::string_view escape) {
    std::uint32_t code = 0;
    const auto digits = text_.substr(at_, count);
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
    if (digits.size() != count || failed != std::errc{} || end != digits.data() + count)
      raise("the escape " + std::string{escape} + " needs " + std::to_string(count) +
                " digits in a string",
            where_);
    at_ += count;
    return code;
  }

  void put(std::string& out, std::uint32_t code) const {
    if (!bytes_) return append_utf8(out, code);
    if (code > 0xFF) raise("an escape in a bytes literal is greater than 255", where_);
    out += static_cast<char>(code);
  }
  void put_scalar(std::string& out, std::uint32_t code) const {
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
      raise("an escape in a string is not a Unicode character (surrogate halves are none)", where_);
    append_utf8(out, code);
  }

  std::string_view text_;
  bool bytes_;
  position where_;
  std::size_t at_ = 0;
};

} // namespace

std::string decode_literal(std::string_view text, bool raw, bool bytes, position where) {
  return decoder{text, bytes, where}.run(raw);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

} // namespace gatehouse::policy::starlark
