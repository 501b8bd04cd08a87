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
  /// @param told the word to go on was sent
  inner_conversation(int control, int proxy_channel, supervisor* watcher, event_report& report,
                     bool told)
      : control_{control},
        proxy_channel_{proxy_channel}, watcher_{watcher}, report_{report}, unread_{!told} {}

  /// Reads what is there. False at the end of the conversation.
  bool read();
  /// Reads on until the inner stage, which is killed with bubblewrap, has ended, too; not for ever.
  void read_to_its_end();
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
  /// The word to go on was never read, so nothing has run.
  [[nodiscard]] bool nothing_began() const { return unread_ && !heard_ && !forwarded_; }
  int conclude_without_word(int status, int complaints);

  int control_;
  int proxy_channel_;
  supervisor* watcher_;
  event_report& report_;
  std::optional<init::message> last_;
  pid_t sender_ = 0;
  bool started_ = false;   ///< the command
  bool heard_ = false;     ///< anything
  bool forwarded_ = false; ///< a signal
  bool unread_;            ///< it ended before it had read all that it was told
};

} // namespace gatehouse::sandbox
