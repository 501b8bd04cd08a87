#include "actors/guardian_http.hpp"

#include "protocol/chat_completion.hpp"
#include "protocol/guardian_answer.hpp"
#include "reactor/timer.hpp"

#include <utility>

namespace gatehouse::actors {
namespace {

using namespace std::chrono_literals;

constexpr int most_tries = 3;
constexpr auto between_tries = 200ms;

bool worth_another_try(unsigned status) {
  return status == 408 || status == 429 || status >= 500;
}

/// One question, with its tries. Ends with its handle.
class inquiry : public std::enable_shared_from_this<inquiry> {
public:
  inquiry(reactor::event_loop& loop, std::shared_ptr<reactor::http_client> client,
          std::shared_ptr<const guardian_endpoint> endpoint, std::string body,
          std::function<void(guardian_reply)> done)
      : loop_{loop}, client_{std::move(client)}, endpoint_{std::move(endpoint)},
        body_{std::move(body)}, done_{std::move(done)}, again_{loop}, until_{loop.now() +
                                                                             endpoint_->limit} {}

  void ask() {
    ++tries_;
    reactor::http_post request;
    request.to = endpoint_->to;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    if (!endpoint_->key.empty())
      request.headers.emplace_back("Authorization", "Bearer " + endpoint_->key);
    request.body = body_;
    request.limit = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - loop_.now());
    under_way_ =
        client_->post(std::move(request), [weak = weak_from_this()](reactor::http_end end) {
          if (const auto self = weak.lock()) self->heard(std::move(end));
        });
  }

private:
  void heard(reactor::http_end end) {
    using ending = reactor::http_end::ending;
    if (end.how == ending::timed_out)
      return finish({guardian_reply::kind::timed_out, out_of_time()});
    if (end.how == ending::failed) return try_again(std::move(end.why));
    if (end.status != 200) {
      auto why = "HTTP status " + std::to_string(end.status);
      return worth_another_try(end.status) ? try_again(std::move(why))
                                           : finish({guardian_reply::kind::failed, std::move(why)});
    }
    auto text = decode_chat_reply(end.body);
    if (!text) return try_again(text.error().message);
    if (const auto readable = decode_guardian_answer(*text); !readable)
      return try_again(readable.error().message);
    finish({guardian_reply::kind::text, *std::move(text)});
  }

  void try_again(std::string why) {
    if (tries_ >= most_tries) return finish({guardian_reply::kind::failed, std::move(why)});
    if (loop_.now() + between_tries >= until_)
      return finish({guardian_reply::kind::timed_out, out_of_time() + " (" + why + ")"});
    again_.start(between_tries, [this] { ask(); });
  }

  [[nodiscard]] std::string out_of_time() const {
    return "no answer within " + std::to_string(endpoint_->limit.count()) + " ms";
  }

  void finish(guardian_reply reply) {
    if (const auto done = std::exchange(done_, nullptr)) done(std::move(reply));
  }

  reactor::event_loop& loop_;
  std::shared_ptr<reactor::http_client> client_;
  std::shared_ptr<const guardian_endpoint> endpoint_;
  std::string body_;
  std::function<void(guardian_reply)> done_;
  reactor::timer again_;
  reactor::clock::time_point until_;
  int tries_ = 0;
  std::shared_ptr<void> under_way_;
};

} // namespace

guardian_transport ask_guardian_endpoint(reactor::event_loop& loop, guardian_endpoint endpoint) {
  const auto client = std::make_shared<reactor::http_client>(loop, endpoint.ca_file);
  const auto to = std::make_shared<const guardian_endpoint>(std::move(endpoint));
  return [&loop, client, to](const guardian_question& question,
                             std::function<void(guardian_reply)> done) {
    auto asked = std::make_shared<inquiry>(
        loop, client, to, encode_chat_question(to->model, question.prompt), std::move(done));
    asked->ask();
    return asked;
  };
}

} // namespace gatehouse::actors
