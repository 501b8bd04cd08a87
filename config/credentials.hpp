#pragma once

#include "protocol/result.hpp"

#include <string>
#include <string_view>

namespace gatehouse::config {

/// The token in `path`, which is made when there is none: 256 random bits as base64url, mode 0600,
/// in a folder that is made with mode 0700. One that exists must be a regular file of this user
/// that nobody else can read, with one line of at least 32 characters of base64url; else errc::io
/// or errc::invalid_config, as also for a folder that somebody else could change. Two programs that
/// make it at once agree on one token.
result<std::string> read_or_make_token(const std::string& path);

/// The same for a token that is there; errc::not_found when it is not.
result<std::string> read_own_token(const std::string& path);

/// The token of another server in `path`: one line of printable characters in a regular file of
/// this user that nobody else can read, and that no link stands for. errc::io or
/// errc::invalid_config.
result<std::string> read_given_token(const std::string& path);

} // namespace gatehouse::config
