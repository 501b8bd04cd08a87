#include "config/hooks.hpp"

#include "config/text_file.hpp"

namespace gatehouse::config {

result<std::vector<hook_handler>> load_hooks(const locations& where) {
  const std::string file = where.gatehouse_home + "/hooks.json";
  const auto text = read_text_file(file);
  if (!text) return text.error();
  if (!*text) return std::vector<hook_handler>{};
  return decode_hooks_file(**text, file);
}

} // namespace gatehouse::config
