#include "protocol/base64.hpp"
#include "protocol/exec_output.hpp"
#include "protocol/exec_server.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/path_uri.hpp"
#include "protocol/profile_json.hpp"

#include <algorithm>
#include <limits>

namespace gatehouse::exec_server {
namespace {

constexpr std::size_t longest_id = 1024; // it is sent back

const json_source& source() {
  static const json_source s{"the request", errc::invalid_request, {}, 16 * 1024 * 1024};
  return s;
}

const json_tree* member(const json_tree& tree, std::string_view name) {
  const auto* object = std::get_if<json_tree::object>(&tree.value);
  if (!object) return nullptr;
  for (const auto& [key, value] : *object)
    if (key == name) return &value;
  return nullptr;
}

bool is_null(const json_tree* tree) {
  return !tree || std::holds_alternative<std::monostate>(tree->value);
}

error wrong(std::string_view name, std::string_view what) {
  return {errc::invalid_request, "`" + std::string{name} + "` " + std::string{what}, {}};
}

result<std::string> text(const json_tree& params, std::string_view name) {
  const auto* at = member(params, name);
  if (is_null(at)) return wrong(name, "is missing");
  const auto* value = std::get_if<std::string>(&at->value);
  if (!value) return wrong(name, "must be a string");
  return *value;
}

/// Each message of a process carries its id, and ended processes are remembered by it.
result<std::string> process_id(const json_tree& params) {
  constexpr std::size_t longest = 1024;
  auto id = text(params, "processId");
  if (id && id->size() > longest)
    return wrong("processId", "has " + std::to_string(id->size()) + " bytes, and at most " +
                                  std::to_string(longest) + " are taken");
  return id;
}

result<bool> flag(const json_tree& params, std::string_view name, bool fallback) {
  const auto* at = member(params, name);
  if (is_null(at)) return fallback;
  const auto* value = std::get_if<bool>(&at->value);
  if (!value) return wrong(name, "must be true or false");
  return *value;
}

result<std::uint64_t> number(const json_tree& params, std::string_view name,
                             std::uint64_t fallback) {
  const auto* at = member(params, name);
  if (is_null(at)) return fallback;
  const auto* value = std::get_if<std::int64_t>(&at->value);
  if (!value || *value < 0) return wrong(name, "must be a whole number, not negative");
  return static_cast<std::uint64_t>(*value);
}

result<std::vector<std::string>> texts(const json_tree& params, std::string_view name) {
  const auto* at = member(params, name);
  if (is_null(at)) return std::vector<std::string>{};
  const auto* list = std::get_if<json_tree::array>(&at->value);
  if (!list) return wrong(name, "must be a list of strings");
  std::vector<std::string> out;
  for (const auto& one : *list) {
    const auto* value = std::get_if<std::string>(&one.value);
    if (!value) return wrong(name, "must be a list of strings");
    out.push_back(*value);
  }
  return out;
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

result<std::string> path_from(std::string_view uri) {
  const auto parsed = parse_path_uri(uri);
  if (!parsed) return parsed.error();
  return native_path(*parsed);
}

result<std::string> path(const json_tree& params, std::string_view name) {
  const auto uri = text(params, name);
  if (!uri) return uri.error();
  return path_from(*uri);
}

result<std::vector<std::string>> paths(const json_tree& params, std::string_view name) {
  const auto uris = texts(params, name);
  if (!uris) return uris.error();
  std::vector<std::string> out;
  for (const auto& uri : *uris) {
    auto one = path_from(uri);
    if (!one) return one.error();
    out.push_back(*std::move(one));
  }
  return out;
}

result<std::string> bytes(const json_tree& params, std::string_view name) {
  const auto encoded = text(params, name);
  if (!encoded) return encoded.error();
  auto decoded = decode_base64(*encoded);
  if (!decoded) return wrong(name, "is not base64");
  return *std::move(decoded);
}

void write(json_writer& out, const json_tree& tree);
/// As it came; only URIs of entry paths have become paths, which is what a profile holds.
result<void> localise(json_tree& tree) {
  if (auto* list = std::get_if<json_tree::array>(&tree.value)) {
    for (auto& one : *list)
      if (auto ok = localise(one); !ok) return ok;
  } else if (auto* object = std::get_if<json_tree::object>(&tree.value)) {
    const auto* type = member(tree, "type");
    const auto* word = type ? std::get_if<std::string>(&type->value) : nullptr;
    for (auto& [key, value] : *object) {
      auto* string = std::get_if<std::string>(&value.value);
      if (word && *word == "path" && key == "path" && string) {
        auto local = path_from(*string);
        if (!local) return local.error();
        *string = *std::move(local);
      } else if (auto ok = localise(value); !ok) {
        return ok;
      }
    }
  }
  return {};
}

void write(json_writer& out, const json_tree& tree) {
  struct visitor {
    json_writer& out;
    void operator()(std::monostate) const { out.null(); }
    void operator()(bool v) const { out.boolean(v); }
    void operator()(std::int64_t v) const { out.number(v); }
    void operator()(double v) const { out.raw(std::to_string(v)); }
    void operator()(const std::string& v) const { out.text(v); }
    void operator()(const json_tree::array& v) const {
      out.open('[');
      for (const auto& one : v) {
        out.item();
        write(out, one);
      }
      out.close(']');
    }
    void operator()(const json_tree::object& v) const {
      out.open('{');
      for (const auto& [key, one] : v) {
        out.key(key);
        write(out, one);
      }
      out.close('}');
    }
  };
  std::visit(visitor{out}, tree.value);
}

result<std::optional<sandbox_terms>> sandbox(const json_tree& params) {
  const auto* at = member(params, "sandbox");
  if (is_null(at)) return std::optional<sandbox_terms>{};
  const auto* permissions = member(*at, "permissions");
  if (is_null(permissions)) return wrong("sandbox", "has no `permissions`");
  auto local = *permissions;
  if (auto ok = localise(local); !ok) return ok.error();
  json_writer out;
  write(out, local);
  auto profile = decode_profile(std::move(out).take());
  if (!profile) return profile.error();
  sandbox_terms terms;
  terms.profile = *std::move(profile);
  auto cwd = path(*at, "cwd");
  if (!cwd) return cwd.error();
  auto roots = paths(*at, "workspaceRoots");
  if (!roots) return roots.error();
  const auto legacy = flag(*at, "useLegacyLandlock", false);
  if (!legacy) return legacy.error();
  terms.cwd = *std::move(cwd);
  terms.workspace_roots = *std::move(roots);
  if (terms.workspace_roots.empty()) terms.workspace_roots = {terms.cwd};
  terms.legacy_landlock = *legacy;
  return std::optional{std::move(terms)};
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
    write(out, *id);
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

namespace {
constexpr std::pair<std::string_view, file_method> file_methods[] = {
    {"fs/readFile", file_method::read_file},
    {"fs/writeFile", file_method::write_file},
    {"fs/createDirectory", file_method::create_directory},
    {"fs/getMetadata", file_method::get_metadata},
    {"fs/canonicalize", file_method::canonicalize},
    {"fs/readDirectory", file_method::read_directory},
    {"fs/walk", file_method::walk},
    {"fs/remove", file_method::remove},
    {"fs/copy", file_method::copy}};
} // namespace

std::optional<file_method> file_method_from(std::string_view name) noexcept {
  for (const auto& [known, method] : file_methods)
    if (known == name) return method;
  return std::nullopt;
}

std::string_view to_string(file_method method) noexcept {
  for (const auto& [name, known] : file_methods)
    if (known == method) return name;
  return method == file_method::write_range ? "fs/writeBlock" : "fs/readBlock";
}

result<file_call> decode_file_call(file_method method, const json_tree& params) {
  file_call out;
  out.method = method;
  auto where = path(params, method == file_method::copy ? "sourcePath" : "path");
  if (!where) return where.error();
  out.path = *std::move(where);
  auto boundary = sandbox(params);
  if (!boundary) return boundary.error();
  out.sandbox = *std::move(boundary);
  const auto recursive = flag(params, "recursive", false);
  if (!recursive) return recursive.error();
  out.recursive = *recursive;
  const auto force = flag(params, "force", false);
  if (!force) return force.error();
  out.force = *force;
  if (method == file_method::copy) {
    auto to = path(params, "destinationPath");
    if (!to) return to.error();
    out.destination = *std::move(to);
  }
  if (method == file_method::write_file) {
    auto data = bytes(params, "dataBase64");
    if (!data) return data.error();
    out.bytes = *std::move(data);
  }
  if (const auto* options = member(params, "options"); method == file_method::walk && options) {
    const auto depth = number(*options, "maxDepth", 0);
    const auto folders = number(*options, "maxDirectories", 0);
    const auto entries = number(*options, "maxEntries", 0);
    const auto follow = flag(*options, "followDirectorySymlinks", false);
    const auto prune = flag(*options, "pruneHiddenDirectories", false);
    if (!depth) return depth.error();
    if (!folders) return folders.error();
    if (!entries) return entries.error();
    if (!follow) return follow.error();
    if (!prune) return prune.error();
    constexpr std::uint64_t most = 1'000'000;
    out.max_depth = static_cast<std::uint32_t>(std::min(*depth, most));
    out.max_directories = static_cast<std::uint32_t>(std::min(*folders, most));
    out.max_entries = static_cast<std::uint32_t>(std::min(*entries, most));
    out.follow_links = *follow;
    out.prune_hidden = *prune;
  }
  return out;
}

std::string encode_file_call(const file_call& call) {
  json_writer out;
  out.open('{');
  out.key("method");
  out.number(static_cast<int>(call.method));
  out.field("path", encode_base64(call.path));
  out.field("destination", encode_base64(call.destination));
  out.field("bytes", encode_base64(call.bytes));
  const std::pair<std::string_view, std::uint64_t> numbers[] = {
      {"recursive", call.recursive},
      {"force", call.force},
      {"offset", call.offset},
      {"length", call.length},
      {"truncate", call.truncate},
      {"depth", call.max_depth},
      {"directories", call.max_directories},
      {"entries", call.max_entries},
      {"follow", call.follow_links},
      {"prune", call.prune_hidden}};
  for (const auto& [name, value] : numbers) {
    out.key(name);
    out.number(static_cast<std::int64_t>(value));
  }
  out.close('}');
  return std::move(out).take();
}

result<file_call> decode_own_file_call(std::string_view message) {
  auto own = source();
  own.max_bytes = 64 * 1024 * 1024;
  const auto tree = parse_json(message, own);
  if (!tree) return tree.error();
  file_call out;
  const auto method = number(*tree, "method", 0);
  auto where = bytes(*tree, "path");
  auto to = bytes(*tree, "destination");
  auto data = bytes(*tree, "bytes");
  if (!method || !where || !to || !data) return error{errc::invalid_request, "not a file call", {}};
  out.method = static_cast<file_method>(*method);
  out.path = *std::move(where);
  out.destination = *std::move(to);
  out.bytes = *std::move(data);
  const auto value = [&](std::string_view name) { return number(*tree, name, 0).value_or(0); };
  out.recursive = value("recursive") != 0;
  out.force = value("force") != 0;
  out.offset = value("offset");
  out.length = value("length");
  out.truncate = value("truncate") != 0;
  out.max_depth = static_cast<std::uint32_t>(value("depth"));
  out.max_directories = static_cast<std::uint32_t>(value("directories"));
  out.max_entries = static_cast<std::uint32_t>(value("entries"));
  out.follow_links = value("follow") != 0;
  out.prune_hidden = value("prune") != 0;
  return out;
}

result<file_answer> decode_file_answer(std::string_view message) {
  auto own = source();
  own.max_bytes = 64 * 1024 * 1024;
  const auto tree = parse_json(message, own);
  if (!tree) return tree.error();
  file_answer out;
  if (const auto* failed = member(*tree, "error")) {
    const auto* number_of = member(*failed, "code");
    const auto* value = number_of ? std::get_if<std::int64_t>(&number_of->value) : nullptr;
    auto why = text(*failed, "message");
    if (!value || !why) return error{errc::invalid_request, "not a file answer", {}};
    out.failed = failure{static_cast<int>(*value), *std::move(why), {}, {}};
    if (const auto* data = member(*failed, "data"))
      if (auto kind = text(*data, "kind")) out.failed->kind = *std::move(kind);
    return out;
  }
  const auto* answer = member(*tree, "result");
  if (!answer) return error{errc::invalid_request, "not a file answer", {}};
  json_writer json;
  write(json, *answer);
  out.result = std::move(json).take();
  return out;
}

result<handle_open> decode_handle_open(const json_tree& params) {
  auto id = text(params, "handleId");
  auto where = path(params, "path");
  auto boundary = sandbox(params);
  if (!id) return id.error();
  if (!where) return where.error();
  if (!boundary) return boundary.error();
  handle_open out{*std::move(id), *std::move(where), false, *std::move(boundary)};
  if (is_null(member(params, "mode"))) return out;
  const auto mode = text(params, "mode");
  if (!mode) return mode.error();
  if (*mode != "read" && *mode != "replace")
    return error{
        errc::invalid_request, "unknown variant `" + *mode + "`, expected `read` or `replace`", {}};
  out.replace = *mode == "replace";
  return out;
}

result<std::string> decode_handle_id(const json_tree& params) {
  return text(params, "handleId");
}

result<handle_block> decode_handle_block(const json_tree& params, bool is_write) {
  auto id = text(params, "handleId");
  if (!id) return id.error();
  const auto offset = number(params, "offset", 0);
  if (!offset) return offset.error();
  handle_block out{*std::move(id), *offset, 0, {}};
  if (is_write) {
    auto chunk = bytes(params, "chunk");
    if (!chunk) return chunk.error();
    out.bytes = *std::move(chunk);
  } else {
    const auto length = number(params, "len", 0);
    if (!length) return length.error();
    constexpr std::uint64_t most = 8 * 1024 * 1024;
    out.length = std::min(*length, most);
  }
  return out;
}

result<watch_missing> decode_watch_missing(const json_tree& params) {
  const auto id = number(params, "watchId", 0);
  auto missing = paths(params, "missing");
  auto present = path(params, "present");
  if (!id) return id.error();
  if (!missing) return missing.error();
  if (!present) return present.error();
  return watch_missing{static_cast<std::int64_t>(*id), *std::move(missing), *std::move(present)};
}

} // namespace gatehouse::exec_server
