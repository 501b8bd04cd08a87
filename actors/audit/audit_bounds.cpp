#include "actors/audit/audit_bounds.hpp"

#include "protocol/json_tree.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace gatehouse::actors {
namespace {

constexpr std::size_t largest_document = std::size_t{64} << 20U;
constexpr std::size_t longest_kept_text = 16'384; // to begin with; halved until it fits
constexpr std::size_t shortest_text = 16;
constexpr std::size_t room_for_note = 128;
constexpr std::size_t most_ends_awaited = 10'000; // whose ends are waited for

void shrink(json_tree& tree, std::size_t text, std::size_t items) {
  if (auto* said = std::get_if<std::string>(&tree.value)) {
    if (said->size() > text) *said = abridged(*said, text);
  } else if (auto* list = std::get_if<json_tree::array>(&tree.value)) {
    if (list->size() > items) list->resize(items);
    for (auto& one : *list)
      shrink(one, text, items);
  } else if (auto* fields = std::get_if<json_tree::object>(&tree.value)) {
    std::erase_if(*fields, [&](const json_tree::field& one) { return one.name.size() > text; });
    if (fields->size() > items) fields->resize(items);
    for (auto& one : *fields)
      shrink(one.value, text, items);
  }
}

std::string encoded(const json_tree& tree) {
  json_writer out;
  write_tree(out, tree);
  return std::move(out).take();
}

void set(json_tree::object& fields, const std::string& name, json_tree value) {
  const auto found = std::ranges::find(fields, name, &json_tree::field::name);
  if (found == fields.end())
    fields.push_back({name, std::move(value)});
  else
    found->value = std::move(value);
}

std::string bounded(const std::string& body, bool decision) {
  auto tree = parse_json(body, {"an entry", errc::internal, "", largest_document});
  auto* const fields = tree ? std::get_if<json_tree::object>(&tree->value) : nullptr;
  if (fields) {
    for (auto text = longest_kept_text; text >= shortest_text; text /= 2) {
      shrink(*tree, text, text / 4);
      const auto kept = encoded(*tree).size();
      if (kept > most_body_bytes - room_for_note) continue;
      set(*fields, "left_out_bytes",
          {static_cast<std::int64_t>(body.size() - std::min(body.size(), kept))});
      if (decision) set(*fields, "replay", {false});
      return encoded(*tree);
    }
  }
  return "{\"left_out_bytes\":" + std::to_string(body.size()) +
         (decision ? ",\"replay\":false}" : "}");
}

std::string key_of(const audit_record& entry) {
  return entry.session + '\n' + entry.call + '\n' + std::to_string(entry.attempt);
}

} // namespace

void bound_entry(audit_record& entry) {
  for (auto* name : {&entry.session, &entry.turn, &entry.call})
    if (name->size() > most_name_bytes) *name = abridged(*name, most_name_bytes);
  if (entry.body.size() > most_body_bytes)
    entry.body = bounded(entry.body, entry.kind == audit_kind::decision);
}

bool denial_bounds::leave_out(const audit_record& entry) {
  if (entry.kind != audit_kind::denial) return false;
  if (attempts_.size() > most_ends_awaited) attempts_.clear();
  auto& known = attempts_[key_of(entry)];
  if (known.bytes + entry.body.size() <= most_denial_bytes) {
    known.bytes += entry.body.size();
    return false;
  }
  ++known.left_out;
  return true;
}

std::optional<audit_record> denial_bounds::count_before(const audit_record& end) {
  if (end.kind != audit_kind::attempt_end) return std::nullopt;
  const auto known = attempts_.extract(key_of(end));
  if (known.empty() || known.mapped().left_out == 0) return std::nullopt;
  auto count = end;
  count.kind = audit_kind::denial;
  count.body = "{\"left_out_denials\":" + std::to_string(known.mapped().left_out) + "}";
  return count;
}

} // namespace gatehouse::actors
