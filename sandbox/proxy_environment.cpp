#include "sandbox/proxy_environment.hpp"

#include "sandbox/init_protocol.hpp"

#include <algorithm>
#include <iterator>

namespace gatehouse::sandbox {
namespace {

constexpr std::string_view proxies[] = {
    "HTTP_PROXY",
    "HTTPS_PROXY",
    // An HTTP URL too: some clients (httpx) fail at once over a SOCKS URL that they do not need.
    "ALL_PROXY",
    "FTP_PROXY",
    "WS_PROXY",
    "WSS_PROXY",
    "GRPC_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "ftp_proxy",
    "ws_proxy",
    "wss_proxy",
    "grpc_proxy",
    "PIP_PROXY",
    "CARGO_HTTP_PROXY",
    "YARN_HTTP_PROXY",
    "YARN_HTTPS_PROXY",
    "npm_config_proxy",
    "npm_config_http_proxy",
    "npm_config_https_proxy",
    "NPM_CONFIG_PROXY",
    "NPM_CONFIG_HTTP_PROXY",
    "NPM_CONFIG_HTTPS_PROXY",
    "BUNDLE_HTTP_PROXY",
    "BUNDLE_HTTPS_PROXY",
    "DOCKER_HTTP_PROXY",
    "DOCKER_HTTPS_PROXY",
    "GLOBAL_AGENT_HTTP_PROXY",
    "GLOBAL_AGENT_HTTPS_PROXY",
};
constexpr std::string_view bypasses[] = {
    "NO_PROXY",      "no_proxy",        "npm_config_noproxy",    "NPM_CONFIG_NOPROXY",
    "YARN_NO_PROXY", "BUNDLE_NO_PROXY", "GLOBAL_AGENT_NO_PROXY",
};
constexpr std::string_view switches[] = {"NODE_USE_ENV_PROXY", "ELECTRON_GET_USE_PROXY",
                                         "GATEHOUSE_NETWORK_PROXY_ACTIVE", "GATEHOUSE_SOCKS_PROXY"};

template <std::size_t N>
bool is_in(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

} // namespace

bool is_proxy_variable(std::string_view name) {
  return is_in(proxies, name) || is_in(bypasses, name) || is_in(switches, name) ||
         name == "SOCKS_PROXY" || name == "socks_proxy" || name == "RSYNC_PROXY" ||
         name == "AUTO_PROXY" || name == "auto_proxy";
}

std::vector<std::string> proxy_environment(bool local_binding, std::string_view java_options) {
  const std::string port = std::to_string(init::proxy_port);
  const std::string url = "http://127.0.0.1:" + port;
  const std::string direct = local_binding ? "localhost,127.0.0.1,::1" : "";
  std::vector<std::string> out;
  const auto set = [&](std::string_view name, const std::string& value) {
    out.push_back(std::string{name} + "=" + value);
  };
  for (const auto name : proxies)
    set(name, url);
  for (const auto name : bypasses)
    set(name, direct);
  set("NODE_USE_ENV_PROXY", "1");
  set("ELECTRON_GET_USE_PROXY", "true");
  set("GATEHOUSE_NETWORK_PROXY_ACTIVE", "1");
  set("GATEHOUSE_SOCKS_PROXY", "socks5h://127.0.0.1:" + port);
  std::string java{java_options};
  if (!java.empty()) java += " ";
  for (const char* scheme : {"http", "https"})
    java += std::string{"-D"} + scheme + ".proxyHost=127.0.0.1 -D" + scheme + ".proxyPort=" + port +
            " ";
  java += std::string{"-Dhttp.nonProxyHosts="} + (local_binding ? "localhost|127.*|[::1]" : "");
  set("JAVA_TOOL_OPTIONS", java);
  return out;
}

} // namespace gatehouse::sandbox
