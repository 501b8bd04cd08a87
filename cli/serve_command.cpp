#include "cli/serve_command.hpp"

#include "actors/random_id.hpp"
#include "cli/audit_setup.hpp"
#include "cli/explainer.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "cli/serve_listeners.hpp"
#include "cli/serve_threads.hpp"
#include "cli/token_flags.hpp"
#include "config/credentials.hpp"
#include "config/daemon_record.hpp"
#include "config/private_file.hpp"
#include "console/console_assets.hpp"
#include "policy/path_text.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/rpc/app_schema.hpp"
#include "protocol/utf8.hpp"
#include "protocol/visible_text.hpp"
#include "reactor/heap_memory.hpp"
#include "reactor/signals.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

/// For clients to hear how what they asked for has ended, and to leave.
constexpr std::chrono::seconds longest_farewell{10};

/// `--listen`, or the default.
result<std::vector<listen_address>> addresses_of(const options& given, const std::string& cwd) {
  auto texts = given.values("--listen");
  if (texts.empty()) texts.emplace_back("ws://127.0.0.1:0");
  std::vector<listen_address> all;
  bool stdio = false;
  for (const auto& text : texts) {
    auto at = read_listen_address(text, cwd);
    if (!at) return at.error();
    if (at->what == listen_address::kind::stdio && std::exchange(stdio, true))
      return error{errc::invalid_request, "stdio:// can be listened on once", {}};
    all.push_back(*std::move(at));
  }
  return all;
}

std::string reviewer_token_path(const options& given, const start_point& start) {
  const auto path =
      given.value("--reviewer-token-file").value_or(start.where.state + "/tokens/reviewer.token");
  return policy::absolute_below(start.cwd, path);
}

/// Empty: the agents' token is in no file that is known.
std::string agent_token_path(const options& given, const start_point& start) {
  if (given.has("--ws-token-sha256")) return {};
  if (auto named = given.value("--ws-token-file")) return *std::move(named);
  return given.value("--agent-token-file").value_or(start.where.state + "/tokens/agent.token");
}

result<actors::admission_terms> admission_of(const options& given, const start_point& start) {
  if (const auto own = config::require_own_folder(start.where.state); !own) return own.error();
  actors::admission_terms terms;
  const auto agent = agent_token_path(given, start);
  const auto reviewer = reviewer_token_path(given, start);
  const auto given_token = ws_token_of(given, start.cwd, "--agent-token-file");
  if (!given_token) return given_token.error();
  terms.agent_token = *given_token;
  if (!terms.agent_token) {
    const auto made = config::read_or_make_token(agent);
    if (!made) return made.error();
    terms.agent_token = actors::sha256_of(*made);
  }
  auto reviewer_token = config::read_or_make_token(reviewer);
  if (!reviewer_token) return reviewer_token.error();
  terms.reviewer_token = actors::sha256_of(*reviewer_token);
  if (terms.agent_token == terms.reviewer_token)
    return error{errc::invalid_config,
                 "the agents' token and the one in " + reviewer + " are the same",
                 "An agent with it could approve its own calls. Make another one."};
  terms.open_to_agents = given.has("--no-auth");
  for (const auto& text : given.values("--allow-origin")) {
    auto origin = read_origin(text);
    if (!origin) return origin.error();
    terms.origins.push_back(*std::move(origin));
  }
  terms.own_uid = ::geteuid();
  print_error(
      "agent token: " + (agent.empty() ? "the one with the given SHA-256" : visible_words(agent)) +
      "\nreviewer token: " + visible_words(reviewer) + "\n");
  return terms;
}

/// The door of the console; its address and cookie outlive the daemon, so that a page that is open
/// comes back to the next one.
result<actors::console_door> console_of(const start_point& start) {
  const auto folder =
      config::read_or_make_token(start.where.state + "/tokens/console-address.token");
  if (!folder) return folder.error();
  const auto cookie =
      config::read_or_make_token(start.where.state + "/tokens/console-cookie.token");
  if (!cookie) return cookie.error();
  return actors::console_door{
      {*folder, *cookie, actors::random_id() + actors::random_id(), console::assets()}};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// What clients need to connect, for programs.
std::string places_json(const options& given, const start_point& start, std::string_view urls,
                        const std::string& console) {
  json_writer out;
  out.open('{');
  out.key("urls");
  out.open('[');
  for (const auto& url : lines_of(urls)) {
    out.item();
    out.text(url);
  }
  out.close(']');
  if (!console.empty()) out.field("console", console);
  if (const auto agent = agent_token_path(given, start); !agent.empty())
    out.field("agent_token_file", to_valid_utf8(policy::absolute_below(start.cwd, agent)));
  out.field("reviewer_token_file", to_valid_utf8(reviewer_token_path(given, start)));
  out.close('}');
  return std::move(out).take() + "\n";
}

/// `gatehouse review` finds the daemon by it.
result<std::unique_ptr<config::published_daemon>>
publish(const options& given, const start_point& start, std::string_view urls) {
  config::daemon_record record;
  record.reviewer_token_file = reviewer_token_path(given, start);
  record.root = given.value("--root").value_or(start.cwd);
  record.urls = lines_of(urls);
  if (record.urls.empty()) return std::unique_ptr<config::published_daemon>{};
  return config::published_daemon::publish(start.where.state, record);
}

} // namespace

