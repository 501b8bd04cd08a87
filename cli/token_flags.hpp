#pragma once

#include "actors/sha256.hpp"
#include "cli/option_reader.hpp"
#include "protocol/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::cli {

/// The SHA-256 of the token that `--ws-token-file` or `--ws-token-sha256` names, as other servers
/// of this protocol have these flags; unset: neither is given. The file is there already, and as a
/// token of ours is kept. Errors: errc::invalid_request when both are given, or another option of
/// `other` with one of them, or the digest is none; else as config::read_own_token.
/// @param cwd of a file that is named relatively
result<std::optional<actors::sha256_hash>> ws_token_of(const options& given, const std::string& cwd,
                                                       std::string_view other);

} // namespace gatehouse::cli
