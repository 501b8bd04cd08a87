#include "actors/endpoint/thread_book.hpp"

#include "actors/attempt_launch.hpp"
#include "actors/endpoint/call_book.hpp"
#include "actors/endpoint/refusals.hpp"
#include "actors/random_id.hpp"
#include "protocol/approval_policy_json.hpp"

#include <algorithm>

namespace gatehouse::actors {
namespace {

/// What is told of a thread, and what its file calls are confined by, follows the thread where that
/// follows the configuration.
void follow(thread_opening& opening, const std::shared_ptr<std::weak_ptr<thread_entry>>& whose) {
  if (!opening.terms.look_at_settings) return;
  opening.terms.look_at_settings = [look = std::move(opening.terms.look_at_settings),
                                    whose]() -> result<std::optional<terms_now>> {
    auto found = look();
    if (!found || !*found) return found;
    const auto& terms = *(*found)->terms;
    thread_opening now{terms, (*found)->roots, encode_approval_policy(terms.session.approval),
                       (*found)->profile};
    if (const auto entry = whose->lock()) keep_hidden(entry->opening.terms.shell, now.terms.shell);
    follow(now, whose);
    (*found)->terms = std::make_shared<const thread_terms>(now.terms);
    if (const auto entry = whose->lock()) {
      now.terms.id = entry->opening.terms.id;
      entry->opening = std::move(now);
    }
    return found;
  };
}

} // namespace

std::optional<rpc::failure> thread_book::full_for(std::string_view owner) const {
  const auto owned = [&](const auto& threads) {
    return static_cast<std::size_t>(std::ranges::count_if(
        threads, [&](const auto& one) { return one.second->owner == owner; }));
  };
  if (over_) return refused("this server is ending", "ending");
  const auto own = owned(state_->open) + owned(state_->closing);
  if (own >= limits_.session_threads)
    return overloaded("this session has as many threads as one may have; thread/close ends one",
                      own, limits_.session_threads);
  const auto all = state_->open.size() + state_->closing.size();
  if (all >= limits_.threads)
    return overloaded("this server has as many threads as it takes; try again when one is closed",
                      all, limits_.threads);
  return std::nullopt;
}

result<std::shared_ptr<thread_entry>> thread_book::start(const thread_wishes& wishes,
                                                         std::string owner) {
  auto opening = open_(wishes);
  if (!opening) return opening.error();
  opening->terms.id = "thread-" + random_id();
  opening->terms.retained_bytes = limits_.retained_bytes;
  auto settled = wishes;
  settled.cwd = opening->terms.session.cwd; // where it was, whatever a name comes to mean
  settled.environment = opening->terms.session.environment_id;
  const auto whose = std::make_shared<std::weak_ptr<thread_entry>>();
  follow(*opening, whose);
  auto handle = host_.open(opening->terms);
  auto entry = std::make_shared<thread_entry>(thread_entry{
      handle, std::move(owner), *std::move(opening), std::move(settled),
      std::make_shared<thread_watch>(), std::make_shared<call_book>(limits_.remembered_calls)});
  *whose = entry;
  handle.send(thread_messages::subscribe{entry->watch, false, std::nullopt});
  state_->open.emplace(handle.id(), entry);
  if (state_->started) state_->started(entry);
  return entry;
}

void thread_book::update(const std::shared_ptr<thread_entry>& entry, const thread_wishes& wishes,
                         std::function<void(const result<void>&)> done) {
  auto opening = open_(wishes);
  if (!opening) return done(opening.error());
  opening->terms.id = entry->opening.terms.id;
  follow(*opening, std::make_shared<std::weak_ptr<thread_entry>>(entry));
  thread_messages::update_settings order;
  order.terms = std::make_shared<const thread_terms>(opening->terms);
  order.roots = opening->roots;
  order.profile = opening->profile;
  order.done = [entry, wishes = thread_wishes{wishes}, opening = *std::move(opening),
                done = std::move(done)](const result<void>& how) mutable {
    if (how) {
      keep_hidden(entry->opening.terms.shell, opening.terms.shell);
      entry->opening = std::move(opening);
      entry->wishes = std::move(wishes);
    }
    done(how);
  };
  entry->handle.send(std::move(order));
}

std::shared_ptr<thread_entry> thread_book::find(std::string_view id) const {
  const auto found = state_->open.find(id);
  return found == state_->open.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<thread_entry>> thread_book::list() const {
  std::vector<std::shared_ptr<thread_entry>> all;
  for (const auto& [id, entry] : state_->open)
    all.push_back(entry);
  return all;
}

void thread_book::close_all() {
  over_ = true;
  for (const auto& entry : list())
    close(entry->handle.id());
}

void thread_book::close(const std::string& id) {
  const auto found = state_->open.find(id);
  if (found == state_->open.end()) return;
  const auto entry = found->second;
  state_->open.erase(found);
  state_->closing.emplace(entry->handle.id(), entry);
  entry->handle.send(
      thread_messages::close_thread{[weak = std::weak_ptr{state_}, id = entry->handle.id()] {
        const auto all = weak.lock();
        if (!all) return;
        const auto gone = all->closing.extract(id);
        if (!gone.empty() && all->closed) all->closed(gone.mapped());
      }});
}

} // namespace gatehouse::actors
