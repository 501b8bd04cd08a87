#include "protocol/json_tree.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/repeated_name.hpp"
#include "protocol/utf8.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gatehouse {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_quoted_name = 100;

/// Builds a tree from the events of the parser.
class tree_builder {
public:
  explicit tree_builder(std::size_t most_values) : left_{most_values} {}

  // Names that the parser asks for.
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code& failure) { return begin(json_tree::object{}, failure); }
  bool on_object_end(std::size_t, json::error_code& failure) {
    const auto& fields = std::get<json_tree::object>(open_.back()->value);
    std::vector<std::string_view> names;
    names.reserve(fields.size());
    for (const auto& field : fields)
      names.push_back(field.name);
    if (const auto twice = repeated_name(std::move(names))) {
      wrong_ =
          "the name `" + abridged(*twice, longest_quoted_name) + "` stands twice in one object";
      failure = json::error::extra_data;
      return false;
    }
    return end();
  }
  bool on_array_begin(json::error_code& failure) { return begin(json_tree::array{}, failure); }
  bool on_array_end(std::size_t, json::error_code&) { return end(); }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    std::get<json_tree::object>(open_.back()->value).push_back({std::exchange(text_, {}), {}});
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code& failure) {
    text_.append(part.data(), part.size());
    return add(std::exchange(text_, {}), failure);
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, json::error_code& failure) {
    return add(number, failure);
  }
  bool on_uint64(std::uint64_t number, json::string_view, json::error_code& failure) {
    return add(static_cast<double>(number), failure); // above what int64 holds
  }
  bool on_double(double number, json::string_view, json::error_code& failure) {
    if (!std::isfinite(number)) { // JSON has no way to write it
      wrong_ = "a number beyond all floating-point ones";
      failure = json::error::extra_data;
      return false;
    }
    return add(number, failure);
  }
  bool on_bool(bool value, json::error_code& failure) { return add(value, failure); }
  bool on_null(json::error_code& failure) { return add(std::monostate{}, failure); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

  json_tree root;
  /// What is wrong beside the grammar.
  [[nodiscard]] const std::optional<std::string>& wrong() const noexcept { return wrong_; }

private:
  /// Where the next value belongs; null when it is one too many.
  json_tree* place(json::error_code& failure) {
    if (left_ == 0) {
      wrong_ = "too many values";
      failure = json::error::extra_data;
      return nullptr;
    }
    --left_;
    if (open_.empty()) return &root;
    if (auto* list = std::get_if<json_tree::array>(&open_.back()->value))
      return &list->emplace_back();
    return &std::get<json_tree::object>(open_.back()->value).back().value;
  }
  template <class T>
  bool add(T value, json::error_code& failure) {
    json_tree* at = place(failure);
    if (at) at->value = std::move(value);
    return at != nullptr;
  }
  template <class T>
  bool begin(T container, json::error_code& failure) {
    json_tree* at = place(failure);
    if (!at) return false;
    at->value = std::move(container);
    open_.push_back(at); // stays put: its siblings come only after it is closed
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  std::vector<json_tree*> open_;
  std::string text_;
  std::size_t left_; ///< values that may still come
  std::optional<std::string> wrong_;
};

error wrong_text(const json_source& source, const std::string& what) {
  return {source.code, source.what + ": " + what, source.remedy};
}

} // namespace

void write_tree(json_writer& out, const json_tree& tree) {
  if (const auto* yes = std::get_if<bool>(&tree.value)) return out.boolean(*yes);
  if (const auto* number = std::get_if<std::int64_t>(&tree.value)) return out.number(*number);
  if (const auto* real = std::get_if<double>(&tree.value)) {
    char digits[40]; // the shortest that reads back as the same number
    const auto end = std::to_chars(digits, digits + sizeof digits, *real).ptr;
    return out.raw({digits, static_cast<std::size_t>(end - digits)});
  }
  if (const auto* text = std::get_if<std::string>(&tree.value)) return out.text(*text);
  if (const auto* list = std::get_if<json_tree::array>(&tree.value)) {
    out.open('[');
    for (const auto& item : *list) {
      out.item();
      write_tree(out, item);
    }
    return out.close(']');
  }
  const auto* fields = std::get_if<json_tree::object>(&tree.value);
  if (!fields) return out.null();
  out.open('{');
  for (const auto& [name, value] : *fields) {
    out.key(name);
    write_tree(out, value);
  }
  out.close('}');
}

