#pragma once

#include "actors/endpoint/client_port.hpp"
#include "actors/endpoint/endpoint_services.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace gatehouse::actors {

/// The result of a request as JSON, or why there is none.
using rpc_outcome = std::variant<std::string, rpc::failure>;

/// Writes to the connection that a session has at the moment; while it has none, to nobody.
/// Loop's thread.
class client_writer {
public:
  explicit client_writer(const endpoint_services& services) : services_{services} {}

  /// @param version every message says `jsonrpc`, as the client's do
  void attach(std::shared_ptr<client_port> port, bool version);
  void detach() { port_ = nullptr; }
  [[nodiscard]] bool attached() const noexcept { return port_ != nullptr; }
  /// More waits for the client than it should; events had better wait elsewhere.
  [[nodiscard]] bool is_behind() const;

  void notify(std::string_view method, const std::string& params);
  void ask(const std::string& id, std::string_view method, const std::string& params);
  void answer(const rpc::request_id& id, const rpc_outcome& what);

private:
  void send(std::string text);

  const endpoint_services& services_;
  std::shared_ptr<client_port> port_;
  bool version_ = false;
};

} // namespace gatehouse::actors
