#include "cli/audit_command.hpp"

#include "actors/audit/audit_store.hpp"
#include "cli/audit_reading.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "config/locations.hpp"
#include "protocol/audit.hpp"
#include "protocol/explain_text.hpp"
#include "protocol/json_tree.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/utf8.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::cli {
namespace {

std::string as_json(const actors::audit_entry& e) {
  json_writer out;
  out.open('{');
  out.key("seq");
  out.number(e.seq);
  out.field("time", time_text(e.time));
  out.field("kind", e.kind);
  out.field("session", e.session);
  if (!e.turn.empty()) out.field("turn", e.turn);
  if (!e.call.empty()) out.field("call", e.call);
  if (e.attempt > 0) {
    out.key("attempt");
    out.number(e.attempt);
  }
  out.field("hash", e.hash);
  out.key("body");
  out.raw(e.body);
  out.close('}');
  return std::move(out).take() + "\n";
}

/// What is in it at a glance.
std::string as_line(const actors::audit_entry& e) {
  constexpr std::size_t widest = 160;
  auto line = std::to_string(e.seq) + "  " + time_text(e.time) + "  " + e.kind +
              std::string(e.kind.size() < 11 ? 11 - e.kind.size() : 0, ' ') + "  " +
              visible_words(e.call.empty() ? e.session : e.call) + "  " + visible_words(e.body);
  if (line.size() > widest) {
    line.resize(widest);
    line.resize(widest - incomplete_utf8_suffix(line));
    line += "…";
  }
  return line + "\n";
}

/// @param what "no entry 17"
error nothing_about(const std::string& what, bool by_number) {
  return {errc::not_found, "the audit has " + what,
          by_number
              ? "`gatehouse audit list` begins each line with such a number."
              : "`gatehouse audit list --kind decision` names the calls that it knows (--limit 0 "
                "for all); another audit is read with --file."};
}

int list(const actors::audit_filter& which, actors::audit_store& store, bool json) {
  bool written = true;
  const auto done = store.read(which, [&](const actors::audit_entry& e) {
    return written = json ? print(as_json(e)) : print_for_people(as_line(e));
  });
  if (!done) return fail(done.error(), exit_wrong_usage);
  return written ? exit_ok : exit_failed;
}

int show(const std::string& what, actors::audit_store& store, bool json) {
  actors::audit_filter which;
  std::int64_t seq = 0;
  const auto end = what.data() + what.size();
  const auto read = std::from_chars(what.data(), end, seq);
  const bool by_number = read.ec == std::errc{} && read.ptr == end;
  if (by_number)
    which.first = seq;
  else
    which.call = what;
  std::size_t shown = 0;
  bool written = true;
  const auto done = store.read(which, [&](const actors::audit_entry& e) {
    if (by_number && e.seq != seq) return false;
    ++shown;
    written = json ? print(as_json(e)) : print_for_people(as_text(e));
    return written && !by_number;
  });
  if (!done) return fail(done.error(), exit_wrong_usage);
  if (shown == 0) return fail(nothing_about("no entry " + what, by_number), exit_failed);
  return written ? exit_ok : exit_failed;
}

/// The text under `name` in the body of an entry, or in its `decision`; empty: there is none.
std::string text_in(const actors::audit_entry& e, std::string_view name) {
  const json_source source{"entry " + std::to_string(e.seq), errc::io, "", std::size_t{64} << 20U};
  const auto tree = parse_json(e.body, source);
  auto fields = tree ? json_node{*tree, source}.open_object() : tree.error();
  if (fields && name == "why")
    if (const auto decision = fields->find("decision")) fields = decision->open_object();
  const auto found = fields ? fields->find(name) : std::nullopt;
  const auto text = found ? found->text() : result<std::string>{error{}};
  return text ? *text : std::string{};
}

std::string decision_in(const actors::audit_entry& e) {
  constexpr auto amendment = review_decision::network_policy_amendment;
  auto word = text_in(e, "decision");
  if (word != to_string(amendment)) return word;
  // Inside a text of it these quotes would be escaped.
  return answer_words(amendment, e.body.find("\"denies_host\":true") != std::string::npos);
}

/// Why a call was decided as it was: the words that the console has, too.
int why(const std::string& call, actors::audit_filter which, actors::audit_store& store,
        bool json) {
  which.call = call;
  std::vector<std::pair<std::string, std::string>> sessions; // and what is told of each
  std::vector<std::string> entries;                          // that it was made of, as JSON
  std::map<std::string, std::string> hosts; // by review id: what the question was about
  const auto done = store.read(which, [&](const actors::audit_entry& e) {
    if (e.kind == to_string(audit_kind::decision) || e.kind == to_string(audit_kind::review))
      entries.push_back(as_json(e));
    std::string text;
    if (e.kind == to_string(audit_kind::decision)) {
      text = text_in(e, "why");
    } else if (e.kind == to_string(audit_kind::question)) {
      hosts[text_in(e, "review")] = text_in(e, "host");
    } else if (e.kind == to_string(audit_kind::review)) {
      text = answer_line(std::max(e.attempt, 1), decision_in(e), text_in(e, "reviewer"),
                         text_in(e, "reason"), hosts[text_in(e, "review")]);
    }
    if (text.empty()) return true;
    auto of = std::ranges::find(sessions, e.session, [](const auto& one) { return one.first; });
    if (of == sessions.end()) of = sessions.insert(of, {e.session, {}});
    of->second += text;
    return true;
  });
  if (!done) return fail(done.error(), exit_wrong_usage);
  std::string told;
  for (const auto& [session, text] : sessions)
    told += (sessions.size() > 1 ? "session " + visible_words(session) + ":\n" : "") + text;
  if (told.empty())
    return fail(nothing_about("no decision about a call " + call, false), exit_failed);
  if (!json) return print_for_people(told) ? exit_ok : exit_failed;
  json_writer out;
  out.open('{');
  out.field("call", call);
  out.field("why", told);
  out.key("entries");
  out.open('[');
  for (const auto& entry : entries) {
    out.item();
    out.raw(std::string_view{entry}.substr(0, entry.size() - 1)); // without its line end
  }
  out.close(']');
  out.close('}');
  return print(std::move(out).take() + "\n") ? exit_ok : exit_failed;
}

/// SEQ:HASH, as verify() prints it: a slip of the pen is no forged audit.
bool is_head(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const auto all = [](std::string_view part, std::string_view of) {
    return part.find_first_not_of(of) == std::string_view::npos;
  };
  constexpr std::size_t hash_digits = 64;
  return all(text.substr(0, colon), "0123456789") && text.size() - colon - 1 == hash_digits &&
         all(text.substr(colon + 1), "0123456789abcdef");
}

int verify(const std::string& known, actors::audit_store& store, bool json) {
  const auto verdict = store.verify(known);
  if (!verdict) return fail(verdict.error(), exit_wrong_usage);
  json_writer out;
  out.open('{');
  out.key("first");
  out.number(verdict->first);
  out.key("last");
  out.number(verdict->last);
  out.field("head", std::to_string(verdict->last) + ":" + verdict->head);
  out.key("faults");
  out.open('[');
  for (const auto& fault : verdict->faults) {
    out.item();
    out.text(fault);
  }
  out.close(']');
  out.close('}');
  std::string text;
  for (const auto& fault : verdict->faults)
    text += "not as it was written: " + fault + "\n";
  if (verdict->last == 0)
    text += "the audit is empty\n";
  else if (verdict->faults.empty())
    text += "entries " + std::to_string(verdict->first) + " to " + std::to_string(verdict->last) +
            " stand as they were written\nhead " + std::to_string(verdict->last) + ":" +
            verdict->head + "\n";
  if (!(json ? print(std::move(out).take() + "\n") : print_for_people(text))) return exit_failed;
  return verdict->faults.empty() ? exit_ok : exit_failed;
}

/// For `policy replay`.
int export_decisions(const actors::audit_filter& which, actors::audit_store& store) {
  bool written = true;
  const auto done = read_decisions(store, which, [&](const recorded_line& one) {
    return written = one.replays ? print(one.text + "\n") : written;
  });
  if (!done) return fail(done.error(), exit_wrong_usage);
  return written ? exit_ok : exit_failed;
}

} // namespace

