#pragma once

#include "actors/audit/audit_sink.hpp"
#include "protocol/call_report.hpp"
#include "protocol/exec_server.hpp"
#include "reactor/clock.hpp"
#include "reactor/event_loop.hpp"

#include <functional>
#include <memory>
#include <string>

namespace gatehouse::cli {

/// What one process of an exec server leaves in the audit (§205): one `attempt`, and after it one
/// `attempt_end` however it ends, with a `denial` before it where the boundary refused something.
/// Loop's thread.
class exec_process_audit {
public:
  /// @param sink null: nothing is recorded
  /// @param loop, what outlive it
  exec_process_audit(reactor::event_loop& loop, std::shared_ptr<actors::audit_sink> sink,
                     std::string session, const exec_server::process_start& what);
  /// What has no end yet was ended with its session.
  ~exec_process_audit();
  exec_process_audit(const exec_process_audit&) = delete;
  exec_process_audit& operator=(const exec_process_audit&) = delete;

  /// `written` is called once, later, if nothing has ended it before; an error means that nothing
  /// may run.
  void begin(std::function<void(const result<void>&)> written);
  /// @param how sandbox, network and duration are filled in
  void end(attempt_record how);

private:
  void record(audit_kind kind, std::string body,
              std::function<void(const result<void>&)> written = {});

  reactor::event_loop& loop_;
  std::shared_ptr<actors::audit_sink> sink_;
  std::string session_;
  const exec_server::process_start& what_;
  sandbox_backend backend_ = sandbox_backend::none;
  network_mode network_ = network_mode::full;
  bool stands_ = false; ///< the attempt, without an end
  reactor::clock::time_point begun_{};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

} // namespace gatehouse::cli
