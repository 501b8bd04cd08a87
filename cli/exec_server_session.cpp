#include "cli/exec_server_session.hpp"

#include "protocol/exec_output.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace gatehouse::cli {
namespace {

using namespace exec_server;

constexpr std::size_t max_processes = 1024;        // of one session, ended ones included
constexpr std::size_t largest_binary = 256 * 1024; // bytes of output in one message
constexpr std::size_t full_queue = 1024 * 1024; // bytes that wait before processes are read no more

std::string random_uuid() {
  std::random_device source;
  std::string out;
  for (int i = 0; i < 36; ++i)
    out += i == 8 || i == 13 || i == 18 || i == 23 ? '-' : "0123456789abcdef"[source() % 16];
  return out;
}

} // namespace

exec_session::exec_session(exec_server_terms& terms, reactor::worker_pool& workers)
    : id{random_uuid()}, expiry{*terms.host.loop}, terms_{terms}, files_{terms, id, workers,
                                                                         [this](std::string text) {
                                                                           if (channel_)
                                                                             channel_->send(
                                                                                 std::move(text));
                                                                         }} {}

void exec_session::attach(std::shared_ptr<actors::client_port> channel, bool binary) {
  expiry.cancel();
  channel_ = std::move(channel);
  bytes_ = binary ? channel_->bytes() : nullptr;
  drained();
}

void exec_session::detach() {
  channel_ = nullptr;
  bytes_ = nullptr;
  drained(); // what nobody takes is retained, the newest of it
}

void exec_session::drained() {
  for (const auto& [name, process] : processes_)
    process->drained();
}

exec_process* exec_session::find(const std::string& process_id) {
  const auto found = processes_.find(process_id);
  return found == processes_.end() ? nullptr : found->second.get();
}

exec_sink exec_session::sink() {
  return {[this](std::string text) {
            if (channel_) channel_->send(std::move(text));
          },
          [this](const std::string& process_id, const retained_output::chunk& said) {
            if (bytes_)
              bytes_->send_bytes(encode_output_head(process_id, said.seq, said.stream), said.bytes);
            else if (channel_)
              channel_->send(encode_output(process_id, said.seq, said.stream, *said.bytes));
          },
          [this] { return bytes_ ? largest_binary : std::size_t{0}; },
          [this] { return channel_ && channel_->queued_bytes() > full_queue; }};
}

void exec_session::call(const incoming& request, exec_reply answer) {
  const auto& params = request.params;
  const auto refuse = [&](const error& why) {
    answer({}, failure{code::invalid_params, why.message, {}, {}});
  };
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
    const auto status = process ? process->write(*order) : std::string_view{"unknownProcess"};
    if (!status && status.error().code != errc::too_large) return refuse(status.error());
    if (!status)
      return answer({}, failure{code::overloaded, to_string(status.error()), "overloaded", {}});
    return answer("{\"status\":\"" + std::string{*status} + "\"}", {});
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
    return order ? files_.call(*std::move(order), answer) : refuse(order.error());
  }
  if (request.method == "fs/open") {
    const auto order = decode_handle_open(params);
    return order ? files_.open(*order, answer) : refuse(order.error());
  }
  if (request.method == "fs/readBlock" || request.method == "fs/writeBlock") {
    const bool write = request.method == "fs/writeBlock";
    auto order = decode_handle_block(params, write);
    if (!order) return refuse(order.error());
    return files_.block(*std::move(order), write, answer);
  }
  if (request.method == "fs/close") {
    const auto handle_id = decode_handle_id(params);
    if (!handle_id) return refuse(handle_id.error());
    files_.close(*handle_id);
    return answer("{}", {});
  }
  if (request.method == "fs/watchMissing") {
    const auto order = decode_watch_missing(params);
    return order ? files_.watch(*order, answer) : refuse(order.error());
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

void exec_session::start(process_start what, const exec_reply& answer) {
  const auto process_id = what.process_id;
  if (const auto open = starting_.find(process_id);
      open != starting_.end() && open->second.what == what)
    return open->second.waiting.push_back(answer);
  if (find(process_id))
    return answer(
        {}, failure{code::invalid_request, "process " + process_id + " already exists", {}, {}});
  if (!has_boundary(what.sandbox) && !terms_.host.allow_unsandboxed)
    return answer({}, needs_boundary());
  if (processes_.size() >= max_processes) { // the oldest that is over makes room
    const auto over = std::ranges::find_if(started_, [this](const std::string& name) {
      const auto* one = find(name);
      return !one || one->closed();
    });
    if (over != started_.end()) {
      processes_.erase(*over);
      started_.erase(over);
    }
  }
  if (processes_.size() >= max_processes)
    return answer(
        {}, failure{code::internal, "too many processes run in this session", "overloaded", {}});
  const bool sandboxed = has_boundary(what.sandbox);
  started_.push_back(process_id);
  starting_[process_id] = {what, {answer}};
  processes_[process_id] = std::make_unique<exec_process>(
      terms_.host, id, std::move(what), sink(),
      [this, process_id, sandboxed](const std::optional<failure>& why) {
        if (why) {
          // This runs inside of it: it goes with the next start or with the session.
          failed_.clear();
          std::erase(started_, process_id);
          auto node = processes_.extract(process_id);
          if (!node.empty()) failed_.push_back(std::move(node.mapped()));
        }
        start_answered(process_id, why ? std::string{} : encode_started(process_id, sandboxed),
                       why);
      });
}

void exec_session::start_answered(const std::string& process_id, const std::string& result,
                                  const std::optional<failure>& why) {
  const auto open = starting_.extract(process_id);
  if (open.empty()) return;
  for (const auto& answer : open.mapped().waiting)
    answer(result, why);
}

} // namespace gatehouse::cli
