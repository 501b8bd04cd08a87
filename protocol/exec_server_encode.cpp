#include "protocol/base64.hpp"
#include "protocol/exec_output.hpp"
#include "protocol/exec_server.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/path_uri.hpp"
#include "protocol/utf8.hpp"

namespace gatehouse::exec_server {
namespace {

std::string quoted(std::string_view text) {
  json_writer out;
  out.text(text);
  return std::move(out).take();
}

// What a peer sends is not sent back to it at any length.
constexpr std::size_t longest_message = 2000;
constexpr std::size_t longest_path = 4096;

void add_failure(json_writer& out, const failure& why) {
  out.open('{');
  out.key("code");
  out.number(why.code);
  if (!why.kind.empty()) {
    out.key("data");
    out.open('{');
    out.field("kind", why.kind);
    if (!why.path.empty()) out.field("path", abridged(why.path, longest_path));
    out.close('}');
  }
  out.field("message", abridged(why.message, longest_message));
  out.close('}');
}

} // namespace

std::string encode_result(std::string_view id, std::string_view result_json) {
  std::string out = "{\"id\":";
  return out.append(id).append(",\"result\":").append(result_json).append("}");
}

std::string encode_failure(std::string_view id, const failure& why) {
  json_writer out;
  out.open('{');
  out.key("error");
  add_failure(out, why);
  out.key("id");
  out.raw(id);
  out.close('}');
  return std::move(out).take();
}

std::string encode_file_answer(const file_answer& answer) {
  if (!answer.failed) return "{\"result\":" + answer.result + "}";
  json_writer out;
  out.open('{');
  out.key("error");
  add_failure(out, *answer.failed);
  out.close('}');
  return std::move(out).take();
}

std::string encode_output(std::string_view process_id, std::uint64_t seq, std::string_view stream,
                          std::string_view bytes) {
  std::string out = R"({"method":"process/output","params":{"processId":)";
  out.reserve(out.size() + process_id.size() + bytes.size() / 3 * 4 + 96);
  out.append(quoted(process_id)).append(",\"seq\":").append(std::to_string(seq));
  out.append(",\"stream\":\"").append(stream).append("\",\"chunk\":\"");
  append_base64(out, bytes);
  return out.append("\"}}");
}

std::string encode_exited(std::string_view process_id, std::uint64_t seq, int exit_code,
                          bool sandbox_denied) {
  return R"({"method":"process/exited","params":{"processId":)" + quoted(process_id) +
         ",\"seq\":" + std::to_string(seq) + ",\"exitCode\":" + std::to_string(exit_code) +
         ",\"sandboxDenied\":" + (sandbox_denied ? "true" : "false") + "}}";
}

std::string encode_closed(std::string_view process_id, std::uint64_t seq) {
  return R"({"method":"process/closed","params":{"processId":)" + quoted(process_id) +
         ",\"seq\":" + std::to_string(seq) + "}}";
}

std::string encode_missing_changed(std::int64_t watch_id) {
  return R"({"method":"fs/missingChanged","params":{"watchId":)" + std::to_string(watch_id) + "}}";
}

std::string encode_read_answer(const read_answer& answer) {
  std::string out = "{\"chunks\":[";
  bool first = true;
  for (const auto& chunk : answer.chunks) {
    out += first ? "{\"seq\":" : ",{\"seq\":";
    first = false;
    out.append(std::to_string(chunk.seq)).append(",\"stream\":\"").append(chunk.stream);
    out.append("\",\"chunk\":\"");
    append_base64(out, chunk.bytes);
    out.append("\"}");
  }
  json_writer rest;
  rest.open('{');
  rest.key("nextSeq");
  rest.number(static_cast<std::int64_t>(answer.next_seq));
  rest.key("exited");
  rest.boolean(answer.exited);
  rest.key("exitCode");
  if (answer.exit_code)
    rest.number(*answer.exit_code);
  else
    rest.null();
  rest.key("closed");
  rest.boolean(answer.closed);
  rest.key("failure");
  rest.null();
  rest.key("sandboxDenied");
  rest.boolean(answer.sandbox_denied);
  if (answer.dropped_bytes > 0) {
    rest.key("droppedBytes");
    rest.number(static_cast<std::int64_t>(answer.dropped_bytes));
  }
  rest.close('}');
  return out.append("],").append(std::move(rest).take().substr(1));
}

std::string encode_started(std::string_view process_id, bool sandboxed) {
  return "{\"processId\":" + quoted(process_id) + ",\"sandboxType\":\"" +
         (sandboxed ? "linuxSeccomp" : "none") + "\"}";
}

std::string encode_handle(std::string_view handle_id) {
  return "{\"handleId\":" + quoted(handle_id) + "}";
}

std::string encode_environment_info(const environment_info& info) {
  json_writer out;
  out.open('{');
  out.key("shell");
  out.open('{');
  out.field("name", info.shell_name);
  out.field("path", info.shell_path);
  out.close('}');
  out.field("executorVersion", info.version);
  out.field("providerId", "gatehouse");
  out.field("cwd", file_uri(info.cwd));
  out.field("userHomeDir", file_uri(info.home));
  out.field("platformOs", "linux");
  out.key("prependPathDirs");
  out.open('[');
  out.close(']');
  out.key("temporaryDirectories");
  out.open('[');
  out.item();
  out.text(file_uri(info.tmpdir));
  out.close(']');
  out.field("tempDir", file_uri(info.tmpdir));
  out.key("capabilities");
  out.open('{');
  const std::pair<std::string_view, bool> capabilities[] = {
      {"networkProxyLaunch", false},
      {"networkProxyReviewDomains", false},
      {"networkProxyTransparentTcp", false},
      {"credentialMasking", false},
      {"credentialMaskingCustomProviders", false},
      {"capabilityDiscoverySandbox", false},
      {"fsWatchMissing", true},
      {"capabilityDiscoveryV2", true},
      {"environmentConfigRead", true},
      {"httpHeaderEnvVars", false},
      {"sandboxedFileStreaming", true},
      {"fileWriteStreaming", true},
      {"shellSnapshotV2", false},
      {"windowsMxc", false},
      {"linuxRootWritePreservesDevices", true},
      {"linuxApprovedRootWritePreservesRestrictions", true}};
  for (const auto& [name, on] : capabilities) {
    out.key(name);
    out.boolean(on);
  }
  out.close('}');
  out.close('}');
  return std::move(out).take();
}

std::string encode_initialized(std::string_view session_id, const environment_info& info,
                               bool binary_output) {
  return "{\"sessionId\":" + quoted(session_id) +
         ",\"environmentInfo\":" + encode_environment_info(info) +
         (binary_output ? ",\"binaryOutput\":" + std::to_string(binary_output_version) : "") + "}";
}

} // namespace gatehouse::exec_server
