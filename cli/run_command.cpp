#include "cli/run_command.hpp"

#include "actors/call_host.hpp"
#include "cli/call_settings.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "cli/run_summary.hpp"
#include "cli/settings_options.hpp"
#include "cli/stop_signals.hpp"
#include "cli/terminal_reviewer.hpp"
#include "config/rule_loader.hpp"
#include "config/user_shell.hpp"
#include "protocol/call_report_json.hpp"
#include "protocol/explain_json.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/shell_argv.hpp"
#include "sandbox/command_environment.hpp"

#include <atomic>
#include <charconv>
#include <cstdlib>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

constexpr std::string_view example = "gatehouse run --profile workspace-write -- make test";
constexpr std::string_view help =
    R"(gatehouse run [options] -- CMD…     (or --shell STRING)
Runs one command through decision, approval and sandbox. Where an approval is due it is asked for at
the terminal; without a terminal it is refused.

  --shell STRING        a string for your shell instead of CMD…; --login makes it a login shell
  --profile NAME|JSON   permission profile; default: default_permissions of the configuration
  --ask POLICY          untrusted, on-request, never or {"granular": {…}}
  --cwd DIR             working folder and project root; default: here
  --timeout-ms N        default: default_timeout_ms of the configuration (10000)
  --rules FILE          further rules (repeatable)
  --sandbox-permissions use_default | require_escalated | with_additional_permissions
  --additional-permissions JSON   what is wanted besides the profile, for this call
  --justification TEXT  why, for whoever is asked
  --prefix-rule JSON    a rule to propose: ["git", "status"]
  --json                one JSON document on standard output, and nothing else there

Exit status: the command's; 128+n after signal n; 124 time-out; 125 refused; 126/127 not executable
/ not found; 120 stopped by the user; 121 no boundary can be built here (nothing ran); 2 wrong usage
or configuration.
)";

constexpr known_option known[] = {{"--shell", true},
                                  {"--login"},
                                  {"--profile", true},
                                  {"--ask", true},
                                  {"--cwd", true},
                                  {"--timeout-ms", true},
                                  {"--rules", true, true},
                                  {"--sandbox-permissions", true},
                                  {"--additional-permissions", true},
                                  {"--justification", true},
                                  {"--prefix-rule", true},
                                  {"--json"},
                                  {"--help"},
                                  {"-h"}};

error wrong(std::string message, std::string remedy) {
  return {errc::invalid_request, std::move(message), std::move(remedy)};
}

result<std::chrono::milliseconds> read_timeout(const std::string& text) {
  constexpr std::int64_t most = 24LL * 60 * 60 * 1000;
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < 1 || value > most)
    return wrong("--timeout-ms takes a number from 1 to " + std::to_string(most) + ", not `" +
                     text + "`",
                 "Give the time in milliseconds.");
  return std::chrono::milliseconds{value};
}

/// The proposal exactly as the command line makes it (§4, §10).
result<proposal> read_proposal(const options& given, const std::string& cwd) {
  proposal what;
  const auto text = given.value("--shell");
  if (text.has_value() != given.rest().empty())
    return wrong(text ? "both --shell and CMD… are given" : "the command is missing",
                 "Give either -- CMD… or --shell STRING.");
  what.login = given.has("--login");
  if (what.login && !text)
    return wrong("--login goes with --shell only", "Give --shell STRING, or leave out --login.");
  what.argv = text ? shell_argv(config::user_shell(), *text, what.login) : given.rest();
  what.cwd = cwd;
  if (const auto timeout = given.value("--timeout-ms")) {
    const auto value = read_timeout(*timeout);
    if (!value) return value.error();
    what.timeout = *value;
  }
  if (const auto word = given.value("--sandbox-permissions")) {
    const auto mode = sandbox_permissions_from(*word);
    if (!mode)
      return wrong("`" + *word + "` is not a value of --sandbox-permissions",
                   "Give use_default, require_escalated or with_additional_permissions.");
    what.sandbox_permissions = *mode;
  }
  if (const auto json = given.value("--additional-permissions")) {
    auto overlay = decode_additional_permissions(*json);
    if (!overlay) return overlay.error();
    what.additional_permissions = std::move(*overlay);
  }
  what.justification = given.value("--justification").value_or("");
  if (const auto json = given.value("--prefix-rule")) {
    auto words = decode_words(*json);
    if (!words) return words.error();
    what.prefix_rule = std::move(*words);
  }
  return what;
}

