#include "protocol/exec_output.hpp"
#include "protocol/exec_server.hpp"
#include "protocol/exec_server_fields.hpp"
#include "protocol/json_writer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gatehouse::exec_server {
namespace {

using namespace fields;

constexpr std::size_t longest_id = 1024; // it is sent back

/// Each message of a process carries its id, and ended processes are remembered by it.
result<std::string> process_id(const json_tree& params) {
  auto id = text(params, "processId");
  if (id && id->size() > longest_id)
    return wrong("processId", "has " + std::to_string(id->size()) + " bytes, and at most " +
                                  std::to_string(longest_id) + " are taken");
  return id;
}

result<std::map<std::string, std::string>> table(const json_tree& params, std::string_view name) {
  std::map<std::string, std::string> out;
  const auto* at = member(params, name);
  if (is_null(at)) return out;
  const auto* object = std::get_if<json_tree::object>(&at->value);
  if (!object) return wrong(name, "must be an object of strings");
  for (const auto& [key, value] : *object) {
    const auto* one = std::get_if<std::string>(&value.value);
    if (!one || key.empty() || key.find('=') != std::string::npos ||
        key.find('\0') != std::string::npos || one->find('\0') != std::string::npos)
      return wrong(name, "must be an object of strings");
    out[key] = *one;
  }
  return out;
}

result<std::optional<env_policy>> environment(const json_tree& params) {
  const auto* at = member(params, "envPolicy");
  if (is_null(at)) return std::optional<env_policy>{};
  env_policy policy;
  const auto word = text(*at, "inherit");
  if (!word) return word.error();
  if (*word == "all")
    policy.inherit = inherit::all;
  else if (*word == "core")
    policy.inherit = inherit::core;
  else if (*word != "none")
    return wrong("envPolicy/inherit", "must be none, core or all");
  const auto ignore = flag(*at, "ignoreDefaultExcludes", false);
  auto exclude = texts(*at, "exclude");
  auto set = table(*at, "set");
  auto only = texts(*at, "includeOnly");
  if (!ignore) return ignore.error();
  if (!exclude) return exclude.error();
  if (!set) return set.error();
  if (!only) return only.error();
  policy.ignore_default_excludes = *ignore;
  policy.exclude = *std::move(exclude);
  policy.set = *std::move(set);
  policy.include_only = *std::move(only);
  return std::optional{std::move(policy)};
}

} // namespace

incoming parse_incoming(std::string_view message) {
  incoming in;
  auto tree = parse_json(message, source());
  if (!tree) {
    in.why = tree.error().message;
    return in;
  }
  if (!std::holds_alternative<json_tree::object>(tree->value)) {
    in.why = "a message is one JSON object";
    return in;
  }
  const auto* id = member(*tree, "id");
  const auto* method = member(*tree, "method");
  if (!is_null(id)) {
    const auto* text = std::get_if<std::string>(&id->value);
    if (!std::holds_alternative<std::int64_t>(id->value) && (!text || text->size() > longest_id)) {
      in.why = "`id` is neither a whole number nor a string of at most 1024 bytes";
      return in;
    }
    json_writer out;
    write_tree(out, *id);
    in.id = std::move(out).take();
  }
  if (!method) {
    if (!in.id.empty() && (member(*tree, "result") || member(*tree, "error")))
      in.kind = incoming_kind::response;
    else
      in.why = "`method` is missing";
    return in;
  }
  const auto* name = std::get_if<std::string>(&method->value);
  if (!name) {
    in.why = "`method` is not a string";
    return in;
  }
  in.kind = in.id.empty() ? incoming_kind::notification : incoming_kind::request;
  in.method = *name;
  if (const auto* params = member(*tree, "params")) in.params = *params;
  return in;
}

