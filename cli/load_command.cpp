#include "cli/load_command.hpp"

#include "cli/load_report.hpp"
#include "cli/output.hpp"
#include "config/locations.hpp"
#include "config/text_file.hpp"
#include "reactor/signals.hpp"

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace gatehouse::cli {
namespace {

result<double> number_option(const options& given, const char* name, double other, double least,
                             double most) {
  const auto text = given.value(name);
  if (!text) return other;
  double value = 0;
  const auto end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || !(value >= least && value <= most)) {
    char range[96];
    std::snprintf(range, sizeof range, " takes a number from %g to %g, not '", least, most);
    return error{errc::invalid_request, name + std::string{range} + *text + "'", {}};
  }
  return value;
}

/// The token of the file; of the default one only when it is there.
result<std::string> token_of(const options& given, load_protocol protocol) {
  const auto named = given.value("--token-file");
  const auto path = named.value_or(
      config::locations_from_environment().state +
      (protocol == load_protocol::app ? "/tokens/agent.token" : "/tokens/exec.token"));
  const auto text = config::read_text_file(path, 4096);
  if (!text) return text.error();
  if (!*text && named)
    return error{errc::not_found, "there is no file " + path,
                 "Correct the path after --token-file."};
  auto token = text->value_or("");
  while (!token.empty() && token.back() == '\n')
    token.pop_back();
  return token;
}

result<load_terms> read_load_terms(const options& given) {
  load_terms terms;
  terms.url = given.rest().front();
  auto target = reactor::read_websocket_address(terms.url);
  if (!target) return target.error();
  terms.target = *std::move(target);
  const auto dialect = given.value("--dialect").value_or("app");
  if (dialect != "app" && dialect != "exec")
    return error{errc::invalid_request, "--dialect is app or exec, not '" + dialect + "'", {}};
  terms.protocol = dialect == "app" ? load_protocol::app : load_protocol::exec;
  const auto callers = number_option(given, "--callers", 1, 1, 4096);
  const auto rate = number_option(given, "--rate", 0, 0.01, 1e6);
  const auto connections = number_option(given, "--connections", 1, 1, 1024);
  const auto duration = number_option(given, "--duration", 10, 0.1, 86'400);
  const auto warm_up = number_option(given, "--warm-up", 1, 0, 3600);
  const auto pid = number_option(given, "--pid", 0, 1, 4'194'304);
  for (const auto* one : {&callers, &rate, &connections, &duration, &warm_up, &pid})
    if (!*one) return one->error();
  if (given.has("--rate") && given.has("--callers"))
    return error{errc::invalid_request, "--rate and --callers exclude each other", {}};
  terms.callers = static_cast<std::size_t>(*callers);
  if (given.has("--rate")) terms.rate = *rate;
  terms.connections = static_cast<std::size_t>(*connections);
  const auto milliseconds = [](double seconds) {
    return std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1000)};
  };
  terms.duration = milliseconds(*duration);
  terms.warm_up = milliseconds(*warm_up);
  terms.pid = static_cast<pid_t>(*pid);
  if (terms.pid > 0 && !terms.target.local())
    return error{errc::invalid_request, "--pid needs a server on this machine", {}};
  if (terms.pid > 0 && !sample_process(terms.pid))
    return error{errc::invalid_request,
                 "there is no process " + std::to_string(terms.pid) + " that may be looked at",
                 {}};
  std::error_code failed;
  terms.cwd = std::filesystem::absolute(given.value("--cwd").value_or("."), failed)
                  .lexically_normal()
                  .string();
  while (terms.cwd.size() > 1 && terms.cwd.back() == '/')
    terms.cwd.pop_back();
  auto token = token_of(given, terms.protocol);
  if (!token) return token.error();
  terms.token = *std::move(token);
  terms.mix = {default_call(terms.protocol, terms.cwd)};
  if (const auto file = given.value("--mix")) {
    const auto text = config::read_text_file(*file, std::size_t{16} << 20U);
    if (!text) return text.error();
    if (!*text)
      return error{errc::not_found, "there is no file " + *file, "Correct the path after --mix."};
    auto mix = read_mix(**text, *file, terms.protocol);
    if (!mix) return mix.error();
    terms.mix = *std::move(mix);
  }
  return terms;
}

} // namespace

int load_command(arguments given) {
  const auto words = open_command_line("load", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (read->rest().size() != 1)
    return wrong_usage_of("load", "name one server: ws://HOST:PORT or unix:///PATH");
  const auto terms = read_load_terms(*read);
  if (!terms) return wrong_usage_of("load", terms.error());

  reactor::event_loop loop;
  bool stop = false;
  const auto signals =
      reactor::signal_watch::open(loop, {SIGINT, SIGTERM, SIGHUP}, [&](int) { stop = true; });
  if (!signals) complain(signals.error());
  load_run run{loop, *terms};
  const auto& result = run.run([&] { return stop; });
  if (!result.broken.empty() && result.latency.count() == 0 && result.failed == 0)
    return fail({errc::io, terms->url + ": " + result.broken,
                 result.token_wanted
                     ? "It wants its own token, or, with --no-auth, none: name a file of it with "
                       "--token-file (an empty one sends none)."
                     : "Is a server running there? `gatehouse serve` and `gatehouse exec-server` "
                       "print their addresses."},
                exit_failed);
  bool written = read->has("--json") ? print(load_json(*terms, result))
                                     : print_for_people(load_summary(*terms, result));
  if (const auto file = read->value("--html")) {
    std::ofstream page{*file, std::ios::binary};
    page << load_page(*terms, result);
    page.flush();
    if (!page) {
      complain(
          {errc::io, "cannot write " + *file, "name a place that you may write after --html."});
      written = false;
    }
  }
  return written && result.failed == 0 && result.broken.empty() ? exit_ok : exit_failed;
}

} // namespace gatehouse::cli
