#pragma once

#include "protocol/json_tree.hpp"
#include "protocol/json_writer.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// JSON of the messages that clients see. A message type lists its fields once (`described`);
/// reading, writing and the published JSON schema are all made from that list, so that they cannot
/// disagree.
///
///   template <> struct described<resize_params> {
///     static constexpr std::string_view name = "ResizeParams";
///     static constexpr std::string_view about = "New size of a terminal.";
///     template <class V> static void fields(V& v) {
///       v.field("rows", &resize_params::rows, "in characters");
///     }
///   };
namespace gatehouse::rpc {

/// The field list of a message type; specialised beside each type.
template <class T>
struct described;

/// The words of an enumeration, in the order of its values from 0.
template <class E>
struct described_words; // name, about, words (an array of string_view)

/// The named types of a schema, each once.
class schema_book {
public:
  /// A reference to the type called `name`; `make` writes its schema at the first mention.
  std::string refer(std::string_view name, const std::function<std::string()>& make);
  /// name → JSON schema
  [[nodiscard]] const std::map<std::string, std::string>& types() const noexcept { return types_; }

private:
  std::map<std::string, std::string> types_;
};

/// How one C++ type stands in JSON:
///   static result<T> decode(const json_node&);        every error names its JSON pointer
///   static void encode(json_writer&, const T&);
///   static std::string schema(schema_book&);          a JSON schema (draft 2020-12)
///   static constexpr bool may_be_missing              as a field
template <class T>
struct codec;

template <>
struct codec<std::string> {
  static constexpr bool may_be_missing = false;
  static result<std::string> decode(const json_node& node) { return node.text(); }
  static void encode(json_writer& json, const std::string& value) { json.text(value); }
  static std::string schema(schema_book&) { return R"({"type":"string"})"; }
};

template <>
struct codec<bool> {
  static constexpr bool may_be_missing = false;
  static result<bool> decode(const json_node& node) { return node.boolean(); }
  static void encode(json_writer& json, bool value) { json.boolean(value); }
  static std::string schema(schema_book&) { return R"({"type":"boolean"})"; }
};

template <>
struct codec<std::int64_t> {
  static constexpr bool may_be_missing = false;
  static result<std::int64_t> decode(const json_node& node) {
    return node.integer(std::numeric_limits<std::int64_t>::min(),
                        std::numeric_limits<std::int64_t>::max());
  }
  static void encode(json_writer& json, std::int64_t value) { json.number(value); }
  static std::string schema(schema_book&) { return R"({"type":"integer"})"; }
};

/// Any value at all.
template <>
struct codec<json_tree> {
  static constexpr bool may_be_missing = false;
  static result<json_tree> decode(const json_node& node) { return node.tree(); }
  static void encode(json_writer& json, const json_tree& value) { write_tree(json, value); }
  static std::string schema(schema_book&) { return "{}"; }
};

/// JSON text that another encoder made; only ever written.
struct raw_json {
  std::string text;
};
template <>
struct codec<raw_json> {
  static constexpr bool may_be_missing = false;
  static result<raw_json> decode(const json_node& node) { return raw_json{node.encode()}; }
  static void encode(json_writer& json, const raw_json& value) { json.raw(value.text); }
  static std::string schema(schema_book&) { return "{}"; }
};

/// Left out or null when it is unset.
template <class T>
struct codec<std::optional<T>> {
  static constexpr bool may_be_missing = true;
  static result<std::optional<T>> decode(const json_node& node) {
    if (node.is_null()) return std::optional<T>{};
    auto value = codec<T>::decode(node);
    if (!value) return value.error();
    return std::optional<T>{*std::move(value)};
  }
  static void encode(json_writer& json, const std::optional<T>& value) {
    if (value)
      codec<T>::encode(json, *value);
    else
      json.null();
  }
  static std::string schema(schema_book& book) {
    return R"({"anyOf":[)" + codec<T>::schema(book) + R"(,{"type":"null"}]})";
  }
};

/// A list; left out means empty.
template <class T>
struct codec<std::vector<T>> {
  static constexpr bool may_be_missing = true;
  static result<std::vector<T>> decode(const json_node& node) {
    const auto items = node.array();
    if (!items) return items.error();
    std::vector<T> values;
    values.reserve(items->size());
    for (const auto& item : *items) {
      auto value = codec<T>::decode(item);
      if (!value) return value.error();
      values.push_back(*std::move(value));
    }
    return values;
  }
  static void encode(json_writer& json, const std::vector<T>& values) {
    json.open('[');
    for (const auto& value : values) {
      json.item();
      codec<T>::encode(json, value);
    }
    json.close(']');
  }
  static std::string schema(schema_book& book) {
    return R"({"type":"array","items":)" + codec<T>::schema(book) + "}";
  }
};

template <class E>
concept has_words = requires {
  described_words<E>::words;
};

template <has_words E>
struct codec<E> {
  static constexpr bool may_be_missing = false;
  static result<E> decode(const json_node& node) {
    const auto text = node.text();
    if (!text) return text.error();
    std::string list;
    std::size_t index = 0;
    for (const std::string_view word : described_words<E>::words) {
      if (word == *text) return static_cast<E>(index);
      list += (list.empty() ? "`" : ", `") + std::string{word} + "`";
      ++index;
    }
    return node.wrong("expected one of " + list);
  }
  static void encode(json_writer& json, E value) {
    json.text(described_words<E>::words[static_cast<std::size_t>(value)]);
  }
  static std::string schema(schema_book& book) {
    return book.refer(described_words<E>::name, [] {
      json_writer json;
      json.open('{');
      json.field("description", described_words<E>::about);
      json.key("enum");
      json.open('[');
      for (const std::string_view word : described_words<E>::words) {
        json.item();
        json.text(word);
      }
      json.close(']');
      json.close('}');
      return std::move(json).take();
    });
  }
};

template <class T>
concept has_fields = requires {
  described<T>::name;
};

/// Types that take fields which they do not list (a client's own extensions).
template <class T>
concept open_fields = requires {
  requires described<T>::open;
};

namespace detail {

struct name_list {
  std::vector<std::string_view> names;
  template <class T, class M>
  void field(std::string_view name, M T::*, std::string_view) {
    names.push_back(name);
  }
};

template <class T>
struct field_reader {
  const json_fields& from;
  T& into;
  std::optional<error> failure;

