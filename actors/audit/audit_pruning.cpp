#include "actors/audit/audit_store_state.hpp"

#include <algorithm>
#include <utility>

/// What is beyond the limits of an audit is taken out: its part of audit_store.hpp.
namespace gatehouse::actors {
namespace {

constexpr std::int64_t entries_a_step = 500; // of taking out; others wait so long
constexpr const char* give_back_pages = "PRAGMA incremental_vacuum(250)"; // more than a step frees

} // namespace

/// What to take out next.
result<audit_store::impl::step_of_pruning> audit_store::impl::next_step(const audit_retention& keep,
                                                                        audit_time now) {
  // One each: together they would read every entry.
  statement ends{db, "SELECT ifnull((SELECT min(seq) FROM entry), 0), "
                     "ifnull((SELECT max(seq) FROM entry), 0)"};
  if (const int code = ends.step(); code != SQLITE_ROW) return failed("read", code);
  step_of_pruning next{ends.number(0), 0};
  const auto last = ends.number(1);
  if (next.from == 0) return next;
  const auto most = std::min(last, next.from + entries_a_step - 1);
  if (keep.age.count() > 0) {
    statement kept{db, "SELECT seq FROM entry WHERE seq <= ?1 AND time >= ?2 ORDER BY seq LIMIT 1"};
    kept.bind(1, most);
    kept.bind(2, static_cast<std::int64_t>((now - keep.age).time_since_epoch().count()));
    const int code = kept.step();
    if (code != SQLITE_ROW && code != SQLITE_DONE) return failed("read", code);
    next.to = code == SQLITE_ROW ? kept.number(0) - 1 : most;
    next.last = next.to < most || most == last;
  }
  if (keep.bytes > 0 && prune_to < next.from) {
    statement size{db, "SELECT (page_count - freelist_count) * page_size "
                       "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"};
    if (const int code = size.step(); code != SQLITE_ROW) return failed("read", code);
    prune_to = size.number(0) > keep.bytes ? next.from + (last - next.from) / 4 : 0;
  }
  if (const auto to = std::min(prune_to, most); to > next.to) {
    next.to = to;
    next.last = to == prune_to;
  }
  if (next.to < next.from) next = {};
  return next;
}

result<bool> audit_store::prune(const audit_retention& keep, audit_time now) {
  auto& s = *impl_;
  // Programs that find nothing to do take no lock; another one may be first with what is found.
  if (const auto found = s.next_step(keep, now); !found || found->to == 0)
    return found ? result<bool>{false} : found.error();
  if (const int code = s.begin.run(); code != SQLITE_OK) return s.failed("written", code);
  auto more = [&]() -> result<bool> {
    const auto step = s.next_step(keep, now);
    if (!step) return step.error();
    if (step->to == 0) return false;
    statement anchor{s.db, "UPDATE chain SET pruned_seq = ?1, "
                           "pruned_hash = (SELECT hash FROM entry WHERE seq = ?1)"};
    anchor.bind(1, step->to);
    statement remove{s.db, "DELETE FROM entry WHERE seq <= ?1"};
    remove.bind(1, step->to);
    if (const int failed = anchor.run(); failed != SQLITE_OK) return s.failed("pruned", failed);
    if (const int failed = remove.run(); failed != SQLITE_OK) return s.failed("pruned", failed);
    draft note;
    note.time = now;
    note.entry.kind = audit_kind::pruned;
    note.entry.body =
        "{\"from\":" + std::to_string(step->from) + ",\"to\":" + std::to_string(step->to) + "}";
    if (auto noted = s.write({&note, 1}); !noted) return noted.error();
    if (const int failed = s.commit.run(); failed != SQLITE_OK) return s.failed("pruned", failed);
    return !step->last;
  }();
  if (sqlite3_get_autocommit(s.db) == 0) s.rollback.run();
  if (!more || !*more) s.prune_to = 0;
  if (more) s.execute(give_back_pages);
  return more;
}

} // namespace gatehouse::actors
