#include "policy/shell/wrappers.hpp"

#include "policy/shell/characters.hpp"

#include <utility>

namespace gatehouse::policy::shell {
namespace {

struct long_option {
  std::string_view name;
  char kind = ' '; ///< ' ' no value, '=' a value, '?' an attached value only
};

/// The long option that `given` names or abbreviates; nothing when there is none or several.
std::optional<long_option> find_long(std::string_view longs, std::string_view given) {
  std::optional<long_option> found;
  int candidates = 0;
  while (!longs.empty()) {
    const auto end = std::min(longs.find(' '), longs.size());
    long_option option{longs.substr(0, end), ' '};
    longs.remove_prefix(std::min(end + 1, longs.size()));
    if (option.name.ends_with('=') || option.name.ends_with('?')) {
      option.kind = option.name.back();
      option.name.remove_suffix(1);
    }
    if (option.name == given) return option;
    if (option.name.starts_with(given)) {
      ++candidates;
      found = option;
    }
  }
  return candidates == 1 ? found : std::nullopt;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

class option_reader {
public:
  option_reader(const wrapper_grammar& grammar, std::span<const word> words, std::size_t first)
      : grammar_(grammar), words_(words), at_(first) {}

  parsed_options read() {
    std::size_t first_operand = words_.size();
    for (; at_ < words_.size(); ++at_) {
      const auto& text = words_[at_].text;
      if (words_[at_].may_vanish) {
        out_.understood = false;
        continue;
      }
      if (text == "--") {
        ++at_;
        break;
      }
      const bool sign = text.starts_with('-') || (grammar_.takes_numbers && text.starts_with('+'));
      if (!sign || text.size() < 2) {
        const bool lone_dash = text == "-" && (grammar_.name == "env" || grammar_.name == "su" ||
                                               grammar_.name == "runuser");
        if (lone_dash) continue;
        if (!grammar_.options_anywhere) break;
        first_operand = std::min(first_operand, at_);
        continue;
      }
      if (grammar_.takes_numbers && is_number(std::string_view(text).substr(1))) continue;
      if (!words_[at_].known && text.find(unknown_part) == 0)
        out_.understood = false;
      else if (text.starts_with("--"))
        long_option_at(std::string_view(text).substr(2));
      else if (text.starts_with('-'))
        cluster(std::string_view(text).substr(1));
      else
        break;
    }
    out_.command = std::min({at_, first_operand, words_.size()});
    return std::move(out_);
  }

private:
  void take_next(std::string_view name) {
    if (at_ + 1 < words_.size()) {
      ++at_;
      out_.understood = out_.understood && !words_[at_].may_vanish;
      out_.options.push_back({name, words_[at_]});
    } else {
      out_.options.push_back({name, {}});
    }
  }

  word attached(std::string_view text) const {
    word value;
    value.text = text;
    value.known = words_[at_].known;
    return value;
  }

  void long_option_at(std::string_view text) {
    const auto equals = text.find('=');
    const auto option = find_long(grammar_.longs, text.substr(0, equals));
    if (!option) {
      out_.understood = false;
    } else if (equals != std::string_view::npos) {
      out_.understood = out_.understood && option->kind != ' ';
      out_.options.push_back({option->name, attached(text.substr(equals + 1))});
    } else if (option->kind == '=') {
      take_next(option->name);
    } else {
      out_.options.push_back({option->name, {}});
    }
  }

  void cluster(std::string_view letters) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const auto name = letters.substr(i, 1);
      if (grammar_.flags.find(letters[i]) != std::string_view::npos) {
        out_.options.push_back({name, {}});
      } else if (grammar_.values.find(letters[i]) != std::string_view::npos) {
        if (i + 1 < letters.size())
          out_.options.push_back({name, attached(letters.substr(i + 1))});
        else
          take_next(name);
        return;
      } else if (grammar_.optional.find(letters[i]) != std::string_view::npos) {
        out_.options.push_back({name, attached(letters.substr(i + 1))});
        return;
      } else {
        // Perhaps a long option with one dash, perhaps one that takes the next word.
        out_.understood = false;
        return;
      }
    }
  }

  const wrapper_grammar& grammar_;
  std::span<const word> words_;
  std::size_t at_;
  parsed_options out_;
};

} // namespace

parsed_options parse_options(const wrapper_grammar& grammar, std::span<const word> words,
                             std::size_t first) {
  return option_reader(grammar, words, first).read();
}

std::vector<word> split_env_string(std::string_view text) {
  std::vector<word> words;
  word current;
  bool exists = false;
  char quote = '\0';
  const auto finish = [&] {
    if (exists) words.push_back(std::exchange(current, {}));
    exists = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (quote == '\0' && (is_blank(c) || c == '\n' || c == '\v' || c == '\f' || c == '\r')) {
      finish();
    } else if (quote == '\0' && c == '#' && !exists) {
      break;
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
      exists = true;
    } else if (c == '\\' && next != '\0' && (quote != '\'' || next == '\\' || next == '\'')) {
      ++i;
      if (next == 'c') break;
      if (next == '_' && quote == '\0') {
        finish();
        continue;
      }
      constexpr std::string_view names = "fnrtv_";
      constexpr std::string_view meanings = "\f\n\r\t\v ";
      const auto escape = names.find(next);
      current.text += escape == std::string_view::npos ? next : meanings[escape];
      exists = true;
    } else if (c == '$' && next == '{' && quote != '\'') {
      const auto end = std::min(text.find('}', i), text.size() - 1);
      current.text += unknown_part;
      current.known = false;
      exists = true;
      i = end;
    } else {
      current.text += c;
      exists = true;
    }
  }
  finish();
  return words;
}

} // namespace gatehouse::policy::shell
