#pragma once

#include "protocol/json_tree.hpp"
#include "protocol/path_uri.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The messages of the exec-server protocol (§120): JSON-RPC without its `jsonrpc` member. Unknown
/// members are ignored; what is missing or of a wrong type is refused.
namespace gatehouse::exec_server {

namespace code {
inline constexpr int invalid_request = -32600;
inline constexpr int unknown_method = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal = -32603;
inline constexpr int overloaded = -32001; ///< the same request may be tried again later
inline constexpr int not_found = -32004;
inline constexpr int session_attached = -32010;
} // namespace code

/// An error answer. `kind` and `path` stand in its `data` when they are not empty.
struct failure {
  int code = code::internal;
  std::string message;
  std::string kind; ///< "spawnNotFound", "sandboxUnavailable", …
  std::string path;
};

enum class incoming_kind : std::uint8_t { request, notification, response, malformed };

struct incoming {
  incoming_kind kind = incoming_kind::malformed;
  std::string id; ///< of a request: its JSON text, to be given back as it is
  std::string method;
  json_tree params;
  std::string why; ///< malformed
};
incoming parse_incoming(std::string_view text);

/// What a command or a file call may touch; unset where the client sent null or nothing.
struct sandbox_terms {
  permission_profile profile;
  std::string cwd;
  std::vector<std::string> workspace_roots;
  bool legacy_landlock = false;
  bool operator==(const sandbox_terms&) const = default;
};

enum class inherit : std::uint8_t { none, core, all };
struct env_policy {
  exec_server::inherit inherit = exec_server::inherit::none;
  bool ignore_default_excludes = false;
  std::vector<std::string> exclude;
  std::map<std::string, std::string> set;
  std::vector<std::string> include_only;
  bool operator==(const env_policy&) const = default;
};

struct process_start {
  std::string process_id;
  std::vector<std::string> argv;
  std::string cwd; ///< of this machine
  std::map<std::string, std::string> env;
  std::optional<exec_server::env_policy> policy;
  bool tty = false;
  bool pipe_stdin = false;
  std::optional<sandbox_terms> sandbox;
  bool managed_network = false;
  /// Of a client: how the paths of that machine are written; all are rooted
  /// (protocol/path_uri.hpp).
  path_convention paths = path_convention::posix;
  bool operator==(const process_start&) const = default;
};
struct process_read {
  std::string process_id;
  std::uint64_t after_seq = 0;
  std::size_t max_bytes = SIZE_MAX;
  std::chrono::milliseconds wait{0};
};
struct process_write {
  std::string process_id;
  std::string bytes;
  std::string write_id;
};

struct initialize {
  std::string client_name;
  std::string resume_session_id; ///< empty: a new session
  bool binary_output = false;    ///< output as protocol/exec_output.hpp has it, where that can be
};

// Each takes `params`. Errors are about the request: `code::invalid_params`.
/// Of `binaryOutput` also an error: a version that is not known.
result<initialize> decode_initialize(const json_tree& params);
result<process_start> decode_process_start(const json_tree& params);
result<process_read> decode_process_read(const json_tree& params);
result<process_write> decode_process_write(const json_tree& params);
result<std::string> decode_process_id(const json_tree& params);
/// "interrupt" is the only signal.
result<std::string> decode_process_signal(const json_tree& params);

enum class file_method : std::uint8_t {
  read_file,
  write_file,
  create_directory,
  get_metadata,
  canonicalize,
  read_directory,
  walk,
  remove,
  copy,
  read_range, ///< ours: a block of an open handle
  write_range,
};
std::optional<file_method> file_method_from(std::string_view name) noexcept; ///< "fs/readFile"
/// The same back; the blocks of a handle are "fs/readBlock" and "fs/writeBlock".
std::string_view to_string(file_method method) noexcept;

/// One call about files, with paths of this machine.
struct file_call {
  file_method method = file_method::read_file;
  std::string path;
  std::string destination; ///< copy
  std::string bytes;       ///< write_file, write_range
  bool recursive = false;
  bool force = false;
  std::uint64_t offset = 0; ///< read_range, write_range
  std::uint64_t length = 0; ///< read_range
  bool truncate = false;    ///< write_range: makes the file, empty
  std::uint32_t max_depth = 0, max_directories = 0, max_entries = 0; ///< walk; 0: a default
  bool follow_links = false, prune_hidden = false;
  std::optional<sandbox_terms> sandbox;
};
result<file_call> decode_file_call(file_method method, const json_tree& params);
/// Between us and our own program inside a boundary; never on the wire.
std::string encode_file_call(const file_call& call);
result<file_call> decode_own_file_call(std::string_view text);

/// The result object, or why not.
struct file_answer {
  std::string result; ///< JSON
  std::optional<failure> failed;
};
std::string encode_file_answer(const file_answer& answer);
result<file_answer> decode_file_answer(std::string_view text);

struct handle_open {
  std::string handle_id;
  std::string path;
  bool replace = false;
  std::optional<sandbox_terms> sandbox;
};
struct handle_block {
  std::string handle_id;
  std::uint64_t offset = 0;
  std::uint64_t length = 0; ///< readBlock
  std::string bytes;        ///< writeBlock
};
result<handle_open> decode_handle_open(const json_tree& params);
result<handle_block> decode_handle_block(const json_tree& params, bool write);
result<std::string> decode_handle_id(const json_tree& params);

struct watch_missing {
  std::int64_t watch_id = 0;
  std::vector<std::string> missing;
  std::string present;
};
result<watch_missing> decode_watch_missing(const json_tree& params);

// Whole messages.
std::string encode_result(std::string_view id, std::string_view result_json);
std::string encode_failure(std::string_view id, const failure& why);
std::string encode_output(std::string_view process_id, std::uint64_t seq, std::string_view stream,
                          std::string_view bytes);
std::string encode_exited(std::string_view process_id, std::uint64_t seq, int exit_code,
                          bool sandbox_denied);
std::string encode_closed(std::string_view process_id, std::uint64_t seq);
std::string encode_missing_changed(std::int64_t watch_id);

// Result objects.
struct output_chunk {
  std::uint64_t seq = 0;
  std::string_view stream;
  std::string_view bytes;
};
struct read_answer {
  std::vector<output_chunk> chunks;
  std::uint64_t next_seq = 1;
  bool exited = false;
  std::optional<int> exit_code;
  bool closed = false;
  bool sandbox_denied = false;
  std::uint64_t dropped_bytes = 0; ///< retained no longer; told only when there are any
};
std::string encode_read_answer(const read_answer& answer);

std::string encode_started(std::string_view process_id, bool sandboxed);
std::string encode_handle(std::string_view handle_id);

struct environment_info {
  std::string shell_name, shell_path;
  std::string version;
  std::string cwd, home, tmpdir;
};
std::string encode_environment_info(const environment_info& info);
/// @param binary_output output will come so: the client has asked for it, and the connection can
std::string encode_initialized(std::string_view session_id, const environment_info& info,
                               bool binary_output = false);

} // namespace gatehouse::exec_server
