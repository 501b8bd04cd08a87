#include "config/settings.hpp"

namespace gatehouse::config {

std::string_view to_string(layer l) noexcept {
  switch (l) {
  case layer::built_in: return "built-in";
  case layer::system: return "system";
  case layer::user: return "user";
  case layer::project: return "project";
  case layer::command_line: return "command line";
  case layer::requirements: return "requirements";
  }
  return "built-in";
}

std::string describe(const origin& where) {
  std::string text{to_string(where.from)};
  if (where.file.empty()) return text;
  text += " (" + where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line);
  return text + ")";
}

} // namespace gatehouse::config
