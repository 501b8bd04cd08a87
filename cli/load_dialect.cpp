#include "cli/load_dialect.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/path_uri.hpp"

#include <map>
#include <utility>

namespace gatehouse::cli {
namespace {

const json_source reply_source{"a message of the server", errc::io, "", std::size_t{64} << 20U};

/// A member of an object; null when there is none.
const json_tree* member_of(const json_tree& tree, std::string_view name) {
  if (const auto* fields = std::get_if<json_tree::object>(&tree.value))
    for (const auto& field : *fields)
      if (field.name == name) return &field.value;
  return nullptr;
}
std::string text_member(const json_tree* tree) {
  const auto* text = tree ? std::get_if<std::string>(&tree->value) : nullptr;
  return text ? *text : std::string{};
}
std::optional<std::int64_t> number_of(const json_tree* tree) {
  const auto* number = tree ? std::get_if<std::int64_t>(&tree->value) : nullptr;
  return number ? std::optional{*number} : std::nullopt;
}

std::string failure_of(const json_tree& error) {
  const auto* data = member_of(error, "data");
  const auto kind = data ? text_member(member_of(*data, "kind")) : std::string{};
  return "error " + (kind.empty() ? text_member(member_of(error, "message")) : kind);
}

class app_dialect : public load_dialect {
public:
  explicit app_dialect(std::string cwd) : cwd_{std::move(cwd)} {}

  void begin() override {
    send(
        R"({"id":"initialize","method":"initialize","params":{"clientInfo":{"name":"gatehouse-load","version":"1"}}})");
  }
  void call(std::uint64_t number, const load_call& what) override {
    json_writer out;
    out.open('{');
    out.key("id");
    out.number(static_cast<std::int64_t>(number));
    out.field("method", "tool/call");
    out.key("params");
    out.open('{');
    out.field("threadId", thread_);
    out.field("callId", "load-" + std::to_string(number));
    out.field("tool", what.tool);
    out.key("arguments");
    out.raw(what.arguments);
    out.close('}');
    out.close('}');
    send(std::move(out).take());
  }
  void received(std::string_view text) override {
    // Events of the thread are many and have no id; they need not be read.
    const auto tree = parse_json(text, reply_source);
    if (!tree) return on_broken(tree.error().message);
    const auto* id = member_of(*tree, "id");
    if (!id || member_of(*tree, "method")) return;
    const auto* failed = member_of(*tree, "error");
    const auto* done = member_of(*tree, "result");
    if (const auto number = number_of(id)) {
      const auto status = done ? text_member(member_of(*done, "status")) : std::string{};
      const auto code = done ? number_of(member_of(*done, "exitCode")) : std::nullopt;
      on_end(static_cast<std::uint64_t>(*number),
             failed                  ? failure_of(*failed)
             : status != "completed" ? status
             : code == 0             ? std::string{}
                                     : "exit status " + (code ? std::to_string(*code) : "unknown"));
      return;
    }
    if (failed) return on_broken(text_member(member_of(*failed, "message")));
    if (text_member(id) == "initialize") {
      json_writer out;
      out.open('{');
      out.field("id", "thread");
      out.field("method", "thread/start");
      out.key("params");
      out.open('{');
      out.field("cwd", cwd_);
      out.close('}');
      out.close('}');
      send(R"({"method":"initialized","params":{}})");
      return send(std::move(out).take());
    }
    const auto* thread = done ? member_of(*done, "thread") : nullptr;
    thread_ = thread ? text_member(member_of(*thread, "id")) : std::string{};
    if (thread_.empty()) return on_broken("the server opened no thread");
    on_ready();
  }

private:
  std::string cwd_;
  std::string thread_;
};

class exec_dialect : public load_dialect {
public:
  void begin() override {
    send(R"({"id":"initialize","method":"initialize","params":{"clientName":"gatehouse-load"}})");
  }
  void call(std::uint64_t number, const load_call& what) override {
    const auto n = std::to_string(number);
    running_[n]; // its exit status comes before its end
    // The parameters are an object; ours is one more member of it.
    send("{\"id\":" + n + ",\"method\":\"process/start\",\"params\":{\"processId\":\"" + n + "\"," +
         what.arguments.substr(what.arguments.find('{') + 1) + "}");
  }
  void received(std::string_view text) override {
    const auto tree = parse_json(text, reply_source);
    if (!tree) return on_broken(tree.error().message);
    const auto method = text_member(member_of(*tree, "method"));
    const auto* params = member_of(*tree, "params");
    const auto process = params ? text_member(member_of(*params, "processId")) : std::string{};
    if (method == "process/exited" && running_.contains(process)) {
      const auto code = number_of(member_of(*params, "exitCode")).value_or(-1);
      if (code != 0) running_[process] = "exit status " + std::to_string(code);
    } else if (method == "process/closed") {
      end(process, {});
    } else if (method.empty()) {
      const auto* id = member_of(*tree, "id");
      const auto* failed = member_of(*tree, "error");
      if (const auto number = number_of(id)) {
        if (failed) end(std::to_string(*number), failure_of(*failed));
        return;
      }
      if (failed) return on_broken(text_member(member_of(*failed, "message")));
      send(R"({"method":"initialized","params":{}})");
      on_ready();
    }
  }

private:
  void end(const std::string& process, std::string trouble) {
    auto found = running_.extract(process);
    if (found.empty()) return;
    if (trouble.empty()) trouble = std::move(found.mapped());
    on_end(std::stoull(process), std::move(trouble));
  }

