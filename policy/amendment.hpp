#pragma once

#include <span>
#include <string>

namespace gatehouse::policy {

/// True when an allow for everything that starts with `prefix` would allow nearly anything, so that
/// it is never proposed (§41). Judged by capability, whatever the program's path, version or
/// suffix: programs that run a program or script named by later words (interpreters, shells,
/// wrappers, package runners, editors), that reach other machines or write what they download, that
/// destroy what later words name, and programs of many subcommands without one. A prefix that pins
/// what runs (`python3 script.py`, `npm run build`) is not banned.
bool is_banned_prefix(std::span<const std::string> prefix);

/// True when a rule for `prefix` must match the whole command only: further words would widen it
/// (`rm -f a`, then `rm -f a b`).
bool needs_exact_rule(std::span<const std::string> prefix);

/// True when a saved rule for `prefix` keeps the sandbox: the program may run what another file or
/// another word says, and the agent can write such files between the yes and the next run: scripts,
/// build files (`npm test`, `cargo build`), what a repository configures (git). Only programs that
/// are known to do just what their words say leave it.
bool keeps_sandbox(std::span<const std::string> prefix);

/// True when `argv` is fit to be shown and saved as a rule: short, one line, no control characters.
bool is_presentable_prefix(std::span<const std::string> argv);

} // namespace gatehouse::policy
