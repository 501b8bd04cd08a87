#include "cli/exec_server_command.hpp"

#include "cli/exec_server.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "config/locations.hpp"
#include "config/user_shell.hpp"
#include "reactor/line_channel.hpp"
#include "reactor/signals.hpp"
#include "reactor/websocket_server.hpp"
#include "sandbox/command_environment.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" char** environ;

namespace gatehouse::cli {
namespace {

constexpr std::string_view example = "gatehouse exec-server --listen ws://127.0.0.1:0";
constexpr std::string_view help = R"(gatehouse exec-server [options]
Runs commands and file calls of clients of the exec-server protocol, each inside the sandbox that its request asks for.
Prints its URL on standard output when it listens.

  --listen ws://IP:PORT   WebSocket (ws://127.0.0.1:0: the system chooses the port); the default
  --listen unix://PATH    WebSocket over a unix socket, for the same user
  --listen stdio          one client, one JSON message a line, on standard input and output
  --token-file FILE       the token that clients must send (Authorization: Bearer); made when it does not exist.
                          Default: exec-server.token in the state folder
  --no-auth               no token; only on a loopback address
  --allow-unsandboxed     also runs what comes without a sandbox, as you
  --session-ttl-ms N      how long a session outlives its connection (80000)
)";

struct listen_place {
  bool stdio = false;
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::string unix_path;
};

std::optional<listen_place> read_place(std::string_view text) {
  listen_place place;
  if (text == "stdio" || text == "stdio://") {
    place.stdio = true;
    return place;
  }
  if (text.starts_with("unix://")) {
    place.unix_path = text.substr(7);
    return place.unix_path.starts_with('/') ? std::optional{place} : std::nullopt;
  }
  if (!text.starts_with("ws://")) return std::nullopt;
  text.remove_prefix(5);
  if (text.ends_with('/')) text.remove_suffix(1);
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = text.substr(colon + 1);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (read.ec != std::errc{} || read.ptr != port.data() + port.size()) return std::nullopt;
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  place.address = host == "localhost" ? "127.0.0.1" : host;
  return place;
}

error file_error(const std::string& what) {
  return {errc::io, what + ": " + std::strerror(errno), "choose another --token-file"};
}

/// The token in `path`; a new one when there is no such file. Only its owner may read it.
result<std::string> token_of(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT) {
    std::error_code ec;
    const auto folder = std::filesystem::path{path}.parent_path();
    if (std::filesystem::create_directories(folder, ec))
      std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ec);
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return file_error("cannot make " + path);
    unsigned char random[32];
    std::string text;
    if (::getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
      return file_error("cannot make a token");
    for (const auto byte : random) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15u];
    }
    const auto line = text + "\n";
    const bool written = ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    ::close(fd);
    if (!written) return file_error("cannot write " + path);
    return text;
  }
  if (fd < 0) return file_error("cannot read " + path);
  struct stat st {};
  char text[4096];
  const auto size = ::fstat(fd, &st) == 0 ? ::read(fd, text, sizeof text) : -1;
  ::close(fd);
  if (size < 0) return file_error("cannot read " + path);
  if ((st.st_mode & 077u) != 0)
    return error{errc::io, path + " can be read by others", "chmod 600 " + path};
  std::string token{text, static_cast<std::size_t>(size)};
  token.erase(
      std::find_if(token.begin(), token.end(), [](char c) { return c == '\n' || c == '\r'; }),
      token.end());
  constexpr std::size_t shortest = 16;
  if (token.size() < shortest)
    return error{errc::io, path + " holds no token of 16 characters or more", "remove it"};
  return token;
}

std::string variable(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value && *value == '/' ? std::string{value} : fallback;
}

