#pragma once

#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// A whole HTTP answer of the proxy itself, after which the connection ends. `decision` goes into
/// the header `X-Gatehouse-Decision` and the status line (some clients show nothing else), so that
/// nobody takes a refusal for a fault of the network (BR-089); without one, what failed goes there.
std::string proxy_answer(int status, std::string_view decision, std::string_view body);

/// "HTTP/1.1 200 Connection established" and the empty line.
std::string tunnel_established();

/// `host:port` as it stands in a URL; port 80 is left out.
std::string host_and_port(std::string_view host, unsigned port, bool always_port);

} // namespace gatehouse::reactor
