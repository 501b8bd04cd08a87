#include "actors/call_host.hpp"

#include "actors/amendment_writer.hpp"
#include "actors/reviewers.hpp"
#include "actors/shell_runtime.hpp"
#include "actors/tool_call.hpp"
#include "protocol/denial_message.hpp"
#include "reactor/actor_scheduler.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <cstdlib>
#include <utility>

#include <sys/random.h>

namespace gatehouse::actors {
namespace {

/// Makes one call and keeps its report.
class caller : public caf::event_based_actor {
public:
  caller(caf::actor_config& config, tool_call_actor call, call_start_ptr start,
         std::optional<call_report>* report)
      : caf::event_based_actor{config}, call_{std::move(call)}, start_{std::move(start)},
        report_{report} {}

  caf::behavior make_behavior() override {
    request(call_, caf::infinite, run_v, start_)
        .then([this](const call_report_ptr& report) { *report_ = *report; },
              [this](caf::error& e) {
                call_report lost;
                lost.call_id = start_->plan.call_id;
                lost.failure = error{errc::internal, "the call failed: " + system().render(e), {}};
                lost.message = failure_message(*lost.failure);
                *report_ = std::move(lost);
              });
    call_ = nullptr;
    return {};
  }

private:
  tool_call_actor call_;
  call_start_ptr start_;
  std::optional<call_report>* report_;
};

} // namespace

struct call_host::impl {
  explicit impl(call_host_settings s) : settings{std::move(s)} {
    reactor::run_actors_on(loop, config);
    config.set("scheduler.max-throughput", 64u);
    system.emplace(config);
    partners.reviewer = settings.ask ? reviewer_actor{system->spawn<asking_reviewer>(settings.ask)}
                                     : reviewer_actor{system->spawn<no_reviewer>()};
    partners.runtime = system->spawn<shell_runtime>(std::ref(loop), settings.runtime);
    partners.amendments = system->spawn<amendment_writer>(settings.gatehouse_home, settings.notice);
  }

  ~impl() {
    caf::anon_send_exit(partners.reviewer, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(partners.runtime, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(partners.amendments, caf::exit_reason::user_shutdown);
    partners = {};
    reactor::run_until_actors_done(loop, *system, std::chrono::seconds{5});
    system.reset();
  }

  call_host_settings settings;
  reactor::event_loop loop;
  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  orchestrator_partners partners;
  tool_call_actor current; ///< on the loop's thread only
};

call_host::call_host(call_host_settings settings)
    : impl_{std::make_unique<impl>(std::move(settings))} {}
call_host::~call_host() = default;

call_report call_host::run_call(call_plan plan, std::optional<exec_requirement> handler_refusal) {
  auto& host = *impl_;
  std::optional<call_report> report;
  host.current = host.system->spawn<tool_call>(host.settings.terms, host.partners, item_actor{});
  host.system->spawn<caller>(
      host.current,
      std::make_shared<const call_start>(call_start{std::move(plan), std::move(handler_refusal)}),
      &report);
  host.loop.run_until([&report] { return report.has_value(); });
  host.current = nullptr;
  return std::move(*report);
}

void call_host::cancel() {
  impl_->loop.post([host = impl_.get()] {
    if (host->current) caf::anon_send(host->current, cancel_v);
  });
}

std::string make_review_nonce() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567"; // 5 bits each
  unsigned char bytes[20];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) std::abort(); // 20 bytes never fail
  std::string nonce;
  for (const unsigned char byte : bytes)
    nonce += letters[byte % letters.size()];
  return nonce;
}

} // namespace gatehouse::actors
