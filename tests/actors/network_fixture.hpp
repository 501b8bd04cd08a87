#pragma once

#include "actors/network_service.hpp"
#include "actors/shell_runtime.hpp"
#include "tests/actors/process_fixture.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <deque>
#include <thread>

namespace gatehouse::test {

/// Keeps every question open until the test answers it.
class waiting_reviewer : public actors::reviewer_actor::base {
public:
  struct desk {
    std::vector<review_request> asked;
    std::vector<std::string> withdrawn;
    std::map<std::string, caf::typed_response_promise<actors::review_answer_ptr>> open;
    /// Answers at once where it says something.
    std::function<std::optional<review_decision>(const review_request&)> at_once;
  };
  waiting_reviewer(caf::actor_config& config, std::shared_ptr<desk> d)
      : actors::reviewer_actor::base{config}, desk_{std::move(d)} {}
  behavior_type make_behavior() override {
    return {[this](actors::review_atom, const actors::review_request_ptr& question)
                -> caf::result<actors::review_answer_ptr> {
              desk_->asked.push_back(*question);
              if (desk_->at_once)
                if (const auto said = desk_->at_once(*question))
                  return std::make_shared<const review_answer>(review_answer{
                      question->review_id, question->digest, *said, reviewer_kind::user, "test"});
              auto promise = make_response_promise<actors::review_answer_ptr>();
              desk_->open[question->review_id] = promise;
              return promise;
            },
            [this](actors::withdraw_atom, const std::string& id) {
              desk_->withdrawn.push_back(id);
              desk_->open.erase(id);
            }};
  }
  void on_exit() override { desk_->open.clear(); }

private:
  std::shared_ptr<desk> desk_;
};

/// A web server on a loopback address that answers every connection with one page.
class page_server {
public:
  page_server(const char* address, std::uint16_t port)
      : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    inet_pton(AF_INET, address, &at.sin_addr);
    const int on = 1;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(fd_.get(), 64) != 0) {
      fd_.reset();
      return;
    }
    socklen_t size = sizeof at;
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    server_ = std::thread{[this] { serve(); }};
  }
  ~page_server() {
    if (!fd_) return;
    ::shutdown(fd_.get(), SHUT_RDWR);
    server_.join();
  }
  [[nodiscard]] bool up() const { return static_cast<bool>(fd_); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int served() const { return served_; }

private:
  void serve() {
    for (;;) {
      const reactor::unique_fd peer{::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (!peer) return;
      ++served_;
      const timeval limit{5, 0};
      ::setsockopt(peer.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      std::string head;
      char chunk[4096];
      while (head.find("\r\n\r\n") == std::string::npos) {
        const auto n = ::recv(peer.get(), chunk, sizeof chunk, 0);
        if (n <= 0) break;
        head.append(chunk, static_cast<std::size_t>(n));
      }
      const std::string_view page =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\npage\n";
      (void)!::send(peer.get(), page.data(), page.size(), MSG_NOSIGNAL);
    }
  }

  reactor::unique_fd fd_;
  std::uint16_t port_ = 0;
  std::atomic<int> served_ = 0;
  std::thread server_;
};

/// Every name under .test leads to one loopback address.
struct loopback_resolver : reactor::host_resolver {
  loopback_resolver(reactor::event_loop& l, std::string a) : loop{l}, address{std::move(a)} {}
  void resolve(const std::string&, reply answer) override {
    loop.post([answer, at = *parse_ip_address(address)] { answer({at}); });
  }
  reactor::event_loop& loop;
  std::string address;
};

/// A session with a managed network: real proxies, real sandboxes, real clients; names lead to
/// `address`, which is granted, so that only names decide.
struct network_stage : process_stage {
  static permission_profile networked() {
    auto profile = workspace_write_profile();
    profile.network = network_policy::enabled;
    return profile;
  }
  explicit network_stage(
      std::string at = "127.0.0.1", std::chrono::milliseconds grace = {},
      actors::hidden_wait::duration most_hidden = actors::hidden_wait::usual_most)
      : process_stage{networked()}, address{std::move(at)} {
    auto policy = std::make_shared<policy::domain_policy>();
    for (const auto& [host, verdict] :
         {std::pair{address, decision::allow}, std::pair{std::string{"ok.test"}, decision::allow},
          std::pair{std::string{"bad.test"}, decision::forbidden}})
      policy->rules.push_back({*policy::parse_domain_pattern(host), verdict, std::nullopt, host});
    terms.reviewer = system->spawn<waiting_reviewer>(reviews);
    actors::network_service_terms network;
    network.loop = &loop;
    network.policy = [policy] { return policy; };
    network.reviewer = terms.reviewer;
    network.resolver = std::make_shared<loopback_resolver>(loop, address);
    network.session_offered = true;
    network.patience = std::chrono::milliseconds{50};
    network.most_hidden = most_hidden;
    network.warn = [this](const std::string& text) { warnings.push_back(text); };
    if (grace.count() > 0) network.grace = grace;
    network.on_blocked = [this](const blocked_connection& what) { blocked.push_back(what); };
    service = system->spawn<actors::network_service>(std::move(network));
    terms.process.network = service;
    terms.process.host.attach_network = [to = service, view = actors::view_of(*policy)](
                                            const std::string& id, actors::network_link link) {
      caf::anon_send(to, actors::attach_v, id,
                     std::make_shared<actors::network_link>(std::move(link)));
      return view;
    };
    terms.make_call = [this](const actors::runtime_actor& runtime) { return call_on(runtime); };
    shell = system->spawn<actors::shell_runtime>(terms.process.host);
    manager = system->spawn<actors::process_manager>(terms);
  }
  ~network_stage() {
    terms.process.host.attach_network = {};
    terms.process.network = nullptr;
    if (last_call) caf::anon_send_exit(last_call, caf::exit_reason::user_shutdown);
    last_call = nullptr;
    caf::anon_send_exit(shell, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(service, caf::exit_reason::user_shutdown);
    shell = nullptr;
    service = nullptr;
    close();
  }

  actors::tool_call_actor call_on(const actors::runtime_actor& runtime) {
    actors::orchestrator_partners partners;
    partners.reviewer = terms.reviewer;
    partners.runtime = runtime;
    partners.network = service;
    return system->spawn<actors::tool_call>(judgement, std::move(partners));
  }
  actors::exec_request_ptr managed(const std::string& script, std::chrono::milliseconds yield,
                                   const std::string& environment = "local") {
    auto r = *request(script, yield);
    r.start.plan.managed_network = true;
    r.start.plan.what.environment_id = environment;
    return std::make_shared<const actors::exec_request>(std::move(r));
  }

  using exec_slot = std::shared_ptr<std::optional<actors::exec_reply_ptr>>;
  using report_slot = std::shared_ptr<std::optional<call_report_ptr>>;
  /// exec_command.
  exec_slot start_session(const std::string& script, std::chrono::milliseconds yield,
                          const std::string& environment = "local") {
    return ask<actors::exec_reply_ptr>(actors::run_v, managed(script, yield, environment));
  }
  /// shell_command.
  report_slot start_shell(const std::string& script, const std::string& environment = "local") {
    auto slot = std::make_shared<std::optional<call_report_ptr>>();
    auto start =
        std::make_shared<const actors::call_start>(managed(script, {}, environment)->start);
    last_call = call_on(shell);
    system->spawn([to = last_call, slot, start](caf::event_based_actor* self) {
      self->request(to, caf::infinite, actors::run_v, start)
          .then([slot](const call_report_ptr& report) { *slot = report; });
    });
    return slot;
  }
  call_report run_shell(const std::string& script, const std::string& environment = "local") {
    return *wait(start_shell(script, environment));
  }
  bool asked(std::size_t count) {
    return loop.run_until([&] { return reviews->asked.size() >= count; }, std::chrono::seconds{30});
  }
  void answer(std::size_t question, review_decision decision) {
    const auto& of = reviews->asked.at(question);
    const auto found = reviews->open.find(of.review_id);
    REQUIRE(found != reviews->open.end());
    auto promise = found->second;
    reviews->open.erase(found);
    promise.deliver(std::make_shared<const review_answer>(
        review_answer{of.review_id, of.digest, decision, reviewer_kind::user, "test"}));
  }

  std::string address;
  std::shared_ptr<waiting_reviewer::desk> reviews = std::make_shared<waiting_reviewer::desk>();
  std::vector<blocked_connection> blocked;
  std::vector<std::string> warnings;
  actors::network_service_actor service;
  actors::runtime_actor shell;
  actors::tool_call_actor last_call;
};

} // namespace gatehouse::test
