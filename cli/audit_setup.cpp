#include "cli/audit_setup.hpp"

#include "actors/audit/audit_log.hpp"
#include "actors/audit/program_audit.hpp"
#include "cli/audit_reading.hpp"
#include "cli/output.hpp"
#include "config/audit_settings.hpp"

#include <utility>

namespace gatehouse::cli {

result<std::shared_ptr<actors::audit_sink>> open_audit(const config::locations& where,
                                                       reactor::event_loop& loop) {
  const auto settings = config::load_audit_settings(where);
  if (!settings) return settings.error();
  warn(settings->warnings);
  actors::audit_terms terms;
  terms.path = audit_path(where);
  terms.flush = settings->flush.value;
  terms.required = settings->on_failure.value == config::audit_failure::refuse;
  terms.keep.age = std::chrono::days{settings->keep_days.value};
  terms.keep.bytes = settings->keep_megabytes.value << 20U;
  terms.warn = [](const error& why) { warn({"not recorded: " + to_string(why)}); };
  auto log = actors::audit_log::open(loop, std::move(terms));
  if (!log) return log.error();
  return std::shared_ptr<actors::audit_sink>{*std::move(log)};
}

result<void> begin_program_audit(const config::locations& where, reactor::event_loop& loop,
                                 std::string_view program) {
  if (actors::the_program_audit().sink) return {};
  auto sink = open_audit(where, loop);
  if (!sink) return sink.error();
  actors::set_program_audit({*std::move(sink), std::string{program}, GATEHOUSE_VERSION});
  return {};
}

} // namespace gatehouse::cli
