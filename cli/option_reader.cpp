#include "cli/option_reader.hpp"

#include <algorithm>

namespace gatehouse::cli {

bool options::has(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(), [&](const auto& o) { return o.first == name; });
}

std::optional<std::string> options::value(std::string_view name) const {
  for (const auto& [given, text] : given_)
    if (given == name) return text;
  return std::nullopt;
}

std::vector<std::string> options::values(std::string_view name) const {
  std::vector<std::string> texts;
  for (const auto& [given, text] : given_)
    if (given == name) texts.push_back(text);
  return texts;
}

result<options> read_options(arguments given, std::span<const known_option> known) {
  options read;
  std::size_t at = 0;
  for (; at < given.size(); ++at) {
    const std::string_view word{given[at]};
    if (word == "--") {
      ++at;
      break;
    }
    if (!word.starts_with('-') || word == "-") break;
    const auto equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    const auto name = word.substr(0, equals);
    const auto option =
        std::find_if(known.begin(), known.end(), [&](const auto& o) { return o.name == name; });
    const auto wrong = [&](const std::string& what) {
      return error{errc::invalid_request, "`" + std::string{name} + "` " + what, {}};
    };
    if (option == known.end()) return wrong("is not an option of this command");
    if (!option->repeatable && read.has(name)) return wrong("is given twice");
    std::string value;
    if (!option->takes_value) {
      if (equals != std::string_view::npos) return wrong("takes no value");
    } else if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (at + 1 < given.size()) {
      value = given[++at];
    } else {
      return wrong("needs a value");
    }
    read.given_.emplace_back(name, std::move(value));
  }
  for (; at < given.size(); ++at)
    read.rest_.emplace_back(given[at]);
  return read;
}

} // namespace gatehouse::cli
