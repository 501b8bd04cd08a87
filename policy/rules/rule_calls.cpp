#include "policy/rules/rule_calls.hpp"

#include "policy/path_text.hpp"
#include "policy/rules/call_limits.hpp"
#include "policy/rules/example_words.hpp"
#include "policy/rules/network_host.hpp"
#include "policy/rules/program_path.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <unictype.h>
#include <unistr.h>

namespace gatehouse::policy {
namespace {

using starlark::call_arguments;
using starlark::value;
using starlark::value_kind;

/// Thrown between the functions of this file only.
struct wrong_call {
  std::string message;
};
[[noreturn]] void refuse(std::string message) {
  throw wrong_call{std::move(message)};
}

std::string in_backquotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string shown{text.substr(0, longest)};
  return "\"" + shown + (text.size() > longest ? "…\"" : "\"");
}

std::string kind_of(const value& v) {
  return "a value of type " + std::string{type_name(v)};
}

std::string_view string_in(const value& v, const std::string& where) {
  if (!v.is(value_kind::string)) refuse(where + " must be a string, not " + kind_of(v));
  return v.str();
}

std::span<const value> list_in(const value& v, const std::string& where) {
  if (!v.is(value_kind::list)) refuse(where + " must be a list, not " + kind_of(v));
  return v.list->items;
}

/// Which argument goes to which parameter.
class bound_arguments {
public:
  struct parameter {
    std::string_view name;
    bool required = false;
    bool by_position = true;
  };

  bound_arguments(std::string_view function, std::span<const parameter> parameters,
                  const call_arguments& arguments)
      : function_{function}, parameters_{parameters}, values_(parameters.size(), nullptr) {
    const auto positional = static_cast<std::size_t>(
        std::ranges::count_if(parameters, [](const auto& p) { return p.by_position; }));
    if (arguments.positional.size() > positional)
      refuse("`" + std::string{function} + "` takes at most " + std::to_string(positional) +
             " arguments by position");
    for (std::size_t i = 0; i < arguments.positional.size(); ++i)
      values_[i] = &arguments.positional[i];
    for (const auto& named : arguments.named) {
      const auto at = position_of(named.name);
      if (at == parameters.size())
        refuse("`" + std::string{function} + "` has no parameter `" + std::string{named.name} +
               "`");
      if (values_[at]) refuse("the argument `" + std::string{named.name} + "` is given twice");
      values_[at] = &named.item;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].required && !values_[i])
        refuse("`" + std::string{function} + "` needs the argument `" +
               std::string{parameters[i].name} + "`");
  }

  /// Null when it is not given.
  [[nodiscard]] const value* find(std::string_view name) const {
    return values_[position_of(name)];
  }

  [[nodiscard]] std::optional<std::string_view> string(std::string_view name) const {
    const auto* v = find(name);
    if (!v) return std::nullopt;
    return string_in(*v, place(name));
  }
  [[nodiscard]] bool flag(std::string_view name) const {
    const auto* v = find(name);
    if (!v) return false;
    if (!v->is(value_kind::boolean)) refuse(place(name) + " must be a bool, not " + kind_of(*v));
    return v->boolean;
  }
  [[nodiscard]] std::string place(std::string_view name) const {
    return "`" + std::string{name} + "` of `" + std::string{function_} + "`";
  }

private:
  [[nodiscard]] std::size_t position_of(std::string_view name) const {
    const auto it = std::ranges::find(parameters_, name, &parameter::name);
    return static_cast<std::size_t>(it - parameters_.begin());
  }

  std::string_view function_;
  std::span<const parameter> parameters_;
  std::vector<const value*> values_;
};

bool is_blank(std::string_view text) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto* end = at + text.size();
  while (at < end) {
    ucs4_t c = 0;
    at += u8_mbtouc(&c, at, static_cast<std::size_t>(end - at));
    if (!uc_is_property_white_space(c)) return false;
  }
  return true;
}

std::string read_justification(const bound_arguments& arguments) {
  const auto text = arguments.string("justification");
  if (text && is_blank(*text)) refuse("`justification` must not be blank; leave it out instead");
  return std::string{text.value_or("")};
}