std::vector<std::string> command_environment() {
  std::vector<const char*> environment;
  for (char** entry = environ; *entry; ++entry)
    environment.push_back(*entry);
  return sandbox::inherited_environment(environment);
}

std::string path_variable() {
  const char* path = std::getenv("PATH");
  return path ? path : "";
}

/// Everything that can go wrong before a call exists: status 2.
struct prepared_run {
  planned_call call;
  actors::call_host_settings host;
};

result<prepared_run> prepare(const options& given, std::vector<std::string>& warnings) {
  auto start = load_for(given);
  if (!start) return start.error();
  warnings = start->loaded.warnings;
  auto what = read_proposal(given, start->cwd);
  if (!what) return what.error();
  auto rules =
      config::load_rules(start->where, start->loaded, {given.values("--rules"), true, start->cwd});
  if (!rules) return rules.error();
  warnings.insert(warnings.end(), rules->warnings.begin(), rules->warnings.end());
  auto call = plan_call(*start, std::move(*what), path_variable());
  if (!call) return call.error();

  prepared_run run{std::move(*call), {}};
  const auto nonce = actors::make_review_nonce();
  run.call.plan.call_id = "run-" + actors::make_review_nonce();
  run.call.plan.review_nonce = nonce;
  run.host.terms = {rules->rules, run.call.search};
  run.host.gatehouse_home = start->where.gatehouse_home;
  auto& runtime = run.host.runtime;
  runtime.helper = beside_me("gatehouse-sandbox");
  runtime.environment = command_environment();
  runtime.host = run.call.context;
  for (const auto& name : start->loaded.settings.protected_names)
    runtime.extra_protected_names.push_back(name.value);
  runtime.default_timeout = start->loaded.settings.default_timeout.value;
  return run;
}

} // namespace

int run_command(arguments given) {
  const auto read = read_options(given, known);
  if (!read) return wrong_usage(read.error().message, example);
  if (read->has("--help") || read->has("-h")) return print(help) ? exit_ok : exit_failed;
  std::vector<std::string> warnings;
  auto run = prepare(*read, warnings);
  warn(warnings);
  if (!run) {
    complain(run.error());
    return exit_wrong_usage;
  }
  const bool json = read->has("--json");
  if (run->call.plan.profile.kind == profile_kind::disabled)
    warn({"full access: no boundary of ours is around this command; only for disposable machines"});

  std::atomic<bool> stop = false;
  actors::call_host* current = nullptr;
  run->host.notice = [](const std::string& line) { complain(line); };
  if (can_ask_at_terminal())
    run->host.ask = [&stop](const review_request& question) {
      return ask_at_terminal(question, stop);
    };
  if (!json)
    run->host.runtime.on_output = [&current](const std::string&, reactor::output_stream stream,
                                             std::string_view bytes) {
      const bool good =
          stream == reactor::output_stream::standard_output ? print(bytes) : print_error(bytes);
      if (!good) current->cancel(); // nobody reads any more
    };

  call_report report;
  {
    std::atomic<actors::call_host*> host_in_use = nullptr;
    const stop_signals signals{[&] {
      stop = true;
      if (auto* host = host_in_use.load()) host->cancel();
    }};
    actors::call_host host{std::move(run->host)};
    current = &host;
    host_in_use = &host;
    report = host.run_call(std::move(run->call.plan), std::move(run->call.handler_refusal));
    host_in_use = nullptr;
  }
  if (json) {
    if (!print(encode_call_report(report) + "\n")) return exit_failed;
  } else {
    print_error(run_summary(report));
  }
  return exit_status(report);
}

} // namespace gatehouse::cli
