#pragma once

#include "protocol/tool_call.hpp"

#include <string>

namespace gatehouse {

/// What one question is about besides the proposal: the same command asked again for a retry is
/// another question and never answered by the first answer (§50, §D5).
struct digest_terms {
  int attempt = 1;
  bool without_sandbox = false;
  std::string network_host; ///< a retry that asks for one host; else empty

  bool operator==(const digest_terms&) const = default;
};

/// Binds an answer to exactly what runs: argv, cwd, tty, environment, permissions, terms. Injective
/// (every field is length-prefixed), so that equal digests mean equal actions; stable between
/// processes of one version. Justification and suggested rule are left out: they do not run.
std::string digest_of(const proposal& what, const digest_terms& terms);

} // namespace gatehouse
