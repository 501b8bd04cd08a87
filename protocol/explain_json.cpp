#include "protocol/explain_json.hpp"

#include "protocol/approval_policy_json.hpp"
#include "protocol/explain_text.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/json_tree.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/utf8.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <span>

namespace gatehouse {
namespace {

namespace json = boost::json;

error wrong_request(const std::string& where, const std::string& what) {
  return {errc::invalid_request, "request at `" + where + "`: " + what,
          "Correct the request; nothing was judged."};
}

result<json::value> parse_text(std::string_view line) {
  if (const auto bad = find_invalid_utf8(line))
    return wrong_request("/", "byte " + std::to_string(*bad) + " is not valid UTF-8");
  json::stream_parser parser;
  json::error_code failure;
  const auto used = parser.write_some(line.data(), line.size(), failure);
  const auto rest = line.find_first_not_of(" \t\r\n", used);
  if (!failure && rest != std::string_view::npos)
    return wrong_request("/", "byte " + std::to_string(rest) + ": text after the JSON value");
  if (!failure) parser.finish(failure);
  if (failure)
    return wrong_request("/", "byte " + std::to_string(used) + ": not valid JSON (" +
                                  failure.message() + ")");
  // A name that stands twice means one thing to us and perhaps another to who wrote it.
  const json_source source{"request", errc::invalid_request, "Correct the request.", line.size()};
  if (const auto strict = parse_json(line, source); !strict) return strict.error();
  return parser.release();
}

result<json::value> parse_line(std::string_view line) {
  auto value = parse_text(line);
  if (value && !value->is_object()) return wrong_request("/", "expected an object");
  return value;
}

/// @return the words, or the index of the first element that is no string without NUL
std::variant<std::vector<std::string>, std::size_t> words_of(const json::array& array) {
  std::vector<std::string> list;
  for (const auto& item : array) {
    const auto* text = item.if_string();
    if (!text || std::string_view{text->data(), text->size()}.find('\0') != std::string_view::npos)
      return list.size();
    list.emplace_back(text->data(), text->size());
  }
  return list;
}

/// The fields of one request; the first failure stays.
class request_reader {
public:
  request_reader(const json::object& fields, std::string pointer)
      : fields_{fields}, pointer_{std::move(pointer)} {}

  result<explain_request> read() {
    read_command();
    read_policies();
    read_texts();
    if (const auto* word = string("sandbox_permissions")) {
      if (const auto known = sandbox_permissions_from(view(*word)))
        request_.sandbox_permissions = *known;
      else
        fail("sandbox_permissions", "expected use_default, require_escalated or "
                                    "with_additional_permissions");
    }
    if (const auto* overlay = take("additional_permissions")) {
      auto decoded = decode_additional_permissions(json::serialize(*overlay));
      if (decoded)
        request_.additional_permissions = std::move(*decoded);
      else
        fail("additional_permissions", decoded.error().message);
    }
    if (const auto* prefix = take("prefix_rule"))
      request_.prefix_rule = words(*prefix, "prefix_rule");
    if (const auto* login = take("login")) {
      if (login->is_bool())
        request_.login = login->get_bool();
      else
        fail("login", "expected true or false");
    }
    for (const auto* harmless : {"id", "tool", "timeout_ms", "justification"})
      (void)take(harmless);
    for (const auto& field : fields_)
      if (std::find(known_.begin(), known_.end(), std::string_view{field.key()}) == known_.end())
        fail(field.key(), unknown_field(known_));
    if (failure_) return *failure_;
    return std::move(request_);
  }

private:
  static std::string_view view(const json::string& text) { return {text.data(), text.size()}; }

  void fail(std::string_view field, const std::string& what) {
    if (!failure_) failure_ = wrong_request(pointer_ + "/" + std::string{field}, what);
  }

  /// Null counts as left out: clients write their unset optionals so.
  const json::value* take(std::string_view name) {
    known_.push_back(name);
    const auto* value = fields_.if_contains(name);
    return value && !value->is_null() ? value : nullptr;
  }

  const json::string* string(std::string_view name) {
    const auto* value = take(name);
    if (!value) return nullptr;
    if (const auto* text = value->if_string()) {
      if (view(*text).find('\0') == std::string_view::npos) return text;
      fail(name, "holds a NUL character");
    } else {
      fail(name, "expected a string");
    }
    return nullptr;
  }

