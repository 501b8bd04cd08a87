#pragma once

#include "protocol/exec_server.hpp"
#include "protocol/json_tree.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Fields of the exec server's requests, for the files that decode them: exec_server_decode
/// (processes) and exec_server_files. A field that is null counts as missing. Errors:
/// errc::invalid_request, with the field's name.
namespace gatehouse::exec_server::fields {

/// Of a whole request: what its errors call it, and how long it may be.
const json_source& source();
/// Null: there is none, or `tree` is no object.
const json_tree* member(const json_tree& tree, std::string_view name);
bool is_null(const json_tree* tree);
error wrong(std::string_view name, std::string_view what);

result<std::string> text(const json_tree& params, std::string_view name);
result<bool> flag(const json_tree& params, std::string_view name, bool fallback);
result<std::uint64_t> number(const json_tree& params, std::string_view name,
                             std::uint64_t fallback);
/// Missing: empty.
result<std::vector<std::string>> texts(const json_tree& params, std::string_view name);
/// A path of this machine, from its URI.
result<std::string> path(const json_tree& params, std::string_view name);
result<std::vector<std::string>> paths(const json_tree& params, std::string_view name);
/// From base64.
result<std::string> bytes(const json_tree& params, std::string_view name);
/// `sandbox`: the boundary of a request, if it has one.
result<std::optional<sandbox_terms>> sandbox(const json_tree& params);

} // namespace gatehouse::exec_server::fields
