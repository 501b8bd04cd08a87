#include "protocol/exec_client.hpp"

#include "protocol/base64.hpp"
#include "protocol/exec_output.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/path_uri.hpp"
#include "protocol/profile_json.hpp"

#include <limits>
#include <utility>

namespace gatehouse::exec_client {
namespace {

using exec_server::failure;

const json_source& server_message() {
  static const json_source s{
      "a message of the exec server", errc::invalid_request, {}, std::size_t{16} * 1024 * 1024};
  return s;
}

/// One field of an answer.
result<json_node> field_of(const json_tree& answer, std::string_view name) {
  const auto fields = json_node{answer, server_message()}.open_object();
  return fields ? fields->need(name) : fields.error();
}

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

json_writer begin() {
  json_writer json;
  json.open('{');
  return json;
}
std::string finish(json_writer json) {
  json.close('}');
  return std::move(json).take();
}

void write_texts(json_writer& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name);
  json.open('[');
  for (const auto& text : texts) {
    json.item();
    json.text(text);
  }
  json.close(']');
}

void write_table(json_writer& json, std::string_view name,
                 const std::map<std::string, std::string>& table) {
  json.key(name);
  json.open('{');
  for (const auto& [key, value] : table)
    json.field(key, value);
  json.close('}');
}

/// Of a rooted path of a machine with these paths.
std::string uri_of(path_convention paths, std::string_view path) {
  return to_string(from_rooted_path(paths, path));
}

/// Paths of entries, which a profile holds as paths, become URIs.
void globalise(json_tree& tree, path_convention paths) {
  if (auto* list = std::get_if<json_tree::array>(&tree.value)) {
    for (auto& one : *list)
      globalise(one, paths);
    return;
  }
  auto* object = std::get_if<json_tree::object>(&tree.value);
  if (!object) return;
  bool is_path = false;
  for (const auto& [key, value] : *object) {
    const auto* word = std::get_if<std::string>(&value.value);
    is_path |= key == "type" && word && *word == "path";
  }
  for (auto& [key, value] : *object) {
    auto* text = std::get_if<std::string>(&value.value);
    if (is_path && key == "path" && text)
      *text = uri_of(paths, *text);
    else
      globalise(value, paths);
  }
}

void write_sandbox(json_writer& json, const exec_server::sandbox_terms& terms,
                   path_convention paths) {
  auto permissions = parse_json(encode_profile(terms.profile), server_message());
  json.open('{');
  json.key("permissions");
  if (permissions) {
    globalise(*permissions, paths);
    write_tree(json, *permissions);
  } else {
    json.null(); // cannot be: we wrote it
  }
  json.field("cwd", uri_of(paths, terms.cwd));
  std::vector<std::string> roots;
  for (const auto& root : terms.workspace_roots)
    roots.push_back(uri_of(paths, root));
  write_texts(json, "workspaceRoots", roots);
  json.field("windowsSandboxLevel", "disabled");
  json.field("windowsSandboxProxySettingsMode", "reconcile");
  json.key("useLegacyLandlock");
  json.boolean(terms.legacy_landlock);
  json.close('}');
}

std::string_view word_of(exec_server::inherit inherit) {
  switch (inherit) {
  case exec_server::inherit::all: return "all";
  case exec_server::inherit::core: return "core";
  case exec_server::inherit::none: break;
  }
  return "none";
}

result<std::string> bytes_of(const json_fields& fields) {
  const auto chunk = fields.need("chunk");
  if (!chunk) return chunk.error();
  const auto text = chunk->text();
  if (!text) return text.error();
  auto bytes = decode_base64(*text);
  if (!bytes) return chunk->wrong("is not base64");
  return *std::move(bytes);
}

result<std::uint64_t> number_of(const json_fields& fields, std::string_view name) {
  const auto node = fields.need(name);
  if (!node) return node.error();
  const auto number = node->integer(0, most);
  if (!number) return number.error();
  return static_cast<std::uint64_t>(*number);
}

result<bool> flag_of(const json_fields& fields, std::string_view name) {
  const auto node = fields.find(name);
  if (!node || node->is_null()) return false;
  return node->boolean();
}

result<process_event::output> output_of(const json_fields& fields) {
  const auto stream = fields.need("stream");
  if (!stream) return stream.error();
  auto word = stream->text();
  if (!word) return word.error();
  auto bytes = bytes_of(fields);
  if (!bytes) return bytes.error();
  return process_event::output{*std::move(word), *std::move(bytes)};
}

using message = std::variant<process_event, answer, other>;

result<message> event_of(std::string_view method, const json_fields& fields) {
  process_event event;
  const auto process = fields.need("processId");
  if (!process) return process.error();
  auto id = process->text();
  if (!id) return id.error();
  event.process_id = *std::move(id);
  const auto seq = number_of(fields, "seq");
  if (!seq) return seq.error();
  event.seq = *seq;
  if (method == "process/output") {
    auto said = output_of(fields);
    if (!said) return said.error();
    event.what = *std::move(said);
  } else if (method == "process/exited") {
    const auto code = fields.need("exitCode");
    if (!code) return code.error();
    const auto number =
        code->integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    if (!number) return number.error();
    const auto denied = flag_of(fields, "sandboxDenied");
    if (!denied) return denied.error();
    event.what = process_event::exited{static_cast<int>(*number), *denied};
  } else {
    event.what = process_event::closed{};
  }
  return message{std::move(event)};
}

result<failure> failure_of(const json_node& node) {
  const auto fields = node.open_object();
  if (!fields) return fields.error();
  failure why;
  const auto code = fields->need("code");
  if (!code) return code.error();
  const auto number = code->integer(-100'000, 100'000);
  if (!number) return number.error();
  why.code = static_cast<int>(*number);
  auto text = fields->optional_text("message");
  if (!text) return text.error();
  why.message = *std::move(text);
  if (const auto data = fields->find("data"); data && !data->is_null())
    if (const auto inner = data->open_object()) {
      if (auto kind = inner->optional_text("kind")) why.kind = *std::move(kind);
      if (auto path = inner->optional_text("path")) why.path = *std::move(path);
    }
  return why;
}

} // namespace

