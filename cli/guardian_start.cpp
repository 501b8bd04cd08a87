#include "cli/guardian_start.hpp"

#include "actors/guardian_http.hpp"
#include "cli/own_program.hpp"
#include "config/text_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace gatehouse::cli {
namespace {

constexpr std::size_t longest_key = 64 * 1024;

error wrong_guardian(const config::origin& from, std::string what, std::string remedy) {
  return {errc::invalid_config, describe(from) + ": " + std::move(what), std::move(remedy)};
}

/// The key of the endpoint; empty where none is configured. It goes into a header line.
result<std::string> key_of(const config::setting<config::review_endpoint>& endpoint) {
  const auto& value = endpoint.value;
  std::string key;
  std::string name;
  if (!value.key_env.empty()) {
    name = "auto_review.key_env";
    const char* found = std::getenv(value.key_env.c_str());
    if (!found)
      return wrong_guardian(endpoint.from, name + ": the variable " + value.key_env + " is not set",
                            "Set it, or use auto_review.key_file.");
    key = found;
  } else if (!value.key_file.empty()) {
    name = "auto_review.key_file";
    const auto text = config::read_text_file(value.key_file, longest_key);
    if (!text) return text.error();
    if (!*text)
      return wrong_guardian(endpoint.from, name + ": there is no file " + value.key_file,
                            "Write the key into it, readable by you alone.");
    key = **text;
  } else {
    return key;
  }
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r'))
    key.pop_back();
  if (key.empty() ||
      std::any_of(key.begin(), key.end(), [](char c) { return c <= ' ' || c > '~'; }))
    return wrong_guardian(endpoint.from, name + ": that is no key: it is empty or holds spaces",
                          "Correct it.");
  return key;
}

} // namespace

result<actors::guardian_transport> guardian_of(const config::effective_settings& settings,
                                               std::vector<std::string> environment,
                                               reactor::event_loop& loop) {
  const auto& command = settings.auto_review_command;
  const auto& server = settings.auto_review_endpoint;
  const bool by_server = !server.value.url.empty() && server.from.from >= command.from.from;
  if (by_server) {
    const auto to = reactor::parse_http_url(server.value.url);
    if (!to)
      return wrong_guardian(server.from, "auto_review.url: " + to.error().message,
                            to.error().remedy);
    auto key = key_of(server);
    if (!key) return key.error();
    actors::guardian_endpoint endpoint;
    endpoint.to = *to;
    endpoint.model = server.value.model;
    endpoint.key = *std::move(key);
    endpoint.ca_file = server.value.ca_file;
    endpoint.limit = settings.auto_review_timeout.value;
    return actors::ask_guardian_endpoint(loop, std::move(endpoint));
  }
  if (!command.value.empty()) {
    actors::guardian_program program;
    program.argv = command.value;
    program.place = {beside_me("gatehouse-sandbox"), "/", std::move(environment)};
    program.limit = settings.auto_review_timeout.value;
    return actors::run_guardian_program(loop, std::move(program));
  }
  const bool strict = settings.strict_auto_review.value;
  if (strict || settings.reviewer.value == config::approvals_reviewer::auto_review)
    return wrong_guardian(
        strict ? settings.strict_auto_review.from : settings.reviewer.from,
        "automatic review is switched on, but there is no reviewer",
        "Set auto_review.command or auto_review.url in the user's config.toml, or switch "
        "it off.");
  return actors::guardian_transport{};
}

} // namespace gatehouse::cli
