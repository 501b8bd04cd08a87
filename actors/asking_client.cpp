#include "actors/asking_client.hpp"

#include "protocol/explain_text.hpp"

#include <utility>
#include <variant>

namespace gatehouse::actors {

using namespace thread_messages;

asking_client::~asking_client() {
  for (auto& [id, withdrawn] : open_)
    *withdrawn = true;
}

void asking_client::on_event(const thread_event_ptr& event) {
  if (const auto* asked = std::get_if<thread_events::review_asked>(&event->what)) {
    if (asked->who == reviewer_kind::user) ask(asked->question);
  } else if (const auto* settled = std::get_if<thread_events::review_resolved>(&event->what)) {
    if (auto open = open_.extract(settled->answer.review_id)) *open.mapped() = true;
  }
}

namespace {

/// The call of a question, as it was proposed.
tool_arguments proposed_call(const proposal& what) {
  shell_request call;
  call.command = what.argv;
  call.workdir = what.cwd;
  call.sandbox_permissions = what.sandbox_permissions;
  call.additional_permissions = what.additional_permissions;
  call.justification = what.justification;
  call.prefix_rule = what.prefix_rule;
  return call;
}

} // namespace

void asking_client::ask(const review_request& question) {
  const auto withdrawn = std::make_shared<std::atomic<bool>>(false);
  if (!open_.try_emplace(question.review_id, withdrawn).second) return; // offered again
  thread_.send(explain_call{
      proposed_call(question.what), [thread = thread_, ask = ask_, &workers = workers_, question,
                                     withdrawn](const result<explained_call>& told) {
        auto why =
            told ? why_text(told->evaluation, told->sandbox) : to_string(told.error()) + "\n";
        const auto queued =
            workers.submit_value([ask, question, withdrawn,
                                  why = std::move(why)] { return ask(question, why, *withdrawn); },
                                 [thread](review_answer given) {
                                   thread.send(answer_review{std::move(given.review_id),
                                                             std::move(given.digest),
                                                             given.decision,
                                                             std::move(given.reason),
                                                             {},
                                                             given.denies_host,
                                                             std::move(given.permissions)});
                                 });
        if (!queued)
          thread.send(answer_review{
              question.review_id, {}, review_decision::denied, queued.error().message, {}});
      }});
}

} // namespace gatehouse::actors
