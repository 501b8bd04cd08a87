#pragma once

#include "protocol/json_tree.hpp"
#include "protocol/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::cli {

/// One kind of call of a mix, as a line of its file says it.
struct load_call {
  std::string tool;      ///< app
  std::string arguments; ///< JSON: arguments of the tool, or the parameters of process/start
  std::int64_t weight = 1;
};

/// What a server is asked, and how it is understood.
enum class load_protocol : std::uint8_t { app, exec };

/// Reads a mix: one JSON object a line. app: {"arguments", "tool"?, "weight"?}; exec: {"params",
/// "weight"?} without `processId`. errc::invalid_request names the line.
result<std::vector<load_call>> read_mix(std::string_view text, const std::string& name,
                                        load_protocol protocol);
/// `/bin/true`, with the server's own or a read-only boundary.
load_call default_call(load_protocol protocol, const std::string& cwd);

/// One client's side of the conversation: messages out, ends of calls in.
class load_dialect {
public:
  virtual ~load_dialect() = default;
  /// The messages to begin with; what comes back goes to `received` until `ready`.
  virtual void begin() = 0;
  /// Asks for one call; its end comes to `on_end` under `number`.
  virtual void call(std::uint64_t number, const load_call& what) = 0;
  virtual void received(std::string_view text) = 0;

  std::function<void(std::string)> send;
  std::function<void()> on_ready;
  /// `trouble` empty: the call ran and its command ended with 0.
  std::function<void(std::uint64_t number, std::string trouble)> on_end;
  std::function<void(std::string why)> on_broken; ///< the server cannot be talked to
};

/// @param cwd for the app dialect's thread
std::unique_ptr<load_dialect> make_dialect(load_protocol protocol, std::string cwd);

} // namespace gatehouse::cli
