#include "cli/load_run.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gatehouse::cli {

using namespace std::chrono_literals;

load_run::load_run(reactor::event_loop& loop, load_terms terms)
    : loop_{loop}, terms_{std::move(terms)}, tick_{loop}, sample_{loop} {
  // Spread evenly, so that a mix is one from its first calls on.
  std::vector<std::int64_t> credit(terms_.mix.size(), 0);
  const auto total =
      std::accumulate(terms_.mix.begin(), terms_.mix.end(), std::int64_t{0},
                      [](std::int64_t sum, const load_call& call) { return sum + call.weight; });
  for (std::int64_t n = 0; n < std::min<std::int64_t>(total, 10'000); ++n) {
    for (std::size_t i = 0; i < credit.size(); ++i)
      credit[i] += terms_.mix[i].weight;
    const auto best = std::max_element(credit.begin(), credit.end()) - credit.begin();
    credit[static_cast<std::size_t>(best)] -= total;
    order_.push_back(static_cast<std::size_t>(best));
  }
}

load_run::~load_run() = default;

const load_call& load_run::next_call() {
  return terms_.mix[order_[next_++ % order_.size()]];
}

void load_run::connect() {
  for (std::size_t i = 0; i < terms_.connections; ++i) {
    auto& one = clients_.emplace_back();
    one.dialect = make_dialect(terms_.protocol, terms_.cwd);
    auto* dialect = one.dialect.get();
    reactor::websocket_client_terms line;
    line.bearer = terms_.token;
    line.frame_bytes = std::size_t{64} << 20U;
    one.line = std::make_unique<reactor::websocket_client>(
        loop_, terms_.target, std::move(line),
        reactor::websocket_client_events{
            [dialect] { dialect->begin(); },
            [dialect](std::string_view text) { dialect->received(text); },
            {},
            [this](const reactor::websocket_end& why) {
              if (result_.broken.empty()) result_.token_wanted = why.http_status == 401;
              broken(why.reason);
            }});
    dialect->send = [line = one.line.get()](std::string text) { line->send(std::move(text)); };
    dialect->on_ready = [this] {
      if (++ready_ == terms_.connections) begin();
    };
    dialect->on_end = [this](std::uint64_t number, const std::string& trouble) {
      ended(number, trouble);
    };
    dialect->on_broken = [this](const std::string& why) { broken(why); };
  }
}

void load_run::broken(const std::string& why) {
  if (result_.broken.empty())
    result_.broken = why.empty() ? "the server closed the connection" : why;
}

void load_run::begin() {
  begun_ = true;
  start_ = loop_.now();
  counted_from_ = start_ + terms_.warm_up;
  end_ = counted_from_ + terms_.duration;
  sample();
  if (terms_.rate) return tick();
  for (std::size_t i = 0; i < terms_.callers; ++i)
    start(start_);
}

/// Open loop: the times are fixed before the first call.
load_run::moment load_run::next_due() const {
  return start_ + std::chrono::duration_cast<reactor::clock::duration>(
                      std::chrono::duration<double>{static_cast<double>(due_) / *terms_.rate});
}

/// Open loop: begins what is due.
void load_run::tick() {
  const auto now = loop_.now();
  while (next_due() <= now && next_due() < end_) {
    if (!result_.broken.empty() || under_way_.size() >= terms_.most_open) break;
    const auto intended = next_due();
    ++due_;
    start(intended);
  }
  if (next_due() < end_) tick_.start_at(std::max(next_due(), now + 1ms), [this] { tick(); });
}

void load_run::start(moment intended) {
  if (!result_.broken.empty()) return;
  const auto number = ++last_number_;
  under_way_.emplace(number, intended);
  clients_[next_client_++ % clients_.size()].dialect->call(number, next_call());
}

void load_run::ended(std::uint64_t number, const std::string& trouble) {
  const auto found = under_way_.extract(number);
  if (found.empty()) return;
  const auto now = loop_.now();
  const auto intended = found.mapped();
  if (intended >= counted_from_) {
    ++done_;
    if (trouble.empty()) {
      result_.latency.add(std::chrono::duration_cast<std::chrono::microseconds>(now - intended));
    } else {
      ++result_.failed;
      ++result_.errors[trouble];
    }
  }
  if (!terms_.rate && now < end_) start(now);
}

void load_run::sample() {
  load_point point;
  point.seconds = std::chrono::duration<double>{loop_.now() - counted_from_}.count();
  point.calls = done_;
  point.under_way = under_way_.size();
  if (terms_.pid > 0) point.server = sample_process(terms_.pid);
  result_.points.push_back(point);
  const auto pause =
      std::max<reactor::clock::duration>(500ms, (terms_.duration + terms_.warm_up) / 600);
  if (loop_.now() < end_) sample_.start(pause, [this] { sample(); });
}

const load_result& load_run::run(const std::function<bool()>& stop) {
  const auto began = loop_.now();
  reactor::timer wake{loop_}; // the loop looks at the time only when something happens
  std::function<void()> again = [&] { wake.start(50ms, again); };
  again();
  connect();
  loop_.run_until([&] {
    if (stop() || !result_.broken.empty()) return true;
    const auto now = loop_.now();
    if (!begun_) {
      if (now - began > 30s) broken("the server does not answer");
      return !result_.broken.empty();
    }
    if (now < end_) return false;
    const bool all_begun = !terms_.rate || next_due() >= end_;
    return (all_begun && under_way_.empty()) || now > end_ + terms_.patience;
  });
  tick_.cancel();
  sample_.cancel();
  if (begun_) sample();
  sample_.cancel();
  const auto until = std::min(loop_.now(), end_);
  if (begun_ && until > counted_from_)
    result_.seconds = std::chrono::duration<double>{until - counted_from_}.count();
  // Whatever never came back, or never began, is no small latency.
  if (begun_ && terms_.rate)
    for (; next_due() < until; ++due_)
      if (next_due() >= counted_from_) {
        ++result_.failed;
        ++result_.errors["never begun"];
      }
  for (const auto& [number, intended] : under_way_)
    if (intended >= counted_from_) {
      ++result_.failed;
      ++result_.errors["no answer"];
    }
  clients_.clear();
  return result_;
}

} // namespace gatehouse::cli