int audit_command(arguments given) {
  const std::string_view what{given.empty() ? "" : given.front()};
  if (what != "list" && what != "show" && what != "export" && what != "verify" && what != "why")
    return group_command("audit", given);
  const auto command = "audit " + std::string{what};
  const auto words = open_command_line(command, given.subspan(1));
  if (!words.given) return words.status;
  const auto& read = words.given;
  const bool takes_one = what == "show" || what == "why";
  if (read->rest().size() != (takes_one ? 1U : 0U))
    return wrong_usage_of(command, takes_one
                                       ? what == "why" ? "name one call"
                                                       : "name one entry by its number, or one call"
                                       : "`" + read->rest().front() + "` is one word too many");
  auto which = audit_filter_of(*read, what == "list" ? 50 : 0);
  if (!which) return wrong_usage_of(command, which.error());
  const auto known = read->value("--known").value_or("");
  if (!known.empty() && !is_head(known))
    return wrong_usage_of(command, "--known takes SEQ:HASH whole, as `gatehouse audit verify` "
                                   "printed it, not '" +
                                       known + "'");
  const auto store = open_named_audit(*read);
  if (!store) return fail(store.error(), exit_wrong_usage);
  const bool json = read->has("--json");
  if (what == "show") return show(read->rest().front(), **store, json);
  if (what == "why") return why(read->rest().front(), *which, **store, json);
  if (what == "verify") return verify(known, **store, json);
  if (what == "list") return list(*which, **store, json);
  return read->has("--decisions") ? export_decisions(*which, **store) : list(*which, **store, true);
}

} // namespace gatehouse::cli
