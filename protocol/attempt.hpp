#pragma once

#include "protocol/permission_profile.hpp"
#include "protocol/sandbox_choice.hpp"
#include "protocol/tool_call.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse {

namespace actors {
class call_flow;
}

/// Only the two-attempt machine may turn intent into authority (§2a): whoever holds this key can
/// make an `approved` or an `attempt`, and only call_flow can make the key.
class authority_key {
  friend class actors::call_flow;
  authority_key() {}
};

/// Approval authority (§2a): a reviewer's yes to exactly one question, bound by its digest.
class approved {
public:
  approved(authority_key, std::string review_id, std::string digest)
      : review_id_{std::move(review_id)}, digest_{std::move(digest)} {}

  [[nodiscard]] const std::string& review_id() const noexcept { return review_id_; }
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

private:
  std::string review_id_;
  std::string digest_;
};

/// The boundary that one attempt runs in (§93). A runtime reads it and guesses nothing.
struct attempt_terms {
  std::string call_id;
  int number = 1; ///< 1 or 2 (§106)

  std::vector<std::string> argv; ///< exactly what was judged and shown
  std::string cwd;               ///< absolute
  bool tty = false;
  std::string environment_id;
  std::optional<patch_call> patch; ///< to be applied instead of executing `argv` (§11)
  patch_progress patch_done;       ///< by the attempt before this one (§107)
  std::optional<std::chrono::milliseconds> timeout;  ///< unset: the runtime's default (§95)
  std::optional<std::chrono::milliseconds> time_cap; ///< shortens it, or the default

  sandbox_backend backend = sandbox_backend::none;
  bool sandbox_requested = false; ///< false exactly when backend is none
  /// What the boundary enforces, the approved overlay included. Unsandboxed: disabled or external.
  permission_profile profile;
  std::string policy_cwd;                   ///< base of relative globs
  std::vector<std::string> workspace_roots; ///< what `:project_roots` means here
  network_mode network = network_mode::isolated;
  std::string network_registration;        ///< empty without a managed network (§108)
  std::vector<std::string> approved_hosts; ///< hosts a reviewer opened for this attempt (§105)

  std::optional<approved> by; ///< unset: policy allowed it without a question
};

/// Command authority (§2a): may be run, once, in exactly these terms.
class attempt {
public:
  attempt(authority_key, attempt_terms terms) : terms_{std::move(terms)} {}

  const attempt_terms* operator->() const noexcept { return &terms_; }
  const attempt_terms& operator*() const noexcept { return terms_; }

private:
  attempt_terms terms_;
};

using attempt_ptr = std::shared_ptr<const attempt>;

} // namespace gatehouse
