#include "cli/audit_setup.hpp"

#include "actors/audit/audit_log.hpp"
#include "cli/audit_reading.hpp"
#include "cli/output.hpp"

namespace gatehouse::cli {

result<std::shared_ptr<actors::audit_sink>> open_audit(const config::locations& where,
                                                       const config::effective_settings& settings,
                                                       reactor::event_loop& loop) {
  static std::weak_ptr<actors::audit_sink> open_one;
  if (auto known = open_one.lock()) return known;
  actors::audit_terms terms;
  terms.path = audit_path(where);
  terms.flush = settings.audit_flush.value;
  terms.required = settings.audit_on_failure.value == config::audit_failure::refuse;
  terms.keep.age = std::chrono::days{settings.audit_keep_days.value};
  terms.keep.bytes = settings.audit_keep_megabytes.value << 20U;
  terms.warn = [](const error& why) { warn({"not recorded: " + to_string(why)}); };
  auto log = actors::audit_log::open(loop, std::move(terms));
  if (!log) return log.error();
  std::shared_ptr<actors::audit_sink> sink = *std::move(log);
  open_one = sink;
  return sink;
}

} // namespace gatehouse::cli
