#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/rule_files.hpp"
#include "config/locations.hpp"
#include "policy/rules/rule_set.hpp"
#include "protocol/check_json.hpp"
#include "protocol/visible_text.hpp"

#include <cstdio>
#include <string>
#include <string_view>

namespace gatehouse::cli {
namespace {

/// JSON that a terminal shows as what it is: the rest, which only stands in strings, is escaped.
std::string escaped_for_people(const std::string& json) {
  if (shows_as_it_is(json)) return json;
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const auto lead = static_cast<unsigned char>(json[at]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const auto character = json.substr(at, bytes);
    at += bytes;
    if (shows_as_it_is(character)) {
      out += character;
      continue;
    }
    unsigned code = bytes == 1 ? lead : lead & (0xffU >> (bytes + 1));
    for (const char c : std::string_view{character}.substr(1))
      code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
    char escape[16];
    if (code < 0x10000)
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
    else
      std::snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800U + ((code - 0x10000U) >> 10U),
                    0xdc00U + (code & 0x3ffU));
    out += escape;
  }
  return out;
}

} // namespace

int policy_check_command(arguments given) {
  const auto words = open_command_line("policy check", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (!read->has("--rules")) return wrong_usage_of("policy check", "--rules is missing");
  if (read->rest().empty()) return wrong_usage_of("policy check", "the command is missing");
  auto files = read_rule_files(read->values("--rules"));
  if (const auto broken = faults_of(files)) return fail(*broken, exit_failed);
  const policy::rule_set rules{std::move(files)};
  const auto matches =
      rules.match(read->rest(), read->has("--resolve-host-executables"), current_folder(),
                  config::locations_from_environment().user_home);
  std::vector<checked_match> rows;
  rows.reserve(matches.size());
  for (const auto& match : matches)
    rows.push_back({match.matched_prefix, match.rule->decision, match.resolved_program,
                    match.rule->justification});
  const bool pretty = read->has("--pretty");
  const auto document = encode_check(rows, pretty);
  return print(pretty ? escaped_for_people(document) : document) ? exit_ok : exit_failed;
}

} // namespace gatehouse::cli