  std::vector<std::string> words(const json::value& value, std::string_view name) {
    const auto* array = value.if_array();
    if (!array) {
      fail(name, "expected an array of strings");
      return {};
    }
    auto list = words_of(*array);
    if (auto* words = std::get_if<0>(&list)) return std::move(*words);
    fail(std::string{name} + "/" + std::to_string(std::get<1>(list)),
         "expected a string without NUL characters");
    return {};
  }

  void read_command() {
    const auto* command = string("command");
    const auto* argv = take("argv");
    if ((command != nullptr) == (argv != nullptr))
      return fail(command ? "argv" : "command", "give exactly one of `command` and `argv`");
    if (command) {
      request_.command = std::string{view(*command)};
      return;
    }
    auto list = words(*argv, "argv");
    if (list.empty() || list.front().empty()) fail("argv", "the program is missing");
    request_.command = std::move(list);
  }

  void read_policies() {
    if (const auto* policy = take("approval_policy")) {
      auto decoded = decode_approval_policy(json::serialize(*policy));
      if (decoded)
        request_.approval = *decoded;
      else
        fail("approval_policy", decoded.error().message);
    }
    const auto* profile = take("profile");
    if (!profile) return;
    if (const auto* name = profile->if_string()) {
      request_.profile = std::string{view(*name)};
      return;
    }
    auto decoded = decode_profile(json::serialize(*profile));
    if (decoded)
      request_.profile = std::move(*decoded);
    else
      fail("profile", decoded.error().message);
  }

  void read_texts() {
    // A NUL in a rule text is the rule reader's to judge; here only the type counts.
    for (auto [name, target] :
         {std::pair{"rules", &request_.rules}, std::pair{"requirements", &request_.requirements}}) {
      const auto* value = take(name);
      if (!value) continue;
      if (value->is_string())
        *target = std::string{view(value->get_string())};
      else
        fail(name, "expected the text of a file");
    }
    for (const auto* name : {"workdir", "cwd"}) {
      const auto* folder = string(name);
      if (!folder) continue;
      request_.cwd = view(*folder);
      if (!request_.cwd.starts_with('/')) fail(name, "expected an absolute path");
    }
  }

  const json::object& fields_;
  std::string pointer_;
  explain_request request_{};
  std::vector<std::string_view> known_;
  std::optional<error> failure_;
};

void put_list(std::string& out, std::span<const std::string> words) {
  out += '[';
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += ',';
    out += json_quote(to_valid_utf8(words[i]));
  }
  out += ']';
}

void put_text(std::string& out, std::string_view name, std::string_view text) {
  ((out += ",\"") += name) += "\":";
  out += json_quote(to_valid_utf8(text));
}

void put_rule(std::string& out, const rule_citation& rule) {
  out += ",\"rule\":{\"pattern\":[";
  for (std::size_t i = 0; i < rule.pattern.size(); ++i) {
    if (i != 0) out += ',';
    if (rule.pattern[i].size() == 1)
      out += json_quote(to_valid_utf8(rule.pattern[i].front()));
    else
      put_list(out, rule.pattern[i]);
  }
  out += ']';
  put_text(out, "file", rule.file);
  out += ",\"line\":" + std::to_string(rule.line);
  if (!rule.justification.empty()) put_text(out, "justification", rule.justification);
  out += '}';
}

void put_requirement(std::string& out, const exec_requirement& requirement, bool sandboxed) {
  out += "\"requirement\":{\"kind\":\"";
  out += to_string(requirement.kind);
  out += "\",\"bypass_sandbox\":";
  out += requirement.bypass_sandbox ? "true" : "false";
  if (!requirement.reason.empty()) put_text(out, "reason", requirement.reason);
  if (!requirement.proposed_amendment.empty()) {
    out += ",\"proposed_amendment\":";
    put_list(out, requirement.proposed_amendment);
    out += ",\"amendment_exact\":";
    out += requirement.amendment_exact ? "true" : "false";
    put_text(out, "amendment_sandbox",
             amendment_stays_inside(requirement, sandboxed) ? "keep" : "bypass");
  }
  if (requirement.kind == requirement_kind::forbidden)
    put_text(out, "refused_by", to_string(requirement.refused_by));
  out += '}';
}

} // namespace

result<explain_request> decode_explain_request(std::string_view line) {
  const auto value = parse_line(line);
  if (!value) return value.error();
  return request_reader{value->get_object(), {}}.read();
}

