#pragma once

#include "protocol/network.hpp"
#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::config {

enum class amendment_outcome : std::uint8_t { added, already_there };

/// `prefix_rule(pattern=["a", "b"], decision="allow")`: the line an approved amendment becomes,
/// with `exact=True` where further words would widen it and `sandbox="keep"` where what it allows
/// stays inside the sandbox (§D4), or an error when a token cannot stand in a
/// rule file (empty prefix, NUL, invalid UTF-8).
result<std::string> prefix_rule_line(const std::vector<std::string>& prefix,
                                     bool keeps_sandbox = false);

/// `network_rule(host="h:443", protocol="https", decision="allow")` (§113), or an error when the
/// host cannot stand in a rule file.
result<std::string> network_rule_line(const host_key& key, bool allow);

/// Appends one line to `<gatehouse_home>/rules/default.rules` (§42). Processes that do this at the
/// same time wait for each other (an exclusive lock on the rules folder) and lose nothing; a line
/// that is there already is not added again; the file is replaced as a whole and flushed, so that
/// no crash leaves half a rule. Makes missing folders (0700) and the file (0600). Blocks: call it
/// from a thread that may.
result<amendment_outcome> append_rule(const std::string& gatehouse_home, std::string_view line);

} // namespace gatehouse::config