std::string initialize_params(std::string_view client_name, std::string_view resume_session_id) {
  auto json = begin();
  json.field("clientName", client_name);
  json.key("binaryOutput");
  json.number(static_cast<std::int64_t>(exec_server::binary_output_version));
  if (!resume_session_id.empty()) json.field("resumeSessionId", resume_session_id);
  return finish(std::move(json));
}

std::string start_params(const exec_server::process_start& what) {
  auto json = begin();
  json.field("processId", what.process_id);
  write_texts(json, "argv", what.argv);
  json.field("cwd", uri_of(what.paths, what.cwd));
  write_table(json, "env", what.env);
  if (what.policy) {
    json.key("envPolicy");
    json.open('{');
    json.field("inherit", word_of(what.policy->inherit));
    json.key("ignoreDefaultExcludes");
    json.boolean(what.policy->ignore_default_excludes);
    write_texts(json, "exclude", what.policy->exclude);
    write_table(json, "set", what.policy->set);
    write_texts(json, "includeOnly", what.policy->include_only);
    json.close('}');
  }
  json.key("tty");
  json.boolean(what.tty);
  json.key("pipeStdin");
  json.boolean(what.pipe_stdin);
  json.key("arg0");
  json.null();
  json.key("sandbox");
  if (what.sandbox)
    write_sandbox(json, *what.sandbox, what.paths);
  else
    json.null();
  json.key("enforceManagedNetwork");
  json.boolean(what.managed_network);
  return finish(std::move(json));
}

std::string read_params(std::string_view process_id, std::uint64_t after_seq) {
  auto json = begin();
  json.field("processId", process_id);
  json.key("afterSeq");
  json.number(static_cast<std::int64_t>(after_seq));
  json.key("waitMs");
  json.number(0);
  return finish(std::move(json));
}

std::string write_params(std::string_view process_id, std::string_view bytes,
                         std::string_view write_id) {
  auto json = begin();
  json.field("processId", process_id);
  json.field("chunk", encode_base64(bytes));
  json.field("writeId", write_id);
  return finish(std::move(json));
}

std::string signal_params(std::string_view process_id) {
  auto json = begin();
  json.field("processId", process_id);
  json.field("signal", "interrupt");
  return finish(std::move(json));
}

std::string process_params(std::string_view process_id) {
  auto json = begin();
  json.field("processId", process_id);
  return finish(std::move(json));
}

std::string encode_request(std::uint64_t id, std::string_view method, std::string_view params) {
  std::string out = "{\"id\":" + std::to_string(id) + ",\"method\":\"";
  return out.append(method).append("\",\"params\":").append(params).append("}");
}