result<json_tree> parse_json(std::string_view text, const json_source& source) {
  if (text.size() > source.max_bytes)
    return wrong_text(source, "longer than " + std::to_string(source.max_bytes) + " bytes");
  if (const auto bad = find_invalid_utf8(text))
    return wrong_text(source, "byte " + std::to_string(*bad) + " is not valid UTF-8");
  json::basic_parser<tree_builder> parser{json::parse_options{}, source.max_values};
  json::error_code failure;
  const auto used = parser.write_some(false, text.data(), text.size(), failure);
  if (const auto& wrong = parser.handler().wrong())
    return wrong_text(source, "byte " + std::to_string(used) + ": " + *wrong);
  if (failure)
    return wrong_text(source, "byte " + std::to_string(used) + ": not valid JSON (" +
                                  failure.message() + ")");
  if (const auto rest = text.find_first_not_of(" \t\r\n", used); rest != std::string_view::npos)
    return wrong_text(source, "byte " + std::to_string(rest) + ": text after the JSON value");
  return std::move(parser.handler().root);
}

error json_node::wrong(std::string_view what) const {
  return {source_->code,
          source_->what + " at `" + (pointer_.empty() ? "/" : pointer_) + "`: " + std::string{what},
          source_->remedy};
}

std::string unknown_field(std::span<const std::string_view> known) {
  std::string names;
  for (const auto one : known)
    names += (names.empty() ? "`" : ", `") + std::string{one} + "`";
  return "unknown field; known here: " + (names.empty() ? "none" : names);
}

result<json_fields> json_node::open_object() const {
  if (!std::holds_alternative<json_tree::object>(tree_->value)) return wrong("expected an object");
  return json_fields{*this};
}

result<json_fields> json_node::object(std::initializer_list<std::string_view> known) const {
  auto fields = open_object();
  if (!fields) return fields;
  if (auto unknown = fields->first_unknown(known)) return *std::move(unknown);
  return fields;
}

result<std::vector<json_node>> json_node::array() const {
  const auto* list = std::get_if<json_tree::array>(&tree_->value);
  if (!list) return wrong("expected an array");
  std::vector<json_node> nodes;
  nodes.reserve(list->size());
  for (const auto& item : *list)
    nodes.push_back(json_node{item, *source_, pointer_ + "/" + std::to_string(nodes.size())});
  return nodes;
}

result<std::string> json_node::text() const {
  const auto* text = std::get_if<std::string>(&tree_->value);
  if (!text) return wrong("expected a string");
  if (text->find('\0') != std::string::npos) return wrong("holds a NUL character");
  return *text;
}

result<bool> json_node::boolean() const {
  const auto* value = std::get_if<bool>(&tree_->value);
  if (!value) return wrong("expected true or false");
  return *value;
}

result<std::int64_t> json_node::integer(std::int64_t least, std::int64_t most) const {
  const auto* value = std::get_if<std::int64_t>(&tree_->value);
  if (!value || *value < least || *value > most)
    return wrong("expected a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most));
  return *value;
}

result<std::size_t> json_node::word(std::initializer_list<std::string_view> words) const {
  const auto* text = std::get_if<std::string>(&tree_->value);
  const auto* found = text ? std::find(words.begin(), words.end(), *text) : words.end();
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string list;
  for (const auto word : words)
    list += (list.empty() ? "`" : ", `") + std::string{word} + "`";
  return wrong((words.size() == 1 ? "expected " : "expected one of ") + list);
}

bool json_node::is_null() const noexcept {
  return std::holds_alternative<std::monostate>(tree_->value);
}

std::string json_node::encode() const {
  json_writer out;
  write_tree(out, *tree_);
  return std::move(out).take();
}

json_node json_fields::below(const std::string& name, const json_tree& tree) const {
  std::string escaped;
  for (const char c : abridged(name, longest_quoted_name))
    escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return {tree, *at_.source_, at_.pointer_ + "/" + escaped};
}

std::optional<json_node> json_fields::find(std::string_view name) const {
  for (const auto& [own, tree] : std::get<json_tree::object>(at_.tree_->value))
    if (own == name) return below(own, tree);
  return std::nullopt;
}

result<json_node> json_fields::need(std::string_view name) const {
  if (auto found = find(name)) return *std::move(found);
  return wrong("field `" + std::string{name} + "` is missing");
}

std::optional<error> json_fields::first_unknown(std::span<const std::string_view> known) const {
  for (const auto& [name, tree] : std::get<json_tree::object>(at_.tree_->value))
    if (std::ranges::find(known, std::string_view{name}) == known.end())
      return below(name, tree).wrong(unknown_field(known));
  return std::nullopt;
}

std::vector<std::pair<std::string, json_node>> json_fields::all() const {
  std::vector<std::pair<std::string, json_node>> list;
  for (const auto& [name, tree] : std::get<json_tree::object>(at_.tree_->value))
    list.emplace_back(name, below(name, tree));
  return list;
}

result<std::string> json_fields::optional_text(std::string_view name) const {
  const auto found = find(name);
  return found ? found->text() : result<std::string>{std::string{}};
}

} // namespace gatehouse
