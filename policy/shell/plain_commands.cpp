#include "policy/shell/bash_tree.hpp"
#include "policy/shell/limits.hpp"
#include "policy/shell/plain_scan.hpp"
#include "policy/shell/segments.hpp"

namespace gatehouse::policy {

// What is plain may be allowed without a question, so no single reader is trusted with it: our own
// scanner and the grammar must read the very same words.
std::optional<std::vector<std::vector<std::string>>> plain_commands(std::string_view script) {
  if (script.size() > shell::max_script_size || !shell::is_utf8(script)) return std::nullopt;
  auto scanned = shell::scan_plain(script);
  if (!scanned) return std::nullopt;
  const auto parsed = shell::tree_commands(scanned->text);
  if (!parsed || *parsed != scanned->commands) return std::nullopt;
  return std::move(scanned->commands);
}

} // namespace gatehouse::policy
