#include "config/audit_settings.hpp"

#include "config/text_file.hpp"
#include "config/toml_reader.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace gatehouse::config {
namespace {

constexpr std::string_view keys[] = {"enabled", "on_failure", "flush", "keep_days",
                                     "keep_megabytes"};

/// What one file says.
struct audit_table {
  std::optional<setting<bool>> enabled, flush;
  std::optional<setting<audit_failure>> on_failure;
  std::optional<setting<std::int64_t>> keep_days, keep_megabytes;
};

std::optional<setting<std::int64_t>> read_limit(toml_reader& reader, const toml_table& table,
                                                std::string_view name) {
  auto number = reader.integer(table, name);
  if (number && (number->value < 0 || number->value > 1'000'000))
    reader.fail(*find(table, name), std::string{name} + " must be between 0 (no limit) and 1000000",
                "Write, for example, " + std::string{name} + " = 90.");
  return number;
}

audit_table read_table(toml_reader& reader, const toml_table& table) {
  audit_table said;
  if (const auto word = reader.string(table, "on_failure")) {
    if (word->value == "refuse" || word->value == "warn")
      said.on_failure = setting<audit_failure>{
          word->value == "warn" ? audit_failure::warn : audit_failure::refuse, word->from};
    else
      reader.fail(*find(table, "on_failure"),
                  "`" + word->value + "` is not a value of audit.on_failure",
                  "Write \"refuse\" (nothing runs) or \"warn\".");
  }
  said.enabled = reader.boolean(table, "enabled");
  said.flush = reader.boolean(table, "flush");
  said.keep_days = read_limit(reader, table, "keep_days");
  said.keep_megabytes = read_limit(reader, table, "keep_megabytes");
  for (const auto& [name, value] : table) {
    if (std::ranges::find(keys, name) != std::end(keys)) continue;
    if (reader.from == layer::requirements)
      reader.fail(value, "the requirement `audit." + name + "` is not understood",
                  "Correct its name, or remove it if it is not meant for this version.");
    else
      reader.warn(value, "unknown key `audit." + name + "` is ignored");
  }
  return said;
}

/// The table of one file, if there are both. Its warnings go to `warnings`.
result<audit_table> read_file(const std::string& file, layer from, const locations& where,
                              std::vector<std::string>& warnings) {
  const auto text = read_text_file(file);
  if (!text) return text.error();
  if (!*text) return audit_table{};
  const auto root = parse_toml(**text, file);
  if (!root) return root.error();
  toml_reader reader{from, file, where.user_home};
  const auto* table = reader.table(*root, "audit");
  auto said = table ? read_table(reader, *table) : audit_table{};
  if (reader.failure) return *reader.failure;
  std::ranges::move(reader.warnings, std::back_inserter(warnings));
  return said;
}

template <class T>
void override_audit_with(setting<T>& in_force, const std::optional<setting<T>>& said) {
  if (said) in_force = *said;
}

/// @param looser is the value in force less than the demanded one?
template <class T, class Looser>
void tighten_audit(setting<T>& in_force, const std::optional<setting<T>>& demanded, Looser looser,
                   std::string_view key, std::vector<std::string>& warnings) {
  if (!demanded || !looser(in_force.value, demanded->value)) return;
  if (in_force.from.from != layer::built_in)
    warnings.push_back(describe(in_force.from) + ": `audit." + std::string{key} +
                       "` is replaced by a requirement");
  in_force = *demanded;
}

} // namespace

std::string_view to_string(audit_failure f) noexcept {
  return f == audit_failure::refuse ? "refuse" : "warn";
}

result<audit_settings> load_audit_settings(const locations& where) {
  audit_settings settings;
  for (const auto& [folder, from] :
       {std::pair{where.system, layer::system}, std::pair{where.gatehouse_home, layer::user}}) {
    const auto said = read_file(folder + "/config.toml", from, where, settings.warnings);
    if (!said) return said.error();
    override_audit_with(settings.enabled, said->enabled);
    override_audit_with(settings.on_failure, said->on_failure);
    override_audit_with(settings.flush, said->flush);
    override_audit_with(settings.keep_days, said->keep_days);
    override_audit_with(settings.keep_megabytes, said->keep_megabytes);
  }
  const auto demanded =
      read_file(where.system + "/requirements.toml", layer::requirements, where, settings.warnings);
  if (!demanded) return demanded.error();
  const auto off = [](bool is, bool wanted) { return wanted && !is; };
  const auto less = [](std::int64_t is, std::int64_t wanted) {
    return is != 0 && (wanted == 0 || is < wanted);
  };
  auto& told = settings.warnings;
  tighten_audit(settings.enabled, demanded->enabled, off, "enabled", told);
  tighten_audit(
      settings.on_failure, demanded->on_failure,
      [](audit_failure is, audit_failure wanted) {
        return is == audit_failure::warn && wanted == audit_failure::refuse;
      },
      "on_failure", told);
  tighten_audit(settings.flush, demanded->flush, off, "flush", told);
  tighten_audit(settings.keep_days, demanded->keep_days, less, "keep_days", told);
  tighten_audit(settings.keep_megabytes, demanded->keep_megabytes, less, "keep_megabytes", told);
  return settings;
}

} // namespace gatehouse::config
