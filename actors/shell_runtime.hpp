#pragma once

#include "actors/capped_text.hpp"
#include "actors/interfaces.hpp"
#include "actors/shell_runtime_settings.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/process.hpp"
#include "reactor/timer.hpp"
#include "reactor/unique_fd.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <map>
#include <memory>
#include <string>

namespace gatehouse::actors {

/// The runtime of `shell_command` (§94): every attempt, sandboxed or not, runs below
/// gatehouse-sandbox, which supervises the whole process tree (§99a).
class shell_runtime : public runtime_actor::base {
public:
  shell_runtime(caf::actor_config& config, reactor::event_loop& loop,
                shell_runtime_settings settings);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.shell-runtime"; }

private:
  struct running {
    running(reactor::event_loop& loop, attempt_ptr w, std::size_t cap)
        : what{std::move(w)}, timeout{loop}, standard_output{cap}, standard_error{cap}, aggregated{
                                                                                            cap} {}

    attempt_ptr what;
    caf::typed_response_promise<attempt_result_ptr> caller;
    std::shared_ptr<reactor::process> child;
    reactor::unique_fd report;
    reactor::timer timeout;
    reactor::clock::time_point begun;
    reactor::exit_status status;
    bool timed_out = false;
    bool cancelled = false;
    capped_text standard_output, standard_error, aggregated;
  };

  void start(const std::string& call_id, running& run);
  void took_output(const std::string& call_id, reactor::output_stream stream,
                   std::string_view bytes);
  void ended(const std::string& call_id);
  void failed(const std::string& call_id, error why);
  policy::access_context context_of(const attempt& what) const;

  reactor::event_loop& loop_;
  shell_runtime_settings settings_;
  std::map<std::string, std::unique_ptr<running>> running_; ///< by call id
};

} // namespace gatehouse::actors
