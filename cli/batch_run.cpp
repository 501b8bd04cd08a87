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

bool exited_zero(const app::tool_call_result& result) {
  return result.exit_code == std::int64_t{0};
}

} // namespace

int exit_status(const batch_counts& counts) noexcept {
  if (counts.failed + counts.interrupted + counts.not_run > 0) return 1;
  return counts.refused > 0 ? 3 : 0;
}

batch_run::batch_run(actors::thread_host& host, const actors::thread_handle& thread,
                     const batch_input& input, batch_journal* journal, batch_terms terms,
                     std::function<bool(const std::string&)> tell,
                     std::function<void(std::size_t)> progress)
    : host_{host}, thread_{thread}, input_{input}, journal_{journal}, terms_{terms},
      tell_{std::move(tell)}, progress_{std::move(progress)} {}

result<batch_counts> batch_run::run(const std::function<bool()>& stop) {
  start_more();
  host_.loop().run_until([&] {
    if (!stopping_ && stop()) end_all();
    return running_ == 0;
  });
  counts_.not_run = input_.items.size() - done_;
  if (failure_) return *failure_;
  return counts_;
}

void batch_run::count(app::call_status status, bool exit_zero) {
  switch (status) {
  case app::call_status::completed: ++(exit_zero ? counts_.fine : counts_.failed); break;
  case app::call_status::failed:
  case app::call_status::timed_out: ++counts_.failed; break;
  case app::call_status::declined:
  case app::call_status::rejected: ++counts_.refused; break;
  case app::call_status::interrupted: ++counts_.interrupted; break;
  }
}

/// An item that an earlier run has started.
void batch_run::take_up(std::int64_t index, const journal_entry& known) {
  if (known.finished) {
    ++counts_.remembered;
    const json_source source{"the journal", errc::invalid_request, "", std::size_t{64} << 20U};
    bool zero = false;
    if (const auto tree = parse_json(known.result, source))
      if (const auto read = rpc::codec<app::tool_call_result>::decode(json_node{*tree, source}))
        zero = exited_zero(*read);
    count(known.status, zero);
    have(index, known.call_id, known.result);
    return;
  }
  app::tool_call_result cut;
  cut.call_id = input_.items[static_cast<std::size_t>(index)].call_id;
  cut.status = app::call_status::interrupted;
  cut.message = cut_message;
  cut.report = {"{}"};
  count(cut.status, false);
  have(index, cut.call_id, rpc::to_json(cut));
}

void batch_run::start_more() {
  while (!stopping_ && running_ < terms_.jobs &&
         next_ < static_cast<std::int64_t>(input_.items.size())) {
    const auto index = next_++;
    if (journal_)
      if (const auto known = journal_->entries().find(index);
          known != journal_->entries().end() && (known->second.finished || !terms_.retry_started)) {
        take_up(index, known->second);
        continue;
      }
    start(index);
  }
}

void batch_run::start(std::int64_t index) {
  if (journal_)
    if (const auto noted = journal_->started(index); !noted) {
      failure_ = noted.error();
      end_all();
      return;
    }
  ++running_;
  const auto& item = input_.items[static_cast<std::size_t>(index)];
  thread_.send(actors::thread_messages::begin_call{
      {item.call_id, {}, item.arguments},
      [this, index](const result<call_report_ptr>& report) { ended(index, report); }});
}

void batch_run::ended(std::int64_t index, const result<call_report_ptr>& report) {
  --running_;
  app::tool_call_result told;
  if (report) {
    told = app::result_of(**report);
  } else { // there was no such call
    told.call_id = input_.items[static_cast<std::size_t>(index)].call_id;
    told.message = to_string(report.error());
    told.report = {"{}"};
  }
  const auto json = rpc::to_json(told);
  // A call that this run itself has stopped is one that was cut.
  const bool cut = stopping_ && told.status == app::call_status::interrupted;
  if (journal_ && !cut)
    if (const auto noted = journal_->finished(index, told.call_id, told.status, json); !noted) {
      failure_ = noted.error();
      end_all();
    }
  count(told.status, exited_zero(told));
  have(index, told.call_id, json);
  const bool fine = told.status == app::call_status::completed && exited_zero(told);
  if (terms_.fail_fast && !fine) end_all();
  start_more();
}

void batch_run::have(std::int64_t index, const std::string& call_id,
                     const std::string& result_json) {
  ++done_;
  untold_.emplace(index, rpc::to_json(rpc::batch::result_line{index, call_id, {result_json}}));
  while (!untold_.empty()) {
    const auto first = untold_.begin();
    if (terms_.input_order && first->first != next_told_) break;
    next_told_ = first->first + 1;
    const auto line = std::exchange(first->second, {});
    untold_.erase(first);
    if (!stopping_ || !failure_)
      if (!tell_(line)) end_all();
  }
  progress_(done_);
}

void batch_run::end_all() {
  if (std::exchange(stopping_, true)) return;
  thread_.send(actors::thread_messages::end_turn{
      {}, thread_events::turn_ending::interrupted, "the batch was stopped"});
}

} // namespace gatehouse::cli
