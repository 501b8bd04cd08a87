#include "policy/shell/bash_tree.hpp"

#include <tree_sitter/api.h>

#include <array>
#include <memory>

extern "C" const TSLanguage* tree_sitter_bash(void);

namespace gatehouse::policy::shell {
namespace {

enum class node_kind : unsigned char {
  refused,
  structure, ///< program, list, pipeline
  separator,
  command,
  command_name,
  literal, ///< word, number
  double_quoted,
  string_content,
  single_quoted,
  concatenation,
};

/// The allow-list: every other kind of node makes a script not plain.
class node_kinds {
public:
  node_kinds() {
    const auto* language = tree_sitter_bash();
    const auto count = ts_language_symbol_count(language);
    kinds_.assign(count, node_kind::refused);
    for (std::uint32_t symbol = 0; symbol < count; ++symbol) {
      const auto id = static_cast<TSSymbol>(symbol);
      const auto type = ts_language_symbol_type(language, id);
      const std::string_view name = ts_language_symbol_name(language, id);
      for (const auto& [allowed, kind, named] : table)
        if (name == allowed && type == (named ? TSSymbolTypeRegular : TSSymbolTypeAnonymous))
          kinds_[symbol] = kind;
    }
  }
  [[nodiscard]] node_kind of(TSNode node) const {
    const auto symbol = ts_node_symbol(node);
    return symbol < kinds_.size() ? kinds_[symbol] : node_kind::refused;
  }

private:
  struct entry {
    std::string_view name;
    node_kind kind;
    bool named;
  };
  static constexpr std::array<entry, 17> table = {{
      {"program", node_kind::structure, true},
      {"list", node_kind::structure, true},
      {"pipeline", node_kind::structure, true},
      {"command", node_kind::command, true},
      {"command_name", node_kind::command_name, true},
      {"word", node_kind::literal, true},
      {"number", node_kind::literal, true},
      {"string", node_kind::double_quoted, true},
      {"string_content", node_kind::string_content, true},
      {"raw_string", node_kind::single_quoted, true},
      {"concatenation", node_kind::concatenation, true},
      {"&&", node_kind::separator, false},
      {"||", node_kind::separator, false},
      {"|", node_kind::separator, false},
      {";", node_kind::separator, false},
      {"\n", node_kind::separator, false},
      {"\"", node_kind::separator, false},
  }};
  std::vector<node_kind> kinds_;
};

const node_kinds& kinds() {
  static const node_kinds table;
  return table;
}

struct deletes {
  void operator()(TSParser* parser) const noexcept { ts_parser_delete(parser); }
  void operator()(TSTree* tree) const noexcept { ts_tree_delete(tree); }
};

/// A parser is costly to make and not to be shared: one per thread.
TSParser* parser() {
  thread_local const std::unique_ptr<TSParser, deletes> own = [] {
    std::unique_ptr<TSParser, deletes> made(ts_parser_new());
    if (made && !ts_parser_set_language(made.get(), tree_sitter_bash())) made.reset();
    return made;
  }();
  return own.get();
}

class cursor {
public:
  explicit cursor(TSNode node) : cursor_(ts_tree_cursor_new(node)) {}
  ~cursor() { ts_tree_cursor_delete(&cursor_); }
  cursor(const cursor&) = delete;
  cursor& operator=(const cursor&) = delete;
  TSTreeCursor* operator&() { return &cursor_; }

private:
  TSTreeCursor cursor_;
};

class collector {
public:
  collector(std::string_view script, TSNode root) : script_(script), cursor_(root) {}

  std::optional<std::vector<std::vector<std::string>>> collect() {
    if (!visit(0)) return std::nullopt;
    return std::move(commands_);
  }

private:
  // A left-leaning `a && b && c …` is as deep as it is long.
  static constexpr int max_depth = 2000;

  TSNode node() { return ts_tree_cursor_current_node(&cursor_); }

  template <typename Each>
  bool children(const Each& each) {
    if (!ts_tree_cursor_goto_first_child(&cursor_)) return true;
    bool fine = true;
    do
      fine = !ts_node_is_missing(node()) && each(kinds().of(node()));
    while (fine && ts_tree_cursor_goto_next_sibling(&cursor_));
    return ts_tree_cursor_goto_parent(&cursor_) && fine;
  }

  bool visit(int depth) {
    if (depth > max_depth || kinds().of(node()) != node_kind::structure) return false;
    return children([&](node_kind kind) {
      return kind == node_kind::separator ||
             (kind == node_kind::command ? command() : visit(depth + 1));
    });
  }

  bool command() {
    commands_.emplace_back();
    return children([&](node_kind kind) {
      auto& words = commands_.back();
      if (kind != node_kind::command_name) {
        words.emplace_back();
        return words.size() > 1 && word(kind);
      }
      int parts = 0;
      words.emplace_back();
      return words.size() == 1 && children([&](node_kind part) {
               return ++parts == 1 && part == node_kind::literal && literal();
             });
    });
  }

  bool literal() {
    if (ts_node_child_count(node()) != 0) return false;
    commands_.back().back() += text();
    return true;
  }

  bool word(node_kind kind) {
    switch (kind) {
    case node_kind::literal: return literal();
    case node_kind::single_quoted: commands_.back().back() += inside_quotes(); return true;
    case node_kind::double_quoted:
      commands_.back().back() += inside_quotes();
      return children([&](node_kind part) {
        return part == node_kind::string_content || part == node_kind::separator;
      });
    case node_kind::concatenation:
      return children(
          [&](node_kind part) { return part != node_kind::concatenation && word(part); });
    default: return false;
    }
  }

  std::string_view text() {
    const auto begin = ts_node_start_byte(node());
    return script_.substr(begin, ts_node_end_byte(node()) - begin);
  }

  std::string_view inside_quotes() {
    auto quoted = text();
    if (quoted.size() < 2) return {};
    quoted.remove_prefix(1);
    quoted.remove_suffix(1);
    return quoted;
  }

  std::string_view script_;
  cursor cursor_;
  std::vector<std::vector<std::string>> commands_;
};

} // namespace

std::optional<std::vector<std::vector<std::string>>> tree_commands(std::string_view script) {
  auto* const own = parser();
  if (own == nullptr) return std::nullopt;
  const std::unique_ptr<TSTree, deletes> tree(ts_parser_parse_string(
      own, nullptr, script.data(), static_cast<std::uint32_t>(script.size())));
  if (!tree) return std::nullopt;
  const auto root = ts_tree_root_node(tree.get());
  if (ts_node_has_error(root)) return std::nullopt;
  return collector(script, root).collect();
}

} // namespace gatehouse::policy::shell
