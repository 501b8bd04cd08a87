#include "policy/starlark/program.hpp"

#include "policy/starlark/evaluator.hpp"
#include "policy/starlark/operators.hpp"
#include "policy/starlark/parser.hpp"
#include "policy/starlark/resolver.hpp"

#include <algorithm>
#include <exception>

namespace gatehouse::policy::starlark {
namespace {

class runner {
public:
  runner(std::string_view text, const run_limits& limits)
      : text_{text}, limits_{limits}, heap_{limits.memory} {}

  run_report run(std::span<const host_function> host) {
    const auto builtins = make_builtins(heap_, host);
    parse_all();
    resolver names{builtins.names};
    for (const auto* s : statements_)
      names.declare(*s);
    std::erase_if(statements_,
                  [&](statement* s) { return !attempt([&] { names.resolve(*s); }, s->where); });
    evaluator on{heap_, {limits_.steps, limits_.call_depth}, builtins.values};
    on.open_module(names.slots());
    for (const auto* s : statements_) {
      if (report_.over_limit) break;
      attempt([&] { on.run(*s); }, s->where, &on);
    }
    std::ranges::stable_sort(report_.problems, {}, [](const diagnostic& d) {
      return std::pair{d.where.line, d.where.column};
    });
    return std::move(report_);
  }

private:
  /// Runs `step`; what goes wrong becomes a problem. False then.
  template <class Step>
  bool attempt(Step step, position otherwise, const evaluator* on = nullptr) {
    const auto stands = [&] { return on ? on->here() : otherwise; };
    try {
      step();
      return true;
    } catch (const failure& f) {
      report_.over_limit = report_.over_limit || f.over_limit;
      note(f.message, f.where.line != 0 ? f.where : stands());
    } catch (const std::exception& e) {
      report_.over_limit = true;
      note(std::string{"the file cannot be evaluated: "} + e.what(), stands());
    }
    return false;
  }

  void note(std::string message, position where) {
    if (report_.problems.size() >= limits_.problems) return;
    // A function that is called again fails again.
    if (std::ranges::any_of(report_.problems, [&](const diagnostic& d) {
          return d.where == where && d.message == message;
        }))
      return;
    report_.problems.push_back({where, std::move(message), excerpt_at(text_, where)});
  }

  void parse_all() {
    parser::budget spent{0, limits_.steps};
    std::size_t begin = 0;
    std::uint32_t line = 1;
    while (!report_.over_limit) {
      parser from{text_.substr(begin), {line, 1}, lexer::context::file, heap_, spent};
      const bool good = attempt(
          [&] {
            while (from.parse_top_level(statements_)) {
            }
          },
          {line, 1});
      if (good) return;
      const auto failed_line = from.statement_line();
      do {
        const auto end = text_.find('\n', begin);
        if (end == std::string_view::npos) return;
        begin = end + 1;
        ++line;
      } while (line <= failed_line || !may_begin_statement(begin));
    }
  }

  [[nodiscard]] bool may_begin_statement(std::size_t at) const {
    return at < text_.size() && is_name_start(text_[at]);
  }

  std::string_view text_;
  run_limits limits_;
  arena heap_;
  run_report report_;
  std::vector<statement*> statements_;
};

} // namespace

run_report run(std::string_view text, std::span<const host_function> host,
               const run_limits& limits) {
  try {
    return runner{text, limits}.run(host);
  } catch (const std::exception& e) {
    return {{{{1, 1}, std::string{"the file cannot be evaluated: "} + e.what(), {}}}, true};
  } catch (const failure& f) {
    return {{{{1, 1}, f.message, {}}}, true};
  }
}

std::string excerpt_at(std::string_view text, position where) {
  constexpr std::size_t widest = 160;
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < where.line; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  auto line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (where.line == 0 || where.column == 0 || where.column > widest) return {};
  line = line.substr(0, character_offset(line, widest));
  return std::string{line} + "\n" + std::string(where.column - 1, ' ') + "^";
}

} // namespace gatehouse::policy::starlark
