#pragma once

#include "protocol/result.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gatehouse {

/// A JSON value as it was written. Object fields keep their order; no name stands twice.
struct json_tree {
  struct field;
  using array = std::vector<json_tree>;
  using object = std::vector<field>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, array, object> value;
};
struct json_tree::field {
  std::string name;
  json_tree value;
};

/// What is being read, for error messages and their kind.
struct json_source {
  std::string what; ///< "hooks.json", "the answer of hook 2"
  errc code = errc::invalid_request;
  std::string remedy; ///< what to do about any error
  std::size_t max_bytes = 1024 * 1024;
  std::size_t max_values = 500'000; ///< each costs far more memory than its text
};

/// Reads exactly one JSON value. Stricter than most readers, since a text that two programs may
/// read differently decides nothing here: a name given twice in an object, text after the value,
/// bytes that are no UTF-8, a number beyond every double, nesting deeper than 32 and a text above
/// the limits are errors, with the byte offset (of a name given twice: where its object ends).
/// Takes n·log n time.
result<json_tree> parse_json(std::string_view text, const json_source& source);

class json_writer;

/// Writes `tree` as it was read.
void write_tree(json_writer& out, const json_tree& tree);

class json_fields;

/// What is said of a field that an object may not have: the names that it may have.
std::string unknown_field(std::span<const std::string_view> known);

/// A value and where it stands; every error names the place by its JSON pointer (long names in it
/// abridged). Borrows the tree and the source.
class json_node {
public:
  json_node(const json_tree& tree, const json_source& source) : tree_{&tree}, source_{&source} {}

  [[nodiscard]] error wrong(std::string_view what) const;
  [[nodiscard]] const std::string& pointer() const noexcept { return pointer_; }
  [[nodiscard]] const json_tree& tree() const noexcept { return *tree_; }

  /// An object with no other fields than `known`.
  [[nodiscard]] result<json_fields> object(std::initializer_list<std::string_view> known) const;
  /// An object with any fields.
  [[nodiscard]] result<json_fields> open_object() const;
  [[nodiscard]] result<std::vector<json_node>> array() const;
  /// A string without NUL characters.
  [[nodiscard]] result<std::string> text() const;
  [[nodiscard]] result<bool> boolean() const;
  [[nodiscard]] result<std::int64_t> integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] bool is_null() const noexcept;
  /// The value as JSON text, for a reader that takes text.
  [[nodiscard]] std::string encode() const;
  /// One of `words`: its index.
  [[nodiscard]] result<std::size_t> word(std::initializer_list<std::string_view> words) const;

private:
  friend class json_fields;
  json_node(const json_tree& tree, const json_source& source, std::string pointer)
      : tree_{&tree}, source_{&source}, pointer_{std::move(pointer)} {}

  const json_tree* tree_;
  const json_source* source_;
  std::string pointer_;
};

/// The fields of an object.
class json_fields {
public:
  [[nodiscard]] std::optional<json_node> find(std::string_view name) const;
  [[nodiscard]] result<json_node> need(std::string_view name) const;
  /// What is wrong with the first field whose name is not among `known`.
  [[nodiscard]] std::optional<error> first_unknown(std::span<const std::string_view> known) const;
  /// In the order of the text.
  [[nodiscard]] std::vector<std::pair<std::string, json_node>> all() const;
  /// The string field `name`; empty when there is none.
  [[nodiscard]] result<std::string> optional_text(std::string_view name) const;
  /// About the object itself.
  [[nodiscard]] error wrong(std::string_view what) const { return at_.wrong(what); }

private:
  friend class json_node;
  explicit json_fields(json_node at) : at_{std::move(at)} {}
  [[nodiscard]] json_node below(const std::string& name, const json_tree& tree) const;

  json_node at_;
};

} // namespace gatehouse
