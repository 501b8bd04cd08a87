#include "policy/shell/characters.hpp"
#include "policy/shell/script_reader.hpp"

#include <charconv>
#include <cstdlib>
#include <utility>

namespace gatehouse::policy::shell {
namespace {

constexpr std::size_t max_brace_words = 256;
constexpr std::ptrdiff_t max_braces = 64;
constexpr std::size_t max_brace_size = 1 << 16; // characters of all words of one expansion
constexpr std::size_t max_word_readings = 64;

/// One character of a word, or one expansion in it.
struct unit {
  char c = '\0';
  bool bare = false;
  const word_piece* expansion = nullptr;
};
using units = std::vector<unit>;

units to_units(const std::vector<word_piece>& pieces) {
  units all;
  for (const auto& piece : pieces) {
    if (piece.type == word_piece::kind::unknown) {
      all.push_back({'\0', false, &piece});
      continue;
    }
    for (const char c : piece.text)
      all.push_back({c, piece.type == word_piece::kind::bare, nullptr});
  }
  return all;
}

bool is_bare(const unit& u, char c) {
  return u.bare && u.c == c;
}

/// `{1..5}`, `{a..e..2}`: the elements, or nothing when `inside` is no sequence.
std::vector<units> sequence(const unit* first, const unit* last, bool& too_many) {
  std::string inside;
  for (const auto* u = first; u != last; ++u) {
    if (!u->bare) return {};
    inside += u->c;
  }
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const auto dots = inside.find("..", at);
    parts.push_back(inside.substr(at, dots - at));
    if (dots == std::string::npos) break;
    at = dots + 2;
  }
  if (parts.size() != 2 && parts.size() != 3) return {};
  const auto number = [](const std::string& text, long& value) {
    const auto* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(begin, end, value);
    return parsed.ec == std::errc{} && parsed.ptr == end && begin != end;
  };
  long from = 0;
  long to = 0;
  long step = 1;
  const bool numbers = number(parts[0], from) && number(parts[1], to);
  if (!numbers) {
    const auto letter = [](const std::string& text) {
      return text.size() == 1 && is_name_start(text[0]) && text[0] != '_';
    };
    if (!letter(parts[0]) || !letter(parts[1])) return {};
    from = static_cast<unsigned char>(parts[0][0]);
    to = static_cast<unsigned char>(parts[1][0]);
  }
  if (parts.size() == 3 && !number(parts[2], step)) return {};
  constexpr long bound = 1L << 40;
  if (std::labs(from) > bound || std::labs(to) > bound || std::labs(step) > bound) {
    too_many = true;
    return {};
  }
  step = std::max(1L, std::labs(step));
  if (std::labs(to - from) / step >= static_cast<long>(max_brace_words)) {
    too_many = true;
    return {};
  }
  const auto padded = [](const std::string& text) {
    const auto digits = text.starts_with('-') ? text.substr(1) : text;
    return digits.size() > 1 && digits.starts_with('0');
  };
  const auto width =
      padded(parts[0]) || padded(parts[1]) ? std::max(parts[0].size(), parts[1].size()) : 0;
  std::vector<units> elements;
  for (long value = from; from <= to ? value <= to : value >= to;
       value += from <= to ? step : -step) {
    std::string text(1, static_cast<char>(value));
    if (numbers) {
      text = std::to_string(std::labs(value));
      const std::size_t sign = value < 0 ? 1 : 0;
      if (text.size() + sign < width) text.insert(0, width - text.size() - sign, '0');
      if (value < 0) text.insert(0, "-");
    }
    units element;
    for (const char c : text)
      element.push_back({c, false, nullptr});
    elements.push_back(std::move(element));
  }
  return elements;
}

/// Brace expansion. Sets `too_many` and gives up above a bound.
std::vector<units> expand_braces(const units& all, std::size_t from, bool& too_many, int depth) {
  if (depth > 32) {
    too_many = true;
    return {};
  }
  for (auto open = from; open < all.size(); ++open) {
    if (!is_bare(all[open], '{')) continue;
    std::vector<std::size_t> cuts{open};
    std::size_t close = open;
    int level = 0;
    for (auto i = open; i < all.size(); ++i) {
      level += is_bare(all[i], '{') ? 1 : is_bare(all[i], '}') ? -1 : 0;
      if (level == 1 && is_bare(all[i], ',')) cuts.push_back(i);
      if (level == 0) {
        close = i;
        break;
      }
    }
    if (close == open) continue;
    std::vector<units> middles;
    if (cuts.size() > 1) {
      cuts.push_back(close);
      for (std::size_t k = 0; k + 1 < cuts.size() && !too_many; ++k) {
        const units part(all.begin() + static_cast<std::ptrdiff_t>(cuts[k]) + 1,
                         all.begin() + static_cast<std::ptrdiff_t>(cuts[k + 1]));
        for (auto& expanded : expand_braces(part, 0, too_many, depth + 1))
          middles.push_back(std::move(expanded));
        too_many = too_many || middles.size() > max_brace_words;
      }
    } else {
      middles = sequence(all.data() + open + 1, all.data() + close, too_many);
      if (middles.empty() && !too_many) continue;
    }
    const units after(all.begin() + static_cast<std::ptrdiff_t>(close) + 1, all.end());
    const auto tails =
        too_many ? std::vector<units>{} : expand_braces(after, 0, too_many, depth + 1);
    if (too_many || middles.size() * tails.size() > max_brace_words ||
        middles.size() * tails.size() * all.size() > max_brace_size) {
      too_many = true;
      return {};
    }
    std::vector<units> results;
    for (const auto& middle : middles) {
      for (const auto& tail : tails) {
        units one(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(open));
        one.insert(one.end(), middle.begin(), middle.end());
        one.insert(one.end(), tail.begin(), tail.end());
        results.push_back(std::move(one));
      }
    }
    return results;
  }
  return {all};
}

/// One reading of a word while it is put together.
struct draft {
  std::vector<word> done;
  word current{};
  bool exists = false; ///< an empty `current` is a word all the same
};

void substitute(draft& into, const word_piece& expansion, const std::string& value) {
  into.current.known = false;
  if (value == unknown_part || value == long_value) { // what a limit left out
    const bool one_word = value == long_value && expansion.in_quotes;
    (one_word ? into.current.is_long : into.current.is_cut) = into.exists = true;
    into.current.text += unknown_part;
    return;
  }
  if (expansion.in_quotes) {
    into.current.text += value;
    into.exists = true;
    return;
  }
  bool pending_break = false;
  for (const char c : value) {
    if (is_blank(c) || c == '\n') {
      pending_break = true;
      continue;
    }
    if (pending_break && into.exists) {
      into.done.push_back(std::exchange(into.current, {}));
      into.current.known = false;
    }
    pending_break = false;
    into.current.text += c;
    into.exists = true;
  }
}

std::vector<std::vector<word>> put_together(const units& all, bool has_quotes) {
  bool only_expansions = !all.empty();
  bool globs = false;
  bool bracket = false;
  for (const auto& u : all) {
    only_expansions = only_expansions && u.expansion != nullptr && !u.expansion->in_quotes;
    globs = globs || is_bare(u, '*') || is_bare(u, '?') || (bracket && is_bare(u, ']'));
    bracket = bracket || is_bare(u, '[');
  }
  std::vector<draft> drafts(1);
  drafts.front().exists = has_quotes;
  for (const auto& u : all) {
    if (u.expansion == nullptr) {
      for (auto& d : drafts) {
        d.current.text += u.c;
        d.exists = true;
      }
      continue;
    }
    if (u.expansion->values.empty()) {
      for (auto& d : drafts) {
        d.current.text += unknown_part;
        d.current.known = false;
        d.current.may_vanish = only_expansions;
        d.exists = true;
      }
      continue;
    }
    const auto choices = std::min(u.expansion->values.size(),
                                  std::max<std::size_t>(1, max_word_readings / drafts.size()));
    const auto drafted = drafts.size();
    if (choices < u.expansion->values.size())
      for (auto& d : drafts)
        d.current.is_cut = true;
    for (std::size_t i = 0; i < drafted; ++i) {
      for (std::size_t k = 1; k < choices; ++k) {
        drafts.push_back(drafts[i]);
        substitute(drafts.back(), *u.expansion,
                   u.expansion->values[u.expansion->values.size() - 1 - k]);
      }
      substitute(drafts[i], *u.expansion, u.expansion->values.back()); // the newest: likeliest
    }
  }
  std::vector<std::vector<word>> readings;
  for (auto& d : drafts) {
    if (d.exists) d.done.push_back(std::move(d.current));
    for (auto& w : d.done)
      w.known = w.known && !globs;
    readings.push_back(std::move(d.done));
  }
  return readings;
}

} // namespace

