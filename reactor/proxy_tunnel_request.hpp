#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::reactor {

/// Looks for the head of an HTTP/1 request at the beginning of a tunnel, and for each server that
/// it names. Only looks: the bytes are passed on as they are. Unlike http_head_reader, which
/// refuses what two readers could take differently, this one finds every name that a forgiving
/// server might go by, since it cannot refuse what may be another protocol.
class tunnel_request_reader {
public:
  static constexpr std::size_t most_names = 8;

  enum class state : std::uint8_t {
    more,     ///< may still become a head; no server can act on what there is of it
    not_http, ///< something else; nothing is known about it
    done,     ///< a whole head, see named()
    bad,      ///< a head whose names cannot be told
  };

  /// Reads `bytes`, which begin where the last call ended. Nothing is held back for it: what one
  /// call has read with `more` may be passed on. It keeps a bounded part of each line.
  state feed(std::string_view bytes);

  /// Of the Host headers and of the request's target, as written; empty: none.
  [[nodiscard]] const std::vector<std::string>& named() const noexcept { return named_; }

private:
  state take(char c);
  state take_first_line(char c);
  state end_first_line();
  state end_header();

  enum class part : std::uint8_t { method, target, headers };
  part part_ = part::method;
  std::string line_; ///< its beginning
  std::string tail_; ///< of the first line, its end, with single blanks
  bool cut_ = false; ///< the line is longer than what is kept
  bool cr_ = false;
  bool after_host_ = false; ///< the last header was a Host
  std::vector<std::string> named_;
};

} // namespace gatehouse::reactor