  std::map<std::string, std::string> running_; ///< by number; what went wrong so far
};

} // namespace

result<std::vector<load_call>> read_mix(std::string_view text, const std::string& name,
                                        load_protocol protocol) {
  std::vector<load_call> mix;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const json_source source{name + ":" + std::to_string(number), errc::invalid_request,
                             "Correct this line.", std::size_t{1} << 20U};
    const auto tree = parse_json(line, source);
    if (!tree) return tree.error();
    const json_node node{*tree, source};
    const auto fields = protocol == load_protocol::app
                            ? node.object({"tool", "arguments", "weight"})
                            : node.object({"params", "weight"});
    if (!fields) return fields.error();
    const auto what = fields->need(protocol == load_protocol::app ? "arguments" : "params");
    if (!what) return what.error();
    const auto inner = what->open_object();
    if (!inner) return inner.error();
    if (protocol == load_protocol::exec && (inner->all().empty() || inner->find("processId")))
      return what->wrong("parameters of process/start without `processId`");
    load_call call;
    call.arguments = what->encode();
    const auto tool = fields->optional_text("tool");
    if (!tool) return tool.error();
    call.tool = tool->empty() ? "shell_command" : *tool;
    if (const auto weight = fields->find("weight")) {
      const auto number_read = weight->integer(1, 1'000'000);
      if (!number_read) return number_read.error();
      call.weight = *number_read;
    }
    mix.push_back(std::move(call));
  }
  if (mix.empty()) return error{errc::invalid_request, name + " holds no call", {}};
  return mix;
}

load_call default_call(load_protocol protocol, const std::string& cwd) {
  if (protocol == load_protocol::app) return {"shell_command", R"({"command":"/bin/true"})", 1};
  json_writer out;
  out.open('{');
  out.key("argv");
  out.raw(R"(["/bin/true"])");
  out.field("cwd", "file://" + cwd);
  out.key("env");
  out.raw(R"({"PATH":"/usr/bin:/bin"})");
  out.key("tty");
  out.boolean(false);
  out.key("arg0");
  out.null();
  out.key("sandbox");
  out.open('{');
  out.key("permissions");
  out.raw(R"({"type":"managed","file_system":{"type":"restricted","entries":[{"path":{"type":)"
          R"("special","value":{"kind":"root"}},"access":"read"}]},"network":"restricted"})");
  out.field("cwd", "file://" + cwd);
  out.key("workspaceRoots");
  out.open('[');
  out.item();
  out.text("file://" + cwd);
  out.close(']');
  out.field("windowsSandboxLevel", "disabled");
  out.field("windowsSandboxProxySettingsMode", "reconcile");
  out.key("useLegacyLandlock");
  out.boolean(false);
  out.close('}');
  out.close('}');
  return {{}, std::move(out).take(), 1};
}

std::unique_ptr<load_dialect> make_dialect(load_protocol protocol, std::string cwd) {
  if (protocol == load_protocol::app) return std::make_unique<app_dialect>(std::move(cwd));
  return std::make_unique<exec_dialect>();
}

} // namespace gatehouse::cli
