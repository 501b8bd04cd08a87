#pragma once

#include "actors/interfaces.hpp"
#include "actors/shell_attempt.hpp"
#include "reactor/program_exchange.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gatehouse::actors {

struct patch_runtime_terms {
  shell_terms shell;   ///< boundaries are built for patches as for commands
  std::string program; ///< absolute path of gatehouse-sandbox-patch
};

using patch_runtime_behavior = patch_runtime_actor::extend<
    // INTERNAL: the program that checked the patch with this number has ended.
    caf::reacts_to<report_atom, std::string>>;

/// Applies patches (§11, §46): each attempt is a process of ours inside the boundary of that
/// attempt, started as a command is, that takes up where the attempt before it ended (§107).
class patch_runtime : public patch_runtime_behavior::base {
public:
  patch_runtime(caf::actor_config& config, patch_runtime_terms terms);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.patch-runtime"; }

private:
  struct open_attempt {
    shell_attempt_actor worker;
    attempt_ptr what;
    caf::typed_response_promise<attempt_result_ptr> promise;
  };
  struct open_check {
    caf::typed_response_promise<patch_verdict_ptr> promise;
    std::unique_ptr<reactor::program_exchange> exchange;
    std::optional<reactor::exchange_end> end;
  };

  caf::result<attempt_result_ptr> run(const attempt_ptr& what);
  caf::result<patch_verdict_ptr> check(const judged_call_ptr& call);
  void finish(const std::string& call, attempt_result result);
  /// How long a patch without a limit of its own may take: it grows with its files.
  [[nodiscard]] std::chrono::milliseconds limit_for(const patch_call& patch) const;

  patch_runtime_terms terms_;
  std::map<std::string, open_attempt> running_; ///< by call id
  std::map<std::string, open_check> checks_;    ///< by their number
  std::size_t next_check_ = 0;
};

} // namespace gatehouse::actors