exec_server_terms terms_for(reactor::event_loop& loop, const config::locations& where,
                            bool allow_unsandboxed) {
  exec_server_terms terms;
  terms.host.loop = &loop;
  terms.host.helper = beside_me("gatehouse-sandbox");
  terms.host.own = beside_me("gatehouse");
  std::size_t count = 0;
  while (environ[count])
    ++count;
  terms.host.environment = sandbox::inherited_environment({environ, count});
  if (!where.state.empty()) terms.host.protected_paths = {where.state};
  terms.host.allow_unsandboxed = allow_unsandboxed;
  terms.info.shell_path = config::user_shell();
  terms.info.shell_name = std::filesystem::path{terms.info.shell_path}.filename();
  terms.info.version = GATEHOUSE_VERSION;
  std::error_code ec;
  terms.info.cwd = std::filesystem::current_path(ec).string();
  terms.info.home = where.user_home.empty() ? "/" : where.user_home;
  terms.info.tmpdir = variable("TMPDIR", "/tmp");
  return terms;
}

} // namespace

int exec_server_command(arguments given) {
  const known_option known[] = {{"--listen", true},
                                {"--token-file", true},
                                {"--no-auth"},
                                {"--allow-unsandboxed"},
                                {"--session-ttl-ms", true},
                                {"--help"},
                                {"-h"}};
  const auto read = read_options(given, known);
  if (!read) return wrong_usage(read.error().message, example);
  if (read->has("--help") || read->has("-h")) return print(help) ? exit_ok : exit_failed;
  if (!read->rest().empty())
    return wrong_usage("'" + read->rest().front() + "' is not understood", example);
  const auto listen = read->value("--listen").value_or("ws://127.0.0.1:0");
  const auto place = read_place(listen);
  if (!place)
    return wrong_usage("--listen is ws://IP:PORT, unix://PATH or stdio, not '" + listen + "'",
                       example);
  std::uint32_t ttl = 80'000;
  if (const auto text = read->value("--session-ttl-ms")) {
    const auto end = text->data() + text->size();
    const auto number = std::from_chars(text->data(), end, ttl);
    if (number.ec != std::errc{} || number.ptr != end)
      return wrong_usage(
          "--session-ttl-ms takes a whole number of milliseconds, not '" + *text + "'", example);
  }
  const auto where = config::locations_from_environment();
  reactor::event_loop loop;
  auto terms = terms_for(loop, where, read->has("--allow-unsandboxed"));
  terms.detached = std::chrono::milliseconds{ttl};
  bool stopped = false;
  const auto signals =
      reactor::signal_watch::open(loop, {SIGINT, SIGTERM, SIGHUP}, [&](int) { stopped = true; });
  if (!signals) complain(signals.error());
  exec_server_host host{std::move(terms)};

  if (place->stdio) {
    // The descriptors themselves lead elsewhere from now on: nothing else writes into the protocol.
    reactor::unique_fd input{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)};
    reactor::unique_fd output{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)};
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    const auto channel = reactor::open_line_channel(loop, std::move(input), std::move(output));
    host.serve(channel);
    loop.run_until([&] { return stopped || host.clients() == 0; });
    return exit_ok;
  }

  reactor::websocket_terms web;
  web.address = place->address;
  web.port = place->port;
  web.unix_path = place->unix_path;
  if (!read->has("--no-auth")) {
    const auto path = read->value("--token-file").value_or(where.state + "/exec-server.token");
    auto token = token_of(path);
    if (!token) {
      complain(token.error());
      return exit_wrong_usage;
    }
    web.token = *std::move(token);
  } else if (read->value("--token-file")) {
    return wrong_usage("--no-auth and --token-file exclude each other", example);
  }
  const auto server = reactor::websocket_server::listen(
      loop, std::move(web), [&](const reactor::websocket_ptr& client) { host.serve(client); });
  if (!server) {
    complain(server.error());
    return exit_wrong_usage;
  }
  if (!print((*server)->url() + "\n")) return exit_failed;
  loop.run_until([&] { return stopped; });
  return exit_ok;
}

} // namespace gatehouse::cli