std::string encode_notification(std::string_view method) {
  return std::string{"{\"method\":\""}.append(method).append("\",\"params\":{}}");
}

result<std::variant<process_event, answer, other>> decode_message(std::string_view text) {
  const auto tree = parse_json(text, server_message());
  if (!tree) return tree.error();
  const json_node root{*tree, server_message()};
  const auto fields = root.open_object();
  if (!fields) return fields.error();
  if (const auto method = fields->find("method")) {
    const auto name = method->text();
    if (!name) return name.error();
    if (*name != "process/output" && *name != "process/exited" && *name != "process/closed")
      return message{other{}};
    const auto params = fields->need("params");
    if (!params) return params.error();
    const auto inner = params->open_object();
    if (!inner) return inner.error();
    return event_of(*name, *inner);
  }
  const auto id = fields->need("id");
  if (!id) return id.error();
  const auto number = id->integer(-1, most);
  if (!number) return number.error();
  if (*number < 0) return id->wrong("the server could not read a message of ours");
  answer said;
  said.id = static_cast<std::uint64_t>(*number);
  if (const auto why = fields->find("error"); why && !why->is_null()) {
    auto failed = failure_of(*why);
    if (!failed) return failed.error();
    said.failed = *std::move(failed);
  } else if (const auto value = fields->find("result")) {
    said.result = value->tree();
  }
  return message{std::move(said)};
}

result<read_result> decode_read(std::string_view process_id, const json_tree& tree) {
  const json_node root{tree, server_message()};
  const auto fields = root.open_object();
  if (!fields) return fields.error();
  read_result out;
  const auto chunks = fields->need("chunks");
  if (!chunks) return chunks.error();
  const auto list = chunks->array();
  if (!list) return list.error();
  for (const auto& one : *list) {
    const auto inner = one.open_object();
    if (!inner) return inner.error();
    const auto seq = number_of(*inner, "seq");
    if (!seq) return seq.error();
    auto said = output_of(*inner);
    if (!said) return said.error();
    out.chunks.push_back({std::string{process_id}, *seq, *std::move(said)});
  }
  const auto next = number_of(*fields, "nextSeq");
  const auto exited = flag_of(*fields, "exited");
  const auto closed = flag_of(*fields, "closed");
  const auto denied = flag_of(*fields, "sandboxDenied");
  if (!next) return next.error();
  for (const auto* flag : {&exited, &closed, &denied})
    if (!*flag) return flag->error();
  out.next_seq = *next;
  out.exited = *exited;
  out.closed = *closed;
  out.sandbox_denied = *denied;
  if (const auto dropped = fields->find("droppedBytes")) {
    const auto bytes = dropped->integer(0, most);
    if (!bytes) return bytes.error();
    out.lost_bytes = static_cast<std::uint64_t>(*bytes);
  }
  if (const auto code = fields->find("exitCode"); code && !code->is_null()) {
    const auto value =
        code->integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    if (!value) return value.error();
    out.exit_code = static_cast<int>(*value);
  }
  return out;
}

result<process_event> decode_output(std::string_view message) {
  const auto said = exec_server::decode_binary_output(message);
  if (!said) return said.error();
  return process_event{std::string{said->process_id}, said->seq,
                       process_event::output{std::string{said->stream}, std::string{said->bytes}}};
}

result<greeting> decode_greeting(const json_tree& tree) {
  const json_node root{tree, server_message()};
  const auto fields = root.open_object();
  if (!fields) return fields.error();
  const auto id = fields->need("sessionId");
  if (!id) return id.error();
  auto text = id->text();
  if (!text) return text.error();
  greeting out{*std::move(text), false};
  if (const auto binary = fields->find("binaryOutput"); binary && !binary->is_null()) {
    constexpr auto known = static_cast<std::int64_t>(exec_server::binary_output_version);
    if (const auto version = binary->integer(known, known); !version) return version.error();
    out.binary_output = true;
  }
  return out;
}

result<bool> decode_running(const json_tree& tree) {
  const auto running = field_of(tree, "running");
  return running ? running->boolean() : running.error();
}

result<std::string> decode_write(const json_tree& tree) {
  const auto status = field_of(tree, "status");
  return status ? status->text() : status.error();
}

} // namespace gatehouse::exec_client
