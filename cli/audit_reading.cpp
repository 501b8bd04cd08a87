#include "cli/audit_reading.hpp"

#include "protocol/audit.hpp"
#include "protocol/json_tree.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace gatehouse::cli {
namespace {

/// A day, or a day and a time, in UTC.
result<actors::audit_time> read_time(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%d", &parts);
  if (end && *end == 'T') end = ::strptime(end, "T%H:%M:%S", &parts);
  if (end && *end == 'Z') ++end;
  if (!end || *end != '\0')
    return error{errc::invalid_request,
                 "'" + text + "' is no time; write 2026-01-31 or 2026-01-31T12:00:00",
                 {}};
  return actors::audit_time{std::chrono::seconds{::timegm(&parts)}};
}

/// "session, request, …".
std::string kinds() {
  const auto& options = find_command("audit list")->options;
  std::string text{std::ranges::find(options, "--kind", &option_spec::name)->choices};
  for (std::size_t at = 0; (at = text.find(' ', at)) != std::string::npos; at += 2)
    text.replace(at, 1, ", ");
  return text;
}

} // namespace

std::string audit_folder(const config::locations& where) {
  return where.state + "/audit";
}

std::string audit_path(const config::locations& where) {
  return audit_folder(where) + "/audit.db";
}

std::string time_text(actors::audit_time at) {
  const auto micros = at.time_since_epoch().count();
  const std::time_t seconds = micros / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char day[32];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  char out[64];
  std::snprintf(out, sizeof out, "%s.%06dZ", day, static_cast<int>(micros % 1'000'000));
  return out;
}

std::string as_text(const actors::audit_entry& e) {
  std::string out = "entry " + std::to_string(e.seq) + ": " + e.kind + "\n  time     " +
                    time_text(e.time) + "\n  session  " + visible_words(e.session) + "\n";
  if (!e.turn.empty()) out += "  turn     " + visible_words(e.turn) + "\n";
  if (!e.call.empty()) out += "  call     " + visible_words(e.call) + "\n";
  if (e.attempt > 0) out += "  attempt  " + std::to_string(e.attempt) + "\n";
  out += "  hash     " + e.hash + "\n";
  const auto tree = parse_json(e.body, {"the entry", errc::io, "", std::size_t{64} << 20U});
  std::string body = e.body;
  if (tree) {
    json_writer indented{json_layout::indented};
    write_tree(indented, *tree);
    body = std::move(indented).take();
  }
  return out + body + "\n";
}

result<std::unique_ptr<actors::audit_store>> open_named_audit(const options& given) {
  const auto named = given.value("--file");
  auto store =
      actors::audit_store::open(named ? *named : audit_path(config::locations_from_environment()),
                                actors::audit_store::mode::read);
  if (store || !named || store.error().code != errc::not_found) return store;
  return error{errc::not_found, store.error().message, "Correct the path after --file."};
}

result<actors::audit_filter> audit_filter_of(const options& given, std::int64_t limit) {
  actors::audit_filter which;
  which.limit = limit;
  for (const auto& [option, place] :
       {std::pair{"--since", &which.since}, {"--until", &which.until}})
    if (const auto text = given.value(option)) {
      const auto at = read_time(*text);
      if (!at) return at.error();
      *place = *at;
    }
  which.session = given.value("--session").value_or("");
  which.call = given.value("--call").value_or("");
  which.kind = given.value("--kind").value_or("");
  if (!which.kind.empty() && !audit_kind_from(which.kind))
    return error{errc::invalid_request,
                 "there are no entries of the kind `" + which.kind + "`; there are: " + kinds(),
                 {}};
  const auto most = given.whole_number("--limit", 0, 1'000'000'000);
  if (!most) return most.error();
  if (*most) which.limit = static_cast<std::int64_t>(**most);
  return which;
}

result<void> read_decisions(actors::audit_store& store, actors::audit_filter which,
                            const std::function<bool(const recorded_line&)>& take) {
  which.kind = to_string(audit_kind::decision);
  result<void> readable;
  auto done = store.read(which, [&](const actors::audit_entry& e) {
    const json_source source{"entry " + std::to_string(e.seq) + " of the audit", errc::io, "",
                             std::size_t{64} << 20U};
    const auto tree = parse_json(e.body, source);
    const auto fields = tree ? json_node{*tree, source}.open_object() : tree.error();
    if (!fields) {
      readable = fields.error();
      return false;
    }
    return take({e.seq, !fields->find("replay"), e.body});
  });
  if (!done) return done;
  return readable;
}

} // namespace gatehouse::cli