std::vector<std::string> read_alternatives(const value& element) {
  const std::string where = "an element of `pattern`";
  if (element.is(value_kind::string)) return {std::string{element.str()}};
  if (!element.is(value_kind::list))
    refuse(where + " must be a string or a list of strings, not " + kind_of(element));
  std::vector<std::string> alternatives;
  for (const auto& item : element.list->items)
    alternatives.emplace_back(string_in(item, "an alternative in `pattern`"));
  if (alternatives.empty()) refuse("a list of alternatives in `pattern` is empty");
  return alternatives;
}

token_pattern read_pattern(const value& v) {
  token_pattern pattern;
  const auto elements = list_in(v, "`pattern`");
  if (elements.size() > most_pattern_words)
    refuse("`pattern` has " + std::to_string(elements.size()) + " words, more than " +
           std::to_string(most_pattern_words));
  for (const auto& element : elements)
    pattern.push_back(read_alternatives(element));
  if (pattern.empty()) refuse("`pattern` is empty: a rule needs at least the program");
  return pattern;
}

std::vector<std::string> read_example(const value& v, const std::string& where) {
  if (v.is(value_kind::list)) {
    std::vector<std::string> words;
    for (const auto& item : v.list->items)
      words.emplace_back(string_in(item, "a word of an example in " + where));
    if (words.empty()) refuse("an example in " + where + " is an empty list");
    return words;
  }
  if (!v.is(value_kind::string))
    refuse("an example in " + where + " must be a string or a list of strings, not " + kind_of(v));
  auto words = split_example(v.str());
  if (!words)
    refuse("the example " + in_backquotes(v.str()) + " in " + where +
           " has an open quote or ends in a backslash");
  if (words->empty()) refuse("an example in " + where + " has no words");
  return std::move(*words);
}

std::vector<std::vector<std::string>> read_examples(const bound_arguments& arguments,
                                                    std::string_view name) {
  std::vector<std::vector<std::string>> examples;
  const auto where = "`" + std::string{name} + "`";
  if (const auto* v = arguments.find(name))
    for (const auto& item : list_in(*v, where))
      examples.push_back(read_example(item, where));
  return examples;
}

decision read_decision(std::string_view text) {
  const auto read = decision_from(text);
  if (!read)
    refuse("the decision " + in_backquotes(text) +
           " is none of \"allow\", \"prompt\", \"forbidden\"");
  return *read;
}

using parameter = bound_arguments::parameter;
constexpr std::array prefix_parameters{
    parameter{"pattern", true},
    parameter{"decision"},
    parameter{"match"},
    parameter{"not_match"},
    parameter{"justification"},
    parameter{"canonical_matching"},
    parameter{"exact", false, false},
    parameter{"sandbox", false, false},
};

prefix_call prefix_call_from(const call_arguments& given) {
  const bound_arguments arguments{"prefix_rule", prefix_parameters, given};
  prefix_call call;
  if (const auto text = arguments.string("decision")) call.decision = read_decision(*text);
  call.justification = read_justification(arguments);
  call.pattern = read_pattern(*arguments.find("pattern"));
  call.match = read_examples(arguments, "match");
  call.not_match = read_examples(arguments, "not_match");
  call.canonical = arguments.flag("canonical_matching");
  call.exact = arguments.flag("exact");
  if (const auto sandbox = arguments.string("sandbox")) {
    if (*sandbox != "keep" && *sandbox != "bypass")
      refuse("the sandbox " + in_backquotes(*sandbox) + " is neither \"keep\" nor \"bypass\"");
    call.sandbox = *sandbox == "keep" ? rule_sandbox::keep : rule_sandbox::bypass;
    if (*call.sandbox == rule_sandbox::bypass && call.decision != decision::allow)
      refuse("only an allow can have sandbox=\"bypass\"");
  }
  return call;
}

