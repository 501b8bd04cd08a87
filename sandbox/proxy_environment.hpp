#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// True for a variable that tells some client which proxy to use or to go around: a command behind
/// the managed proxy inherits none of them.
bool is_proxy_variable(std::string_view name);

/// What a command behind the managed proxy gets instead: every variable that the usual clients
/// read, in both cases of letters, leading to `proxy_port` on its own loopback (BR-084, BR-085).
/// Without `local_binding` nothing may be reached directly, so that a request for `localhost` gets
/// the proxy's readable answer instead of a refused connection; with it, the command's own servers
/// are asked directly.
/// @param java_options JAVA_TOOL_OPTIONS as inherited; Java reads no proxy variable
std::vector<std::string> proxy_environment(bool local_binding, std::string_view java_options);

} // namespace gatehouse::sandbox
