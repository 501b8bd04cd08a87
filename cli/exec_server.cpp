#include "cli/exec_server.hpp"

#include "cli/exec_server_files.hpp"

#include <cstdio>
#include <functional>
#include <random>
#include <utility>

#include <sys/stat.h>

namespace gatehouse::cli {
namespace {

using namespace exec_server;

constexpr std::chrono::milliseconds file_limit{60'000};
constexpr std::chrono::milliseconds watch_interval{25};
constexpr std::size_t max_processes = 1024; // of one session, ended ones included
constexpr int policy_violation = 1008;
constexpr std::size_t full_queue = 1024 * 1024; // bytes that wait before processes are read no more

failure invalid_params(const error& why) {
  return {code::invalid_params, why.message, {}, {}};
}

std::string random_uuid() {
  std::random_device source;
  std::string out;
  for (int i = 0; i < 36; ++i)
    out += i == 8 || i == 13 || i == 18 || i == 23 ? '-' : "0123456789abcdef"[source() % 16];
  return out;
}

bool exists(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0;
}

bool has_boundary(const std::optional<sandbox_terms>& sandbox) {
  return sandbox && sandbox->profile.kind == profile_kind::managed;
}

failure needs_boundary() {
  return {code::invalid_request,
          "this server runs nothing without a sandbox: send a managed `sandbox`, or start the "
          "server with --allow-unsandboxed",
          "sandboxRequired",
          {}};
}

} // namespace

/// What belongs to a client, attached or not.
class exec_server_host::session {
public:
  session(exec_server_terms& terms, reactor::worker_pool& workers)
      : id{random_uuid()}, expiry{*terms.host.loop}, terms_{terms}, workers_{workers},
        watch_timer_{*terms.host.loop} {}

  using reply = std::function<void(std::string json, const std::optional<failure>&)>;

  void call(const incoming& request, reply answer);
  void attach(std::shared_ptr<actors::client_port> channel) {
    expiry.cancel();
    channel_ = std::move(channel);
    drained();
  }
  void detach() {
    channel_ = nullptr;
    drained(); // what nobody takes is retained, the newest of it
  }
  [[nodiscard]] bool attached() const noexcept { return channel_ != nullptr; }
  void drained() {
    for (const auto& [name, process] : processes_)
      process->drained();
  }

  const std::string id;
  reactor::timer expiry;

private:
  struct handle {
    std::string path;
    bool replace = false;
    std::optional<sandbox_terms> sandbox;
  };

  void start(process_start what, const reply& answer);
  void files(file_call call, const reply& answer);
  void open_handle(const handle_open& order, const reply& answer);
  void watch(const watch_missing& order, const reply& answer);
  void look_at_watches();
  exec_process* find(const std::string& process_id) {
    const auto found = processes_.find(process_id);
    return found == processes_.end() ? nullptr : found->second.get();
  }
  exec_sink sink() {
    return {[this](std::string text) {
              if (channel_) channel_->send(std::move(text));
            },
            [this] { return channel_ && channel_->queued_bytes() > full_queue; }};
  }

