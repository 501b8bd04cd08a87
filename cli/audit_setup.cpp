#include "cli/audit_setup.hpp"

#include "actors/audit/audit_log.hpp"
#include "cli/audit_reading.hpp"
#include "cli/output.hpp"
#include "config/audit_settings.hpp"
#include "policy/redaction.hpp"
#include "sandbox/event_report.hpp"

#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

/// What people read when nothing runs because the audit cannot be opened.
error not_opened(error why) {
  if (why.code != errc::io) return why;
  // A boundary of ours lets no command write there: that comes first.
  if (sandbox::inside_a_boundary()) {
    why.code = errc::boundary_unavailable;
    return sandbox::in_another_boundary(std::move(why));
  }
  why.message = "nothing runs that cannot be recorded: " + why.message;
  if (why.remedy.empty())
    why.remedy = "Set XDG_STATE_HOME to a folder that you can write, or see `on_failure` in "
                 "docs/audit.md.";
  return why;
}

} // namespace

result<std::shared_ptr<actors::audit_sink>> open_audit(const config::locations& where,
                                                       reactor::event_loop& loop) {
  const auto settings = config::load_audit_settings(where);
  if (!settings) return settings.error();
  warn(settings->warnings);
  if (!settings->enabled.value) return std::shared_ptr<actors::audit_sink>{};
  actors::audit_terms terms;
  terms.path = audit_path(where);
  terms.flush = settings->flush.value;
  terms.required = settings->on_failure.value == config::audit_failure::refuse;
  terms.keep.age = std::chrono::days{settings->keep_days.value};
  terms.keep.bytes = settings->keep_megabytes.value << 20U;
  std::size_t count = 0;
  while (environ[count])
    ++count;
  terms.secrets = policy::secret_values(std::vector<std::string>{environ, environ + count});
  terms.warn = [](const error& why) { warn(why); };
  auto log = actors::audit_log::open(loop, std::move(terms));
  if (!log) return not_opened(log.error());
  return std::shared_ptr<actors::audit_sink>{*std::move(log)};
}

result<void> begin_audit(const config::locations& where, actors::thread_host& host,
                         std::string_view program) {
  auto sink = open_audit(where, host.loop());
  if (!sink) return sink.error();
  host.record_in({*std::move(sink), std::string{program}, GATEHOUSE_VERSION});
  return {};
}

} // namespace gatehouse::cli