  template <class M>
  void field(std::string_view name, M T::*member, std::string_view) {
    if (failure) return;
    const auto place = from.find(name);
    if (!place || (place->is_null() && codec<M>::may_be_missing)) {
      if constexpr (!codec<M>::may_be_missing)
        failure = from.wrong("field `" + std::string{name} + "` is missing");
      return;
    }
    auto value = codec<M>::decode(*place);
    if (value)
      into.*member = *std::move(value);
    else
      failure = value.error();
  }
};

template <class T>
struct field_writer {
  json_writer& json;
  const T& from;

  template <class M>
  void field(std::string_view name, M T::*member, std::string_view) {
    field_value(name, from.*member);
  }
  template <class M>
  void field_value(std::string_view name, const M& value) {
    json.key(name);
    codec<M>::encode(json, value);
  }
  template <class M>
  void field_value(std::string_view name, const std::optional<M>& value) {
    if (value) field_value(name, *value);
  }
};

struct schema_writer {
  json_writer& json;
  schema_book& book;
  std::vector<std::string_view> required;

  template <class T, class M>
  void field(std::string_view name, M T::*, std::string_view about) {
    std::string type = codec<M>::schema(book);
    if (!about.empty()) {
      json_writer text;
      text.text(about);
      const bool empty = type == "{}";
      type.pop_back();
      type += (empty ? "" : ",") + std::string{R"("description":)"} + std::move(text).take() + "}";
    }
    json.key(name);
    json.raw(type);
    if (!codec<M>::may_be_missing) required.push_back(name);
  }
};

} // namespace detail

template <has_fields T>
struct codec<T> {
  static constexpr bool may_be_missing = false;

  static result<T> decode(const json_node& node) {
    const auto fields = node.open_object();
    if (!fields) return fields.error();
    if constexpr (!open_fields<T>) {
      detail::name_list known;
      described<T>::fields(known);
      if (auto unknown = fields->first_unknown(known.names)) return *std::move(unknown);
    }
    T value;
    detail::field_reader<T> reader{*fields, value, {}};
    described<T>::fields(reader);
    if (reader.failure) return *reader.failure;
    return value;
  }

  static void encode(json_writer& json, const T& value) {
    json.open('{');
    detail::field_writer<T> writer{json, value};
    described<T>::fields(writer);
    json.close('}');
  }

  static std::string schema(schema_book& book) {
    return book.refer(described<T>::name, [&book] {
      json_writer json;
      json.open('{');
      json.field("description", described<T>::about);
      json.field("type", "object");
      json.key("properties");
      json.open('{');
      detail::schema_writer writer{json, book, {}};
      described<T>::fields(writer);
      json.close('}');
      json.key("required");
      json.open('[');
      for (const auto name : writer.required) {
        json.item();
        json.text(name);
      }
      json.close(']');
      if constexpr (!open_fields<T>) {
        json.key("additionalProperties");
        json.boolean(false);
      }
      json.close('}');
      return std::move(json).take();
    });
  }
};

/// `value` as JSON text.
template <class T>
std::string to_json(const T& value) {
  json_writer json;
  codec<T>::encode(json, value);
  return std::move(json).take();
}

} // namespace gatehouse::rpc