result<std::vector<std::string>> decode_words(std::string_view json) {
  const auto value = parse_text(json);
  if (!value) return value.error();
  const auto* array = value->if_array();
  if (!array) return wrong_request("/", "expected an array of strings");
  auto list = words_of(*array);
  if (auto* words = std::get_if<0>(&list)) return std::move(*words);
  return wrong_request("/" + std::to_string(std::get<1>(list)),
                       "expected a string without NUL characters");
}

result<recorded_decision> decode_recorded_decision(std::string_view line) {
  const auto value = parse_line(line);
  if (!value) return value.error();
  const auto& record = value->get_object();
  const auto* request = record.if_contains("request");
  if (!request || !request->is_object()) return wrong_request("/request", "expected an object");
  auto decoded = request_reader{request->get_object(), "/request"}.read();
  if (!decoded) return decoded.error();
  recorded_decision recorded;
  recorded.request = std::move(*decoded);
  const auto* decision = record.if_contains("decision");
  const auto* answer = decision ? decision->if_object() : nullptr;
  const auto* requirement = answer ? answer->if_contains("requirement") : nullptr;
  const auto* fields = requirement ? requirement->if_object() : nullptr;
  const auto* kind = fields ? fields->if_contains("kind") : nullptr;
  const auto* bypass = fields ? fields->if_contains("bypass_sandbox") : nullptr;
  if (!kind || !kind->is_string() || !bypass || !bypass->is_bool())
    return wrong_request("/decision/requirement", "expected `kind` and `bypass_sandbox`");
  const std::string_view word{kind->get_string().data(), kind->get_string().size()};
  for (const auto known :
       {requirement_kind::skip, requirement_kind::needs_approval, requirement_kind::forbidden}) {
    if (word != to_string(known)) continue;
    recorded.kind = known;
    recorded.bypass_sandbox = bypass->get_bool();
    return recorded;
  }
  return wrong_request("/decision/requirement/kind", "expected skip, needs_approval or forbidden");
}

std::string encode_explain_answer(const exec_evaluation& evaluation,
                                  const sandbox_summary& sandbox) {
  std::string out = "{\"segments\":[";
  bool first = true;
  for (const auto& segment : evaluation.segments) {
    out += first ? "{\"argv\":" : ",{\"argv\":";
    first = false;
    put_list(out, segment.argv);
    put_text(out, "origin", to_string(segment.origin));
    put_text(out, "judge", to_string(segment.judge));
    put_text(out, "decision", to_string(segment.decision));
    if (segment.rule) put_rule(out, *segment.rule);
    if (!segment.why.empty()) put_text(out, "why", segment.why);
    out += '}';
  }
  out += "],\"complex\":";
  out += evaluation.complex ? "true," : "false,";
  if (!evaluation.unread.empty()) {
    put_text(out.erase(out.size() - 1), "unread", evaluation.unread);
    out += ',';
  }
  put_requirement(out, evaluation.requirement, sandbox.first_attempt_sandboxed);
  out += ",\"sandbox\":{\"backend\":\"";
  out += to_string(sandbox.backend);
  put_text(out += '"', "first_attempt",
           sandbox.first_attempt_sandboxed ? "sandboxed" : "unsandboxed");
  put_text(out, "network", to_string(sandbox.network));
  out += "}}";
  return out;
}

namespace {

std::string with_why(const exec_evaluation& evaluation, const sandbox_summary& sandbox,
                     std::string_view why) {
  auto out = encode_explain_answer(evaluation, sandbox);
  out.pop_back();
  put_text(out, "why", why);
  return out += '}';
}

} // namespace

std::string encode_explanation(const exec_evaluation& evaluation, const sandbox_summary& sandbox) {
  return with_why(evaluation, sandbox, why_text(evaluation, sandbox));
}

result<std::string> encode_explanation(const review_request& asked) {
  const auto why = why_text(asked);
  if (!why) return why.error();
  return with_why(asked.judged->evaluation, asked.judged->sandbox, *why);
}

std::string encode_explain_error(const error& failure) {
  std::string out = "{\"error\":{\"kind\":\"";
  out += to_string(failure.code);
  put_text(out += '"', "message", failure.message);
  if (!failure.remedy.empty()) put_text(out, "remedy", failure.remedy);
  return out += "}}";
}

} // namespace gatehouse
