#pragma once

#include "sandbox/event_report.hpp"
#include "sandbox/init_protocol.hpp"
#include "sandbox/supervisor.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

namespace gatehouse::sandbox {

/// What the inner stage has said so far.
class inner_conversation {
public:
  inner_conversation(int control, int proxy_channel, supervisor* watcher, event_report& report)
      : control_{control}, proxy_channel_{proxy_channel}, watcher_{watcher}, report_{report} {}

  /// Reads what is there. False at the end of the conversation.
  bool read();
  void forward_signals(int signals);
  /// The exit status, when the child has ended with `status`; `complaints`: what it wrote to its
  /// standard error; `explain`: the request's explain_missing.
  int conclude(int status, int complaints, const std::string& program,
               const std::function<std::string()>& explain);
  [[nodiscard]] bool view_is_incomplete() const {
    return last_ && last_->kind == init::boundary_failed &&
           last_->stage == static_cast<std::uint32_t>(init::stage::view);
  }

  /// The command has ended, and who said so (the inner stage's pid here), or 0.
  [[nodiscard]] pid_t ended_by() const {
    return last_ && (last_->kind == init::exited || last_->kind == init::signalled) ? sender_ : 0;
  }

private:
  void take_bridge(int listener, std::int32_t port);

  int control_;
  int proxy_channel_;
  supervisor* watcher_;
  event_report& report_;
  std::optional<init::message> last_;
  pid_t sender_ = 0;
  bool started_ = false; ///< the command
};

} // namespace gatehouse::sandbox
