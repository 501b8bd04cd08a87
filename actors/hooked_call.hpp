#pragma once

#include "actors/hook_round.hpp"
#include "actors/hook_rules.hpp"
#include "actors/tool_call.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// The hooks of a session and what they are told besides the call itself.
struct hook_settings {
  reactor::event_loop* loop = nullptr; ///< outlives the actors
  hook_rules rules;
  hook_payload context; ///< session, turn, transcript, model, permission mode
  program_place place;
  std::function<void(const std::string&)> warn; ///< to the user; may be unset
};

/// What PreToolUse hooks said of a call, as the call that goes on (§D8, §10): a denial, or a
/// rewriting that cannot be carried out, makes it one that is refused before any rule; a rewriting
/// is another command, judged from the beginning.
call_start after_pre_tool_use(call_start call, const hook_decision& said,
                              hook_tool tool = hook_tool::shell_command);

/// What PostToolUse hooks made of a report: a denial takes the output away from the model and puts
/// its reason in the place; contexts of all hooks are added to the message.
call_report after_post_tool_use(call_report report, const hook_decision& said);

using hooked_call_actor = tool_call_actor::extend<
    // INTERNAL: the hooks of the open stage have spoken.
    caf::reacts_to<report_atom, std::string>>;

/// A tool call with PreToolUse hooks before and PostToolUse hooks after it (§124); ends with it.
class hooked_call : public hooked_call_actor::base {
public:
  /// @param make spawns the call itself
  hooked_call(caf::actor_config& config, hook_settings hooks, hook_tool tool,
              std::function<tool_call_actor()> make);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.hooked-call"; }

private:
  void ask(hook_event event, std::string response);
  [[nodiscard]] std::vector<hook_handler> handlers(hook_event event) const;
  [[nodiscard]] std::string command_text() const;
  void give_up_hooks();
  void hooks_spoke();
  void go_on();
  void reported(const call_report& report);
  void end(call_report report);

  hook_settings hooks_;
  hook_tool tool_;
  std::function<tool_call_actor()> make_;
  call_start call_;
  tool_call_actor inner_;
  std::optional<call_report> report_; ///< set: PostToolUse hooks are being asked
  std::vector<std::string> contexts_;
  std::unique_ptr<hook_round> round_;
  std::optional<hook_decision> said_;
  bool cancelled_ = false;
  caf::typed_response_promise<call_report_ptr> caller_;
};

} // namespace gatehouse::actors