host_gate host_gate_from(const call_arguments& given) {
  constexpr std::array parameters{parameter{"name", true}, parameter{"paths", true}};
  const bound_arguments arguments{"host_executable", parameters, given};
  host_gate gate;
  gate.name = *arguments.string("name");
  if (gate.name.empty() || gate.name == "." || gate.name == ".." || is_path(gate.name))
    refuse("the name " + in_backquotes(gate.name) + " is not a bare program name");
  const auto paths = list_in(*arguments.find("paths"), "`paths`");
  if (paths.size() > most_gate_paths)
    refuse("`paths` holds " + std::to_string(paths.size()) + " paths, more than " +
           std::to_string(most_gate_paths));
  for (const auto& item : paths) {
    const auto path = string_in(item, "an element of `paths`");
    if (!path.starts_with('/'))
      refuse("the path " + in_backquotes(path) + " is not absolute; write it from `/` on");
    auto normal = lexically_normal(path);
    if (base_name(normal) != gate.name)
      refuse("the path " + in_backquotes(path) + " does not end in the name " +
             in_backquotes(gate.name));
    if (std::ranges::find(gate.paths, normal) == gate.paths.end())
      gate.paths.push_back(std::move(normal));
  }
  return gate;
}

network_protocol read_protocol(std::string_view text) {
  if (text == "http") return network_protocol::http;
  if (text == "https" || text == "https_connect" || text == "http-connect")
    return network_protocol::https;
  if (text == "socks5_tcp") return network_protocol::socks5_tcp;
  if (text == "socks5_udp") return network_protocol::socks5_udp;
  refuse("the protocol " + in_backquotes(text) +
         " is none of \"http\", \"https\", \"socks5_tcp\", \"socks5_udp\"");
}

network_rule network_rule_from(const call_arguments& given) {
  constexpr std::array parameters{parameter{"host", true}, parameter{"protocol", true},
                                  parameter{"decision", true}, parameter{"justification"}};
  const bound_arguments arguments{"network_rule", parameters, given};
  network_rule rule;
  rule.protocol = read_protocol(*arguments.string("protocol"));
  const auto decided = *arguments.string("decision");
  rule.decision = decided == "deny" ? decision::forbidden : read_decision(decided);
  rule.justification = read_justification(arguments);
  const auto host = *arguments.string("host");
  std::string why;
  auto parsed = parse_network_host(host, why);
  if (!parsed) refuse("the host " + in_backquotes(host) + " " + why);
  rule.host = std::move(parsed->host);
  rule.port = parsed->port;
  return rule;
}

template <class T>
call_result<T> attempt(T (*read)(const call_arguments&), const call_arguments& arguments) {
  try {
    return read(arguments);
  } catch (wrong_call& wrong) {
    return std::move(wrong.message);
  }
}

/// The argument for a parameter of `prefix_rule` as far as the call says it clearly.
const value* argument_of(const call_arguments& arguments, std::size_t position,
                         std::string_view name) {
  for (const auto& named : arguments.named)
    if (named.name == name) return &named.item;
  return position < arguments.positional.size() ? &arguments.positional[position] : nullptr;
}

} // namespace

call_result<prefix_call> read_prefix_call(const call_arguments& arguments) {
  return attempt(prefix_call_from, arguments);
}

std::optional<prefix_call> salvage_prefix_call(const call_arguments& arguments) {
  const auto* pattern = argument_of(arguments, 0, "pattern");
  const auto* decided = argument_of(arguments, 1, "decision");
  if (!pattern || !decided) return std::nullopt;
  const auto read = decided->is(value_kind::string) ? decision_from(decided->str()) : std::nullopt;
  if (read == decision::allow) return std::nullopt;
  prefix_call call;
  call.decision = read.value_or(decision::prompt);
  const auto* canonical = argument_of(arguments, 5, "canonical_matching");
  call.canonical = canonical && canonical->is(value_kind::boolean) && canonical->boolean;
  try {
    call.pattern = read_pattern(*pattern);
  } catch (const wrong_call&) {
    return std::nullopt;
  }
  return call;
}

call_result<host_gate> read_host_executable_call(const call_arguments& arguments) {
  return attempt(host_gate_from, arguments);
}

call_result<network_rule> read_network_call(const call_arguments& arguments) {
  return attempt(network_rule_from, arguments);
}

} // namespace gatehouse::policy
