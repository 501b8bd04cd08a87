#include "protocol/base64.hpp"
#include "protocol/exec_server.hpp"
#include "protocol/exec_server_fields.hpp"
#include "protocol/json_writer.hpp"

#include <algorithm>
#include <utility>

/// The exec server's calls about files: read from requests, and handed to the program that makes
/// them inside the boundary.
namespace gatehouse::exec_server {
namespace {

using namespace fields;

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
  write_tree(json, *answer);
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
