#include "actors/endpoint/thread_book.hpp"

#include "actors/random_id.hpp"

namespace gatehouse::actors {

result<std::shared_ptr<thread_entry>> thread_book::start(const thread_wishes& wishes,
                                                         std::string owner) {
  auto opening = open_(wishes);
  if (!opening) return opening.error();
  opening->terms.id = "thread-" + random_id();
  opening->terms.retained_bytes = retained_bytes_;
  auto handle = host_.open(opening->terms);
  auto entry = std::make_shared<thread_entry>(thread_entry{
      handle, std::move(owner), *std::move(opening), std::make_shared<thread_watch>()});
  handle.send(thread_messages::subscribe{entry->watch, false, std::nullopt});
  threads_.emplace(handle.id(), entry);
  if (started_) started_(entry);
  return entry;
}

void thread_book::update(const std::shared_ptr<thread_entry>& entry, const thread_wishes& wishes,
                         std::function<void(const result<void>&)> done) {
  auto opening = open_(wishes);
  if (!opening) return done(opening.error());
  thread_messages::update_settings order;
  order.terms = std::make_shared<const thread_terms>(opening->terms);
  order.roots = opening->roots;
  order.profile = opening->profile;
  order.done = [entry, opening = *std::move(opening),
                done = std::move(done)](const result<void>& how) {
    if (how) entry->opening = opening;
    done(how);
  };
  entry->handle.send(std::move(order));
}

std::shared_ptr<thread_entry> thread_book::find(std::string_view id) const {
  const auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<thread_entry>> thread_book::list() const {
  std::vector<std::shared_ptr<thread_entry>> all;
  for (const auto& [id, entry] : threads_)
    all.push_back(entry);
  return all;
}

void thread_book::close(const std::string& id) {
  const auto found = threads_.find(id);
  if (found == threads_.end()) return;
  found->second->handle.send(thread_messages::close_thread{});
  threads_.erase(found);
}

} // namespace gatehouse::actors
