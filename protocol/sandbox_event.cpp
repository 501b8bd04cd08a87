#include "protocol/sandbox_event.hpp"

#include "protocol/utf8.hpp"

#include <boost/json.hpp>

#include <array>

namespace gatehouse {
namespace json = boost::json;
namespace {

constexpr std::array kinds = {
    sandbox_event_kind::started,     sandbox_event_kind::blocked,
    sandbox_event_kind::exited,      sandbox_event_kind::signalled,
    sandbox_event_kind::exec_failed, sandbox_event_kind::boundary_failed,
    sandbox_event_kind::stopped,     sandbox_event_kind::continued,
    sandbox_event_kind::killed,      sandbox_event_kind::warning,
};
constexpr std::array refusals = {denial_kind::file_read, denial_kind::file_write,
                                 denial_kind::network, denial_kind::system_call};

error unreadable(const std::string& what) {
  return {errc::invalid_request, "sandbox report: " + what,
          "the gatehouse programs may come from different builds: install them together"};
}

} // namespace

std::string_view to_string(sandbox_event_kind k) noexcept {
  switch (k) {
  case sandbox_event_kind::started: return "started";
  case sandbox_event_kind::blocked: return "blocked";
  case sandbox_event_kind::exited: return "exited";
  case sandbox_event_kind::signalled: return "signalled";
  case sandbox_event_kind::exec_failed: return "exec_failed";
  case sandbox_event_kind::boundary_failed: return "boundary_failed";
  case sandbox_event_kind::stopped: return "stopped";
  case sandbox_event_kind::continued: return "continued";
  case sandbox_event_kind::killed: return "killed";
  case sandbox_event_kind::warning: return "warning";
  }
  return "started";
}

std::string to_json_line(const sandbox_event& event) {
  json::object o;
  o["event"] = to_string(event.kind);
  if (event.kind == sandbox_event_kind::blocked) o["kind"] = to_string(event.refusal);
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) o[key] = to_valid_utf8(value);
  };
  text("path", event.path);
  text("call", event.call);
  text("family", event.family);
  text("host", event.host);
  text("entry", event.entry);
  text("message", event.message);
  text("remedy", event.remedy);
  const auto number = [&](const char* key, const std::optional<int>& value) {
    if (value) o[key] = *value;
  };
  number("exit_code", event.exit_code);
  number("signal", event.signal);
  number("errno", event.error_number);
  return json::serialize(o) + "\n";
}

result<sandbox_event> sandbox_event_from_json(std::string_view line) {
  json::error_code failure;
  const json::value parsed = json::parse(line, failure);
  if (failure || !parsed.is_object()) return unreadable("a line is not a JSON object");
  const json::object& o = parsed.get_object();

  const auto enumerator = [&](const char* key, const auto& all, auto& out) {
    const json::value* v = o.if_contains(key);
    if (!v || !v->is_string()) return false;
    for (const auto one : all)
      if (to_string(one) == std::string_view{v->get_string()}) {
        out = one;
        return true;
      }
    return false;
  };
  sandbox_event event;
  if (!enumerator("event", kinds, event.kind)) return unreadable("unknown or missing \"event\"");
  if (event.kind == sandbox_event_kind::blocked && !enumerator("kind", refusals, event.refusal))
    return unreadable("unknown or missing \"kind\"");

  std::string wrong;
  const auto text = [&](const char* key, std::string& out) {
    if (const json::value* v = o.if_contains(key)) {
      if (v->is_string())
        out = std::string_view{v->get_string()};
      else
        wrong = key;
    }
  };
  const auto number = [&](const char* key, std::optional<int>& out) {
    if (const json::value* v = o.if_contains(key)) {
      json::error_code range;
      const int value = v->to_number<int>(range);
      if (range)
        wrong = key;
      else
        out = value;
    }
  };
  text("path", event.path);
  text("call", event.call);
  text("family", event.family);
  text("host", event.host);
  text("entry", event.entry);
  text("message", event.message);
  text("remedy", event.remedy);
  number("exit_code", event.exit_code);
  number("signal", event.signal);
  number("errno", event.error_number);
  if (!wrong.empty()) return unreadable("\"" + wrong + "\" has the wrong type");
  return event;
}

} // namespace gatehouse