std::vector<std::vector<word>> expand_word(const raw_word& raw) {
  bool simple = true;
  bool has_quotes = false;
  for (const auto& piece : raw.pieces) {
    has_quotes = has_quotes || piece.type == word_piece::kind::quoted;
    simple = simple && (piece.type == word_piece::kind::quoted ||
                        (piece.type == word_piece::kind::bare &&
                         piece.text.find_first_of("{*?[") == std::string::npos));
  }
  if (simple) {
    word w;
    for (const auto& piece : raw.pieces)
      w.text += piece.text;
    return {{std::move(w)}};
  }
  const auto all = to_units(raw.pieces);
  const bool has_list = std::any_of(all.begin(), all.end(), [](const unit& u) {
    return is_bare(u, ',') || is_bare(u, '-') || u.expansion != nullptr;
  });
  bool too_many = std::count_if(all.begin(), all.end(),
                                [](const unit& u) { return is_bare(u, '{'); }) > max_braces;
  // Brace expansion pairs these braces with those around them; later the parameter does not.
  too_many = too_many ||
             (raw.assigned.empty() &&
              std::any_of(all.begin(), all.end(), [](const unit& u) { return is_bare(u, '{'); }) &&
              std::any_of(all.begin(), all.end(), [](const unit& u) {
                return u.expansion != nullptr && u.expansion->has_braces;
              }));
  auto expanded = raw.assigned.empty() && !too_many ? expand_braces(all, 0, too_many, 0)
                                                    : std::vector<units>{all};
  if (too_many) {
    word w;
    w.text = unknown_part;
    w.known = false;
    w.may_vanish = true;
    w.is_cut = has_list;
    return {{std::move(w)}};
  }
  std::vector<std::vector<word>> readings(1);
  for (const auto& one : expanded) {
    const auto choices = put_together(one, has_quotes);
    std::vector<std::vector<word>> next;
    for (const auto& reading : readings) {
      for (const auto& choice : choices) {
        if (next.size() >= max_word_readings) {
          for (auto& w : next.back())
            w.is_cut = true;
          break;
        }
        next.push_back(reading);
        next.back().insert(next.back().end(), choice.begin(), choice.end());
      }
    }
    readings = std::move(next);
  }
  if (raw.is_process && readings.size() == 1 && readings.front().size() == 1) {
    readings.front().front().is_process = true;
    readings.front().front().process = raw.process;
    readings.front().front().may_vanish = false;
  }
  return readings;
}

word join_pieces(const std::vector<word_piece>& pieces) {
  word w;
  for (const auto& piece : pieces) {
    if (piece.type != word_piece::kind::unknown) {
      w.text += piece.text;
      continue;
    }
    w.known = false;
    w.text += piece.values.size() == 1 && piece.values.front() != long_value
                  ? piece.values.front()
                  : std::string(unknown_part);
    const auto holds = [&](std::string_view value) {
      return std::find(piece.values.begin(), piece.values.end(), value) != piece.values.end();
    };
    w.is_cut = w.is_cut || holds(unknown_part);
    w.is_long = w.is_long || holds(long_value);
  }
  return w;
}

} // namespace gatehouse::policy::shell