int serve_command(arguments given) {
  const auto words = open_command_line("serve", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (read->has("--schema")) return print(rpc::app::schema()) ? exit_ok : exit_failed;
  if (read->has("--schema-markdown"))
    return print(rpc::app::schema_as_markdown()) ? exit_ok : exit_failed;
  const auto as = read->value("--stdio-as").value_or("agent");
  if (as != "agent" && as != "reviewer")
    return wrong_usage_of("serve", "--stdio-as is agent or reviewer");

  const auto retain_kib = read->whole_number("--retain-kib", 16, 1U << 20U);
  if (!retain_kib) return wrong_usage_of("serve", retain_kib.error());

  const auto start = load_for(*read);
  if (!start) return fail(start.error(), exit_wrong_usage);
  const auto addresses = addresses_of(*read, start->cwd);
  if (!addresses) return wrong_usage_of("serve", addresses.error());
  if (read->has("--json") && std::ranges::any_of(*addresses, [](const listen_address& at) {
        return at.what == listen_address::kind::stdio;
      }))
    return wrong_usage_of("serve", "--json and stdio:// exclude each other: messages are all that "
                                   "standard output is for then");
  reactor::prepare_heap();
  actors::thread_host host;
  auto desk = thread_desk::make(*read, *start, host.loop());
  auto explain = explainer::make(*start, {read->values("--rules"), true, true, start->cwd});
  auto admission =
      desk && explain ? admission_of(*read, *start) : result<actors::admission_terms>{error{}};
  if (!desk || !explain || !admission)
    return fail(!desk      ? desk.error()
                : !explain ? explain.error()
                           : admission.error(),
                exit_wrong_usage);
  if (const auto audit = begin_audit(start->where, host, "serve"); !audit)
    return fail(audit.error(), exit_wrong_usage);
  std::optional<actors::console_door> console;
  if (read->has("--console")) {
    if (std::ranges::none_of(*addresses, [](const listen_address& at) {
          return at.what == listen_address::kind::tcp;
        }))
      return wrong_usage_of("serve", "--console needs a ws:// address to listen on");
    auto door = console_of(*start);
    if (!door) return fail(door.error(), exit_wrong_usage);
    console = *std::move(door);
  }
  warn(start->loaded.warnings);

  actors::endpoint_terms terms;
  if (*retain_kib) terms.limits.retained_bytes = **retain_kib * 1024;
  terms.version = GATEHOUSE_VERSION;
  if (const auto backend = chosen_backend(start->loaded.settings);
      backend && *backend != sandbox_backend::none)
    terms.sandboxes.emplace_back(to_string(*backend));
  terms.open_thread = [&desk](const actors::thread_wishes& wishes) { return desk->open(wishes); };
  terms.explain = [&explain](std::string_view tool, const json_tree& call) {
    return explain_for(*explain, tool, call);
  };
  terms.file_program = {beside_me("gatehouse"), "file-call"};
  terms.profiles = [&desk] { return desk->profiles(); };
  actors::endpoint endpoint{host, std::move(terms)};

  bool stop = false;
  int signalled = 0; // whoever asks again does not wait for clients
  std::optional<error> failed;
  std::vector<std::unique_ptr<listener>> listeners;
  std::string urls;
  bool stdio = false;
  std::string link; // of the console
  for (const auto& at : *addresses) {
    auto opened = open_listener(
        host.loop(),
        [&endpoint](actors::authority who, std::shared_ptr<actors::client_port> port) {
          return endpoint.connected(who, std::move(port));
        },
        at, *admission, as == "agent" ? actors::authority::agent : actors::authority::reviewer,
        [&](const result<void>& how) {
          if (!how) failed = how.error();
          stop = true;
        },
        console ? &*console : nullptr);
    if (!opened) return fail(opened.error(), exit_failed);
    // The first TCP address is enough; the key works once.
    if (console && at.what == listen_address::kind::tcp && link.empty()) {
      link = "http" + (*opened)->url().substr(2) + console->link();
      print_error("console: " + link + "\n");
    }
    stdio = stdio || at.what == listen_address::kind::stdio;
    if (at.what != listen_address::kind::stdio) urls += (*opened)->url() + "\n";
    listeners.push_back(*std::move(opened));
  }
  // Whoever has read where it listens may end it in good order.
  const auto signals =
      reactor::signal_watch::open(host.loop(), {SIGINT, SIGTERM, SIGHUP}, [&](int) {
        ++signalled;
        stop = true;
      });
  if (!signals) return fail(signals.error(), exit_failed);
  auto published = publish(*read, *start, urls);
  if (!published) warn(published.error());
  const auto told = read->has("--json") ? places_json(*read, *start, urls, link) : urls;
  if (!(stdio ? print_error(told) : print(told))) return exit_failed;
  host.loop().run_until([&] { return stop; });
  const auto why = failed; // that clients go now is no failure
  endpoint.shut_down();
  host.loop().run_until([&] { return endpoint.is_over() || signalled > 1; }, longest_farewell);
  if (!why) return exit_ok;
  return fail(*why, exit_failed);
}

} // namespace gatehouse::cli
