#include "config/toml_reader.hpp"

#include <algorithm>

namespace gatehouse::config {
namespace {

template <class T>
std::optional<setting<T>> typed(toml_reader& reader, const toml_table& table, std::string_view name,
                                const char* wanted) {
  const auto* value = find(table, name);
  if (!value) return std::nullopt;
  if (const auto* typed_value = std::get_if<T>(&value->data))
    return setting<T>{*typed_value, reader.at(*value)};
  reader.fail(*value,
              "`" + std::string{name} + "` must be " + wanted + ", not " +
                  std::string{value->type_name()},
              "Correct the value.");
  return std::nullopt;
}

} // namespace

std::optional<setting<std::string>> toml_reader::string(const toml_table& table,
                                                        std::string_view name) {
  return typed<std::string>(*this, table, name, "a string");
}

std::optional<setting<bool>> toml_reader::boolean(const toml_table& table, std::string_view name) {
  return typed<bool>(*this, table, name, "true or false");
}

std::optional<setting<std::int64_t>> toml_reader::integer(const toml_table& table,
                                                          std::string_view name) {
  return typed<std::int64_t>(*this, table, name, "an integer");
}

const toml_table* toml_reader::table(const toml_table& table, std::string_view name) {
  const auto* value = find(table, name);
  if (!value) return nullptr;
  if (!value->table())
    fail(*value,
         "`" + std::string{name} + "` must be a table, not " + std::string{value->type_name()},
         "Write it as [" + std::string{name} + "].");
  return value->table();
}

std::vector<setting<std::string>> toml_reader::strings(const toml_table& table,
                                                       std::string_view name) {
  std::vector<setting<std::string>> texts;
  const auto* value = find(table, name);
  if (!value) return texts;
  if (!value->array()) {
    fail(*value,
         "`" + std::string{name} + "` must be an array of strings, not " +
             std::string{value->type_name()},
         "Write " + std::string{name} + " = [\"…\"].");
    return texts;
  }
  for (const auto& item : *value->array()) {
    if (item.string())
      texts.push_back({*item.string(), at(item)});
    else
      fail(item,
           "`" + std::string{name} + "` may hold only strings, not " +
               std::string{item.type_name()},
           "Put it in quotes or remove it.");
  }
  return texts;
}

void toml_reader::warn_unknown(const toml_table& table, std::string_view where,
                               std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : table)
    if (std::find(known.begin(), known.end(), name) == known.end())
      warn(value, "unknown key `" + std::string{where} + name + "` is ignored");
}

} // namespace gatehouse::config
