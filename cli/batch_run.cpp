#include "cli/batch_run.hpp"

#include "protocol/rpc/app_events.hpp"
#include "protocol/rpc/batch_types.hpp"

#include <utility>

namespace gatehouse::cli {

namespace app = rpc::app;

namespace {

constexpr std::string_view cut_message =
    "This call had started when an earlier run of the batch was cut: whether it had an effect is "
    "not known. `--retry-started` runs such calls again.";

constexpr std::string_view lost_message =
    "This call was under way when the daemon was lost: whether it had an effect is not known.";

app::tool_call_result cut_result(const std::string& call_id, std::string_view message) {
  app::tool_call_result cut;
  cut.call_id = call_id;
  cut.status = app::call_status::interrupted;
  cut.message = message;
  cut.report = {"{}"};
  return cut;
}

/// What to do about an engine that failed.
std::string remedy_of(const batch_journal* journal, bool may_have_run) {
  if (journal)
    return "The same command goes on from here, by its journal; with --retry-started the "
           "interrupted calls run again, too.";
  return may_have_run ? "Look what the interrupted calls have done before you give the command "
                        "again: without --journal every call runs again."
                      : "Start the daemon, or correct what it refused; no call has run.";
}

bool exited_zero(const app::tool_call_result& result) {
  return result.exit_code == std::int64_t{0};
}

} // namespace

int exit_status(const batch_counts& counts) noexcept {
  if (counts.failed + counts.interrupted + counts.not_run > 0) return 1;
  return counts.refused > 0 ? 3 : 0;
}

void batch_counts::add(const app::tool_call_result& told) {
  std::string how;
  switch (told.status) {
  case app::call_status::completed:
    if (exited_zero(told)) {
      ++fine;
      return;
    }
    ++failed;
    how = told.exit_code ? "exit status " + std::to_string(*told.exit_code) : "no exit status";
    break;
  case app::call_status::failed: ++failed, how = "could not run"; break;
  case app::call_status::timed_out: ++failed, how = "ran out of time"; break;
  case app::call_status::declined: ++refused, how = "declined by a reviewer"; break;
  case app::call_status::rejected: ++refused, how = "rejected by policy"; break;
  case app::call_status::interrupted: ++interrupted, how = "interrupted"; break;
  }
  auto& alike = not_fine[how];
  if (++alike.calls <= 3) alike.first.push_back(told.call_id);
}

batch_run::batch_run(batch_engine& engine, const batch_input& input, batch_journal* journal,
                     batch_terms terms, std::function<bool(const std::string&)> tell,
                     std::function<void(std::size_t)> progress)
    : engine_{engine}, input_{input}, journal_{journal}, terms_{terms}, tell_{std::move(tell)},
      progress_{std::move(progress)} {}

result<void> batch_run::run(const std::function<bool()>& stop) {
  start_more();
  engine_.loop().run_until([&] {
    if (!stopping_ && stop()) end_all();
    if (const auto why = engine_.failure(); why && !failure_) {
      failure_ = *why;
      failure_->remedy = remedy_of(journal_, engine_.ready());
    }
    if (running_.empty() && engine_.ready()) start_more(); // it has just become so
    return engine_.failure() || (running_.empty() && (engine_.ready() || is_all_begun()));
  });
  // What an earlier run has finished is told, however early this one ended.
  for (; next_ < static_cast<std::int64_t>(input_.items.size()); ++next_)
    if (const auto* entry = known(next_); entry && entry->finished) take_up(next_, *entry);
  lose_running();
  while (!untold_.empty()) // what waited for one that never came
    tell_next();
  counts_.not_run = input_.items.size() - done_;
  if (failure_) return *failure_;
  return {};
}

const journal_entry* batch_run::known(std::int64_t index) const {
  if (!journal_) return nullptr;
  const auto found = journal_->entries().find(index);
  return found == journal_->entries().end() ? nullptr : &found->second;
}

/// An item that an earlier run has started.
void batch_run::take_up(std::int64_t index, const journal_entry& entry) {
  if (entry.finished) {
    ++counts_.remembered;
    const json_source source{"the journal", errc::invalid_request, "", std::size_t{64} << 20U};
    app::tool_call_result told; // what only the result tells is unset where it cannot be read
    if (const auto tree = parse_json(entry.result, source))
      if (auto read = rpc::codec<app::tool_call_result>::decode(json_node{*tree, source}))
        told = *std::move(read);
    told.call_id = entry.call_id;
    told.status = entry.status;
    counts_.add(told);
    have(index, entry.call_id, entry.result);
    // As without the interruption; a call that was cut is no reason to run none of the rest.
    if (terms_.fail_fast && !(told.status == app::call_status::completed && exited_zero(told)))
      end_all();
    return;
  }
  const auto cut = cut_result(input_.items[static_cast<std::size_t>(index)].call_id, cut_message);
  counts_.add(cut);
  have(index, cut.call_id, rpc::to_json(cut));
}

bool batch_run::is_all_begun() const {
  return next_ == static_cast<std::int64_t>(input_.items.size());
}

void batch_run::start_more() {
  while (!stopping_ && running_.size() < terms_.jobs && !is_all_begun()) {
    const auto* entry = known(next_);
    if (entry && (entry->finished || !terms_.retry_started)) {
      take_up(next_++, *entry);
      continue;
    }
    if (!engine_.ready()) return; // nothing is noted as started before somebody can run it
    start(next_++);
  }
}

void batch_run::start(std::int64_t index) {
  if (journal_)
    if (const auto noted = journal_->started(index); !noted) {
      failure_ = noted.error();
      end_all();
      return;
    }
  begin(index);
}

void batch_run::begin(std::int64_t index) {
  running_.insert(index);
  const auto& item = input_.items[static_cast<std::size_t>(index)];
  const auto again = tries_.find(index);
  // An id names one run of a call; that of the item names the first.
  const auto id =
      again == tries_.end() ? item.call_id : item.call_id + "~" + std::to_string(again->second);
  engine_.start(id, item,
                [this, index](app::tool_call_result told) { ended(index, std::move(told)); });
}

void batch_run::ended(std::int64_t index, app::tool_call_result told) {
  running_.erase(index);
  const bool failed = told.status == app::call_status::failed ||
                      told.status == app::call_status::timed_out ||
                      (told.status == app::call_status::completed && !exited_zero(told));
  if (failed && !stopping_ && terms_.retries > 0)
    if (auto& tries = tries_[index]; tries < terms_.retries) {
      // A retry writes no line of its own, by which a journal that is another one would be noticed.
      const auto ours = journal_ ? journal_->unchanged() : result<void>{};
      if (ours) {
        ++tries;
        return begin(index);
      }
      failure_ = ours.error();
      end_all();
    }
  tries_.erase(index);
  told.call_id = input_.items[static_cast<std::size_t>(index)].call_id;
  const auto json = rpc::to_json(told);
  // A call that this run itself has stopped is one that was cut.
  const bool cut = stopping_ && told.status == app::call_status::interrupted;
  if (journal_ && !cut)
    if (const auto noted = journal_->finished(index, told.call_id, told.status, json); !noted) {
      failure_ = noted.error();
      end_all();
    }
  counts_.add(told);
  have(index, told.call_id, json);
  const bool fine = told.status == app::call_status::completed && exited_zero(told);
  if (terms_.fail_fast && !fine) end_all();
  start_more();
}

void batch_run::have(std::int64_t index, const std::string& call_id,
                     const std::string& result_json) {
  ++done_;
  untold_.emplace(index, rpc::to_json(rpc::batch::result_line{index, call_id, {result_json}}));
  while (!untold_.empty() && (!terms_.input_order || untold_.begin()->first == next_told_))
    tell_next();
  progress_(done_);
}

void batch_run::tell_next() {
  const auto first = untold_.begin();
  next_told_ = first->first + 1;
  const auto line = std::exchange(first->second, {});
  untold_.erase(first);
  if (!tell_(line)) end_all();
}

/// The engine failed: what ran may have had its effect, and no end of it comes.
void batch_run::lose_running() {
  for (const auto index : std::exchange(running_, {})) {
    const auto cut =
        cut_result(input_.items[static_cast<std::size_t>(index)].call_id, lost_message);
    counts_.add(cut);
    have(index, cut.call_id, rpc::to_json(cut));
  }
}

void batch_run::end_all() {
  if (std::exchange(stopping_, true)) return;
  engine_.stop();
}

} // namespace gatehouse::cli
