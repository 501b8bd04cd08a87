#include "protocol/rpc/app_schema.hpp"

#include "protocol/rpc/app_methods.hpp"

namespace gatehouse::rpc::app {
namespace {

std::string_view caller_word(caller who) {
  switch (who) {
  case caller::anyone: return "agent or reviewer";
  case caller::agent: return "agent";
  case caller::reviewer: return "reviewer";
  }
  return "";
}

/// Calls `use(entry)` with a value of each type of the list.
template <class List, class Use>
void for_each(Use&& use) {
  std::apply([&](auto... entry) { (use(entry), ...); }, List{});
}

template <class Entry>
void write_types(json_writer& json, schema_book& book) {
  json.key("params");
  json.raw(codec<typename Entry::params>::schema(book));
  if constexpr (requires { typename Entry::result; }) {
    json.key("result");
    json.raw(codec<typename Entry::result>::schema(book));
  }
}

/// The fields of one type as rows of a table.
struct row_writer {
  std::string& out;
  schema_book& book;

  /// `{"$ref":"#/$defs/X"}` → `X`
  static std::string short_type(std::string type) {
    for (const std::string_view noise : {"\"$ref\":\"#/$defs/", "\"type\":", "{", "}", "\""})
      for (auto at = type.find(noise); at != std::string::npos; at = type.find(noise))
        type.erase(at, noise.size());
    if (type.rfind("anyOf:[", 0) == 0) type = type.substr(7, type.find(',') - 7);
    if (type.rfind("array,items:", 0) == 0) {
      type.erase(0, 12);
      type = "list of " + (type.empty() ? "any" : type);
    }
    return type.empty() ? "any" : type;
  }

  template <class T, class M>
  void field(std::string_view name, M T::*, std::string_view about) {
    out += "| `" + std::string{name} + "`" + (codec<M>::may_be_missing ? "?" : "") + " | " +
           short_type(codec<M>::schema(book)) + " | " + std::string{about} + " |\n";
  }
};

template <class T>
void write_table(std::string& out, schema_book& book, std::string_view title) {
  if constexpr (has_fields<T>) {
    std::string rows;
    row_writer writer{rows, book};
    described<T>::fields(writer);
    if (rows.empty()) {
      out += std::string{title} + ": `{}`\n\n";
      return;
    }
    out += std::string{title} + ": " + std::string{described<T>::about} +
           "\n\n| field | type | |\n|---|---|---|\n" + rows + "\n";
  } else {
    out += std::string{title} + ": as `gatehouse policy explain` prints it\n\n";
  }
}

} // namespace

std::string schema() {
  schema_book book;
  json_writer json{json_layout::indented};
  json.open('{');
  json.field("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.field("title", "Gatehouse, app dialect");
  json.key("methods");
  json.open('{');
  for_each<method_list>([&](auto method) {
    using M = decltype(method);
    json.key(M::name);
    json.open('{');
    json.field("description", M::about);
    json.field("caller", caller_word(M::who));
    write_types<M>(json, book);
    json.close('}');
  });
  json.close('}');
  json.key("serverRequests");
  json.open('{');
  for_each<server_request_list>([&](auto request) {
    using R = decltype(request);
    json.key(R::name);
    json.open('{');
    json.field("description", R::about);
    write_types<R>(json, book);
    json.close('}');
  });
  json.close('}');
  json.key("notifications");
  json.open('{');
  for_each<notification_list>([&](auto notification) {
    using N = decltype(notification);
    json.key(N::name);
    json.open('{');
    write_types<N>(json, book);
    json.close('}');
  });
  json.close('}');
  json.key("$defs");
  json.open('{');
  for (const auto& [name, type] : book.types()) {
    json.key(name);
    json.raw(type);
  }
  json.close('}');
  json.close('}');
  return std::move(json).take() + "\n";
}

std::string schema_as_markdown() {
  schema_book book;
  std::string out;
  out += "## Methods\n\nA `?` marks what may be left out.\n\n";
  for_each<method_list>([&](auto method) {
    using M = decltype(method);
    out += "### `" + std::string{M::name} + "`\n\n" + std::string{M::about} +
           " Caller: " + std::string{caller_word(M::who)} + ".\n\n";
    write_table<typename M::params>(out, book, "Parameters");
    write_table<typename M::result>(out, book, "Result");
  });
  out += "## Requests of the server\n\n";
  for_each<server_request_list>([&](auto request) {
    using R = decltype(request);
    out += "### `" + std::string{R::name} + "`\n\n" + std::string{R::about} + "\n\n";
  });
  out += "All have the same parameters and answers.\n\n";
  write_table<approval_request>(out, book, "Parameters");
  write_table<approval_answer>(out, book, "Answer");
  out += "## Notifications\n\n";
  for_each<notification_list>([&](auto notification) {
    using N = decltype(notification);
    out += "### `" + std::string{N::name} + "`\n\n";
    write_table<typename N::params>(out, book, "Parameters");
  });
  out += "## Types\n\n";
  out += "Types that are named above, as in the JSON schema (`gatehouse serve --schema`).\n\n";
  for (const auto& [name, type] : book.types())
    out += "- `" + name + "`: `" + type + "`\n";
  return out;
}

} // namespace gatehouse::rpc::app
