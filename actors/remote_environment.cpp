#include "actors/remote_environment.hpp"

#include "actors/random_id.hpp"
#include "actors/remote_connection.hpp"
#include "actors/remote_process.hpp"
#include "policy/environment_policy.hpp"

#include <csignal>
#include <utility>

namespace gatehouse::actors {
namespace {

exec_server::process_start start_of(const std::string& id, const command_request& request,
                                    path_convention paths) {
  exec_server::process_start start;
  start.process_id = id;
  start.paths = paths;
  start.argv = request.launch.command;
  start.cwd = request.launch.command_cwd;
  start.policy.emplace().inherit = exec_server::inherit::core; // that machine's own
  start.env = policy::read_environment(request.environment);
  start.tty = request.tty;
  start.pipe_stdin = request.pipe_input;
  start.managed_network = request.launch.managed_network;
  if (request.launch.profile.kind == profile_kind::managed)
    start.sandbox =
        exec_server::sandbox_terms{request.launch.profile, request.launch.policy_cwd,
                                   request.launch.workspace_roots, request.launch.legacy_landlock};
  return start;
}

/// A command of ours over there; its end ends the command.
class handle : public command_process {
public:
  handle(std::shared_ptr<remote_connection> over, std::shared_ptr<remote_process> what,
         bool takes_input)
      : over_{std::move(over)}, what_{std::move(what)}, takes_input_{takes_input} {}
  ~handle() override { what_->forget(); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;

  void grant(reactor::output_stream stream) override { what_->grant(stream); }
  result<void> write_stdin(std::string bytes) override {
    if (!takes_input_ || what_->told_end())
      return error{errc::invalid_request, "standard input is closed", {}};
    return what_->write(std::move(bytes));
  }
  [[nodiscard]] std::size_t pending_input() const noexcept override { return what_->pending(); }
  void signal(int number) override {
    if (number == SIGINT)
      what_->interrupt();
    else if (number == SIGTERM || number == SIGHUP || number == SIGQUIT)
      what_->end();
    else if (number == SIGKILL)
      what_->kill();
  }
  void kill() override { what_->kill(); }
  void resize(reactor::window_size) override {}
  [[nodiscard]] bool stopped() const noexcept override { return false; }

private:
  std::shared_ptr<remote_connection> over_; ///< stands as long as a command of it
  std::shared_ptr<remote_process> what_;
  bool takes_input_;
};

} // namespace

remote_environment::remote_environment(reactor::event_loop& loop, remote_terms terms)
    : loop_{loop}, connection_{std::make_shared<remote_connection>(loop, std::move(terms))} {}
remote_environment::~remote_environment() = default;

std::unique_ptr<command_process> remote_environment::start(const command_request& request,
                                                           command_listener listener) {
  auto id = random_id();
  auto params = exec_client::start_params(start_of(id, request, connection_->terms().paths));
  auto what = std::make_shared<remote_process>(loop_, connection_, std::move(id), std::move(params),
                                               request.tty, std::move(listener));
  connection_->add(what);
  return std::make_unique<handle>(connection_, what, request.tty || request.pipe_input);
}

} // namespace gatehouse::actors
