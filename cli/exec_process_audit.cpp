#include "cli/exec_process_audit.hpp"

#include "protocol/audit.hpp"
#include "protocol/profile_json.hpp"

#include <chrono>
#include <utility>

namespace gatehouse::cli {

exec_process_audit::exec_process_audit(reactor::event_loop& loop,
                                       std::shared_ptr<actors::audit_sink> sink,
                                       std::string session, const exec_server::process_start& what)
    : loop_{loop}, sink_{std::move(sink)}, session_{std::move(session)}, what_{what} {
  if (!what_.sandbox || what_.sandbox->profile.kind != profile_kind::managed) return;
  backend_ = what_.sandbox->legacy_landlock ? sandbox_backend::landlock
                                            : sandbox_backend::linux_bubblewrap;
  if (what_.sandbox->profile.network != network_policy::enabled) network_ = network_mode::isolated;
}

exec_process_audit::~exec_process_audit() {
  attempt_record how;
  how.ending = attempt_ending::cancelled;
  end(std::move(how));
}

void exec_process_audit::begin(std::function<void(const result<void>&)> written) {
  const auto heard = [this, written = std::move(written),
                      alive = std::weak_ptr<int>{alive_}](const result<void>& how) {
    if (alive.expired()) return;
    stands_ = sink_ && how;
    begun_ = loop_.now();
    written(how);
  };
  if (!sink_) return loop_.post([heard] { heard({}); });
  proposal asked;
  asked.argv = what_.argv;
  asked.cwd = what_.cwd;
  asked.tty = what_.tty;
  const auto profile = what_.sandbox ? what_.sandbox->profile : danger_full_access_profile();
  record(audit_kind::attempt, audit_attempt(asked, backend_, network_, encode_profile(profile), {}),
         heard);
}

void exec_process_audit::end(attempt_record how) {
  if (!std::exchange(stands_, false)) return;
  how.sandbox = backend_;
  how.network = network_;
  how.duration = std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - begun_);
  if (how.denied) record(audit_kind::denial, audit_denial(*how.denied));
  record(audit_kind::attempt_end, audit_attempt_end(how));
}

void exec_process_audit::record(audit_kind kind, std::string body,
                                std::function<void(const result<void>&)> written) {
  sink_->record({kind, session_, {}, what_.process_id, 1, std::move(body)}, std::move(written));
}

} // namespace gatehouse::cli
