#include "config/audit_settings.hpp"

#include "config/text_file.hpp"
#include "config/toml_reader.hpp"

#include <utility>

namespace gatehouse::config {
namespace {

void read_limit(toml_reader& reader, const toml_table& table, std::string_view name,
                setting<std::int64_t>& limit) {
  const auto number = reader.integer(table, name);
  if (!number) return;
  if (number->value < 0 || number->value > 1'000'000)
    reader.fail(*find(table, name), std::string{name} + " must be between 0 (no limit) and 1000000",
                "Write, for example, " + std::string{name} + " = 90.");
  limit = *number;
}

void read_table(toml_reader& reader, const toml_table& table, audit_settings& settings) {
  if (const auto word = reader.string(table, "on_failure")) {
    if (word->value == "refuse" || word->value == "warn")
      settings.on_failure = {
          word->value == "warn" ? audit_failure::warn : audit_failure::refuse, word->from};
    else
      reader.fail(*find(table, "on_failure"),
                  "`" + word->value + "` is not a value of audit.on_failure",
                  "Write \"refuse\" (nothing runs) or \"warn\".");
  }
  if (const auto flush = reader.boolean(table, "flush")) settings.flush = *flush;
  read_limit(reader, table, "keep_days", settings.keep_days);
  read_limit(reader, table, "keep_megabytes", settings.keep_megabytes);
  reader.warn_unknown(table, "audit.", {"on_failure", "flush", "keep_days", "keep_megabytes"});
}

} // namespace

std::string_view to_string(audit_failure f) noexcept {
  return f == audit_failure::refuse ? "refuse" : "warn";
}

result<audit_settings> load_audit_settings(const locations& where) {
  audit_settings settings;
  for (const auto& [folder, from] :
       {std::pair{where.system, layer::system}, std::pair{where.gatehouse_home, layer::user}}) {
    const auto file = folder + "/config.toml";
    const auto text = read_text_file(file);
    if (!text) return text.error();
    if (!*text) continue;
    const auto root = parse_toml(**text, file);
    if (!root) return root.error();
    toml_reader reader{from, file, where.user_home};
    if (const auto* table = reader.table(*root, "audit")) read_table(reader, *table, settings);
    if (reader.failure) return *reader.failure;
    for (auto& warning : reader.warnings)
      settings.warnings.push_back(std::move(warning));
  }
  return settings;
}

} // namespace gatehouse::config
