#pragma once

#include "actors/capped_text.hpp"
#include "actors/interfaces.hpp"
#include "policy/access.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/process.hpp"
#include "reactor/timer.hpp"
#include "sandbox/launch.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// Hears the output of commands as it comes, unbounded: (call id, stream, bytes).
using output_listener =
    std::function<void(const std::string&, reactor::output_stream, std::string_view)>;

struct shell_runtime_settings {
  std::string helper; ///< absolute path of gatehouse-sandbox
  /// "NAME=value": the environment of every command; see sandbox::inherited_environment.
  std::vector<std::string> environment;
  /// tmpdir and the protections of this host; cwd and project roots come from the attempt.
  policy::access_context host;
  std::vector<std::string> extra_protected_names; ///< of the configuration, beside the built-in
  std::chrono::milliseconds default_timeout{std::chrono::seconds{10}};
  std::chrono::milliseconds grace{500}; ///< from SIGTERM to SIGKILL
  std::size_t output_cap = 1024 * 1024; ///< bytes of each of stdout, stderr, aggregate (§96)
  output_listener on_output;            ///< may be empty
};

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