  exec_server_terms& terms_;
  reactor::worker_pool& workers_;
  std::shared_ptr<actors::client_port> channel_;
  std::map<std::string, std::unique_ptr<exec_process>> processes_;
  std::map<std::string, handle> handles_;
  std::map<std::uint64_t, std::unique_ptr<reactor::program_exchange>> exchanges_;
  std::uint64_t last_exchange_ = 0;
  std::vector<watch_missing> watches_;
  reactor::timer watch_timer_;
  std::vector<std::unique_ptr<exec_process>> failed_;
  // Work of other threads must not come back to a session that is gone.
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

void exec_server_host::session::call(const incoming& request, reply answer) {
  const auto& params = request.params;
  const auto refuse = [&](const error& why) { answer({}, invalid_params(why)); };
  if (request.method == "environment/info") return answer(encode_environment_info(terms_.info), {});
  if (request.method == "environment/status") return answer(R"({"status":"ready"})", {});
  if (request.method == "process/start") {
    auto what = decode_process_start(params);
    return what ? start(*std::move(what), answer) : refuse(what.error());
  }
  if (request.method == "process/read") {
    const auto order = decode_process_read(params);
    if (!order) return refuse(order.error());
    auto* process = find(order->process_id);
    if (!process)
      return answer(
          {}, failure{code::invalid_request, "unknown process id " + order->process_id, {}, {}});
    return process->read(*order, [answer](std::string json) { answer(std::move(json), {}); });
  }
  if (request.method == "process/write") {
    const auto order = decode_process_write(params);
    if (!order) return refuse(order.error());
    auto* process = find(order->process_id);
    const auto status = process ? process->write(*order) : "unknownProcess";
    return answer("{\"status\":\"" + std::string{status} + "\"}", {});
  }
  if (request.method == "process/signal") {
    const auto process_id = decode_process_signal(params);
    if (!process_id) return refuse(process_id.error());
    if (auto* process = find(*process_id)) process->interrupt();
    return answer("{}", {});
  }
  if (request.method == "process/terminate") {
    const auto process_id = decode_process_id(params);
    if (!process_id) return refuse(process_id.error());
    auto* process = find(*process_id);
    const bool running = process && process->terminate();
    return answer(running ? R"({"running":true})" : R"({"running":false})", {});
  }
  if (const auto method = file_method_from(request.method)) {
    auto order = decode_file_call(*method, params);
    return order ? files(*std::move(order), answer) : refuse(order.error());
  }
  if (request.method == "fs/open") {
    const auto order = decode_handle_open(params);
    return order ? open_handle(*order, answer) : refuse(order.error());
  }
  if (request.method == "fs/readBlock" || request.method == "fs/writeBlock") {
    const bool write = request.method == "fs/writeBlock";
    auto order = decode_handle_block(params, write);
    if (!order) return refuse(order.error());
    const auto found = handles_.find(order->handle_id);
    if (found == handles_.end() || found->second.replace != write)
      return answer(
          {}, failure{code::not_found, "unknown file handle `" + order->handle_id + "`", {}, {}});
    file_call block;
    block.method = write ? file_method::write_range : file_method::read_range;
    block.path = found->second.path;
    block.sandbox = found->second.sandbox;
    block.offset = order->offset;
    block.length = order->length;
    block.bytes = std::move(order->bytes);
    return files(std::move(block), answer);
  }
  if (request.method == "fs/close") {
    const auto handle_id = decode_handle_id(params);
    if (!handle_id) return refuse(handle_id.error());
    handles_.erase(*handle_id);
    return answer("{}", {});
  }
  if (request.method == "fs/watchMissing") {
    const auto order = decode_watch_missing(params);
    return order ? watch(*order, answer) : refuse(order.error());
  }
  if (request.method == "capabilities/discoverV2")
    return answer(R"({"plugins":[],"skills":[],"warnings":[]})", {});
  if (request.method == "environmentConfig/read")
    return answer("{\"userHomeDir\":null,\"codexHomeDir\":null,\"hostname\":null,"
                  "\"config\":{\"layers\":[],\"cloudInsertionIndex\":0},"
                  "\"requirements\":{\"layers\":[],\"cloudInsertionIndex\":0}}",
                  {});
  answer({}, failure{code::unknown_method, "unknown method `" + request.method + "`", {}, {}});
}

void exec_server_host::session::start(process_start what, const reply& answer) {
  const auto process_id = what.process_id;
  if (find(process_id))
    return answer(
        {}, failure{code::invalid_request, "process " + process_id + " already exists", {}, {}});
  if (!has_boundary(what.sandbox) && !terms_.host.allow_unsandboxed)
    return answer({}, needs_boundary());
  if (processes_.size() >= max_processes) // the oldest that is over makes room
    for (auto it = processes_.begin(); it != processes_.end(); ++it)
      if (it->second->closed()) {
        processes_.erase(it);
        break;
      }
  if (processes_.size() >= max_processes)
    return answer(
        {}, failure{code::internal, "too many processes run in this session", "overloaded", {}});
  const bool sandboxed = has_boundary(what.sandbox);
  processes_[process_id] = std::make_unique<exec_process>(
      terms_.host, std::move(what), sink(),
      [this, process_id, sandboxed, answer](const std::optional<failure>& why) {
        if (why) {
          // This runs inside of it: it goes with the next start or with the session.
          failed_.clear();
          auto node = processes_.extract(process_id);
          if (!node.empty()) failed_.push_back(std::move(node.mapped()));
          return answer({}, why);
        }
        answer(encode_started(process_id, sandboxed), {});
      });
}

void exec_server_host::session::files(file_call call, const reply& answer) {
  const auto deliver = [answer](const file_answer& done) { answer(done.result, done.failed); };
  if (!has_boundary(call.sandbox)) {
    if (!terms_.host.allow_unsandboxed) return answer({}, needs_boundary());
    const auto queued = workers_.submit_value(
        [call = std::move(call)] { return perform_file_call(call); },
        [deliver, alive = std::weak_ptr<int>{alive_}](const file_answer& done) {
          if (!alive.expired()) deliver(done);
        });
    if (!queued) answer({}, failure{code::internal, queued.error().message, "overloaded", {}});
    return;
  }
  // Inside the boundary: our own program makes the call there.
  const auto& sandbox = *call.sandbox;
  gatehouse::sandbox::launch_request launch;
  launch.helper = terms_.host.helper;
  launch.policy_cwd = sandbox.cwd;
  launch.command_cwd = "/";
  launch.profile = sandbox.profile;
  launch.profile.network = network_policy::restricted;
  launch.workspace_roots = sandbox.workspace_roots;
  launch.legacy_landlock = sandbox.legacy_landlock;
  launch.protected_paths = terms_.host.protected_paths;
  launch.hidden_paths = terms_.host.hidden_paths;
  launch.command = {terms_.host.own, "file-call"};
  reactor::exchange_request exchange;
  exchange.spawn.argv = gatehouse::sandbox::launch_argv(launch);
  exchange.spawn.program = terms_.host.helper;
  exchange.spawn.env = {"PATH=/usr/bin:/bin"};
  exchange.input = encode_file_call(call);
  exchange.limit = file_limit;
  exchange.max_output = 32 * 1024 * 1024;
  const auto number = ++last_exchange_;
  exchanges_[number] = std::make_unique<reactor::program_exchange>(
      *terms_.host.loop, std::move(exchange),
      [this, number, deliver, answer](const reactor::exchange_end& end) {
        const auto own = std::move(exchanges_[number]);
        exchanges_.erase(number);
        using ending = reactor::exchange_end::ending;
        if (end.how == ending::exited && end.code == 0)
          if (const auto done = decode_file_answer(end.out)) return deliver(*done);
        answer({}, failure{code::internal,
                           "the file call could not be made inside the boundary: " +
                               (end.why.empty() ? end.err : end.why),
                           "sandboxUnavailable",
                           {}});
      });
}

void exec_server_host::session::open_handle(const handle_open& order, const reply& answer) {
  if (handles_.contains(order.handle_id))
    return answer(
        {},
        failure{code::invalid_request, "file handle `" + order.handle_id + "` is open", {}, {}});
  constexpr std::size_t max_handles = 1024;
  if (handles_.size() >= max_handles)
    return answer({}, failure{code::internal, "too many open files", "overloaded", {}});
  file_call probe;
  probe.method = order.replace ? file_method::write_range : file_method::read_range;
  probe.path = order.path;
  probe.truncate = order.replace;
  probe.sandbox = order.sandbox;
  files(std::move(probe),
        [this, order, answer](const std::string&, const std::optional<failure>& why) {
          if (why) return answer({}, why);
          handles_[order.handle_id] = {order.path, order.replace, order.sandbox};
          answer(encode_handle(order.handle_id), {});
        });
}

void exec_server_host::session::watch(const watch_missing& order, const reply& answer) {
  if (!terms_.host.allow_unsandboxed) return answer({}, needs_boundary());
  constexpr std::size_t max_watches = 256;
  if (watches_.size() >= max_watches)
    return answer({}, failure{code::internal, "too many watches", "overloaded", {}});
  watches_.push_back(order);
  answer(R"({"watching":true})", {});
  look_at_watches();
}

void exec_server_host::session::look_at_watches() {
  for (std::size_t i = 0; i < watches_.size();) {
    const auto& one = watches_[i];
    bool changed = !exists(one.present);
    for (const auto& path : one.missing)
      changed = changed || exists(path);
    if (!changed) {
      ++i;
      continue;
    }
    if (channel_) channel_->send(encode_missing_changed(one.watch_id));
    watches_.erase(watches_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!watches_.empty()) watch_timer_.start(watch_interval, [this] { look_at_watches(); });
}

/// One connection.
class exec_server_host::client : public std::enable_shared_from_this<client> {
public:
  client(exec_server_host& host, std::shared_ptr<actors::client_port> channel)
      : host_{host}, channel_{std::move(channel)} {}

  void take(std::string_view text);
  void closed() {
    if (session_) host_.detach(session_);
    session_.reset();
    channel_ = nullptr;
  }
  void drained() {
    if (session_) session_->drained();
  }

private:
  void initialize_session(const incoming& request);
  void fail(std::string_view id, const failure& why) {
    if (channel_) channel_->send(encode_failure(id, why));
  }

  exec_server_host& host_;
  std::shared_ptr<actors::client_port> channel_;
  std::shared_ptr<session> session_;
  bool ready_ = false;
};

void exec_server_host::client::take(std::string_view text) {
  if (!channel_) return;
  const auto in = parse_incoming(text);
  switch (in.kind) {
  case incoming_kind::malformed:
    return fail("-1", {code::invalid_request, "failed to read the message: " + in.why, {}, {}});
  case incoming_kind::response:
    return channel_->close(policy_violation, "nobody asked for this answer");
  case incoming_kind::notification:
    if (in.method == "initialized" && session_ && !ready_)
      ready_ = true;
    else
      channel_->close(policy_violation, "unknown notification");
    return;
  case incoming_kind::request: break;
  }
  if (in.method == "initialize") return initialize_session(in);
  if (!session_ || !ready_)
    return fail(in.id,
                {code::invalid_request,
                 std::string{"client must "} + (session_ ? "send initialized" : "call initialize") +
                     " before `" + in.method + "`",
                 {},
                 {}});
  const std::weak_ptr<client> weak = shared_from_this();
  session_->call(in,
                 [weak, id = in.id](const std::string& json, const std::optional<failure>& why) {
                   const auto self = weak.lock();
                   if (!self || !self->channel_) return;
                   self->channel_->send(why ? encode_failure(id, *why) : encode_result(id, json));
                 });
}

void exec_server_host::client::initialize_session(const incoming& request) {
  if (session_)
    return fail(request.id,
                {code::invalid_request, "initialize may only be sent once per connection", {}, {}});
  const auto order = decode_initialize(request.params);
  if (!order) return fail(request.id, invalid_params(order.error()));
  auto found = host_.resume(order->resume_session_id);
  if (!found)
    return fail(request.id,
                {code::invalid_request, "unknown session id " + order->resume_session_id, {}, {}});
  if (found->attached())
    return fail(request.id, {code::session_attached,
                             "session " + found->id + " is already attached to another connection",
                             {},
                             {}});
  session_ = std::move(found);
  channel_->send(encode_result(request.id, encode_initialized(session_->id, host_.terms_.info)));
  session_->attach(channel_);
}

exec_server_host::exec_server_host(exec_server_terms terms)
    : terms_{std::move(terms)}, workers_{*terms_.host.loop, 2} {}

exec_server_host::~exec_server_host() = default;

class exec_server_host::link : public actors::client_link {
public:
  explicit link(std::shared_ptr<client> one) : client_{std::move(one)} {}
  ~link() override { lost(); }
  void received(std::string_view text) override {
    if (const auto one = client_) one->take(text);
  }
  void drained() override {
    if (client_) client_->drained();
  }
  void lost() override {
    if (const auto one = std::exchange(client_, nullptr)) one->closed();
  }

private:
  std::shared_ptr<client> client_;
};

std::unique_ptr<actors::client_link>
exec_server_host::connected(std::shared_ptr<actors::client_port> port) {
  return std::make_unique<link>(std::make_shared<client>(*this, std::move(port)));
}

std::shared_ptr<exec_server_host::session> exec_server_host::resume(const std::string& id) {
  if (!id.empty()) {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : found->second;
  }
  auto fresh = std::make_shared<session>(terms_, workers_);
  sessions_[fresh->id] = fresh;
  return fresh;
}

void exec_server_host::detach(const std::shared_ptr<session>& gone) {
  gone->detach();
  gone->expiry.start(terms_.detached, [this, id = gone->id] { sessions_.erase(id); });
}

} // namespace gatehouse::cli