result<initialize> decode_initialize(const json_tree& params) {
  auto name = text(params, "clientName");
  if (!name) return name.error();
  initialize out{*std::move(name), {}, false};
  const auto binary = number(params, "binaryOutput", 0);
  if (!binary) return binary.error();
  out.binary_output = !is_null(member(params, "binaryOutput"));
  if (out.binary_output && *binary != binary_output_version)
    return wrong("binaryOutput", "has version " + std::to_string(*binary) + ", and only " +
                                     std::to_string(binary_output_version) +
                                     " is known: ask for that, or leave it out");
  if (is_null(member(params, "resumeSessionId"))) return out;
  auto resume = text(params, "resumeSessionId");
  if (!resume) return resume.error();
  out.resume_session_id = *std::move(resume);
  return out;
}

result<process_start> decode_process_start(const json_tree& params) {
  process_start out;
  auto id = process_id(params);
  if (!id) return id.error();
  auto argv = texts(params, "argv");
  if (!argv) return argv.error();
  if (argv->empty()) return error{errc::invalid_request, "argv must not be empty", {}};
  auto cwd = path(params, "cwd");
  if (!cwd) return cwd.error();
  auto env = table(params, "env");
  if (!env) return env.error();
  auto policy = environment(params);
  if (!policy) return policy.error();
  auto boundary = sandbox(params);
  if (!boundary) return boundary.error();
  const auto tty = flag(params, "tty", false);
  if (!tty) return tty.error();
  const auto pipe = flag(params, "pipeStdin", false);
  if (!pipe) return pipe.error();
  const auto network = flag(params, "enforceManagedNetwork", false);
  if (!network) return network.error();
  if (!is_null(member(params, "arg0"))) {
    const auto arg0 = text(params, "arg0");
    if (!arg0) return arg0.error();
    if (*arg0 != argv->front())
      return error{errc::invalid_request, "`arg0` other than the program is not supported", {}};
  }
  for (const auto& word : *argv)
    if (word.find('\0') != std::string::npos)
      return error{errc::invalid_request, "`argv` holds a NUL", {}};
  out.process_id = *std::move(id);
  out.argv = *std::move(argv);
  out.cwd = *std::move(cwd);
  out.env = *std::move(env);
  out.policy = *std::move(policy);
  out.sandbox = *std::move(boundary);
  out.tty = *tty;
  out.pipe_stdin = *pipe;
  out.managed_network = *network;
  return out;
}

result<std::string> decode_process_id(const json_tree& params) {
  return process_id(params);
}

result<process_read> decode_process_read(const json_tree& params) {
  process_read out;
  auto id = process_id(params);
  const auto after = number(params, "afterSeq", 0);
  const auto most = number(params, "maxBytes", std::numeric_limits<std::size_t>::max());
  const auto wait = number(params, "waitMs", 0);
  if (!id) return id.error();
  if (!after) return after.error();
  if (!most) return most.error();
  if (!wait) return wait.error();
  out.process_id = *std::move(id);
  out.after_seq = *after;
  out.max_bytes = *most;
  constexpr std::uint64_t longest = 10 * 60 * 1000;
  out.wait = std::chrono::milliseconds{std::min(*wait, longest)};
  return out;
}

result<process_write> decode_process_write(const json_tree& params) {
  auto id = process_id(params);
  auto chunk = bytes(params, "chunk");
  if (!id) return id.error();
  if (!chunk) return chunk.error();
  process_write out{*std::move(id), *std::move(chunk), {}};
  if (is_null(member(params, "writeId"))) return out;
  auto write_id = text(params, "writeId");
  if (!write_id) return write_id.error();
  out.write_id = *std::move(write_id);
  return out;
}

result<std::string> decode_process_signal(const json_tree& params) {
  auto id = process_id(params);
  if (!id) return id.error();
  const auto signal = text(params, "signal");
  if (!signal) return signal.error();
  if (*signal != "interrupt")
    return error{
        errc::invalid_request, "unknown variant `" + *signal + "`, expected `interrupt`", {}};
  return id;
}

} // namespace gatehouse::exec_server
