#pragma once

#include "actors/audit/audit_sink.hpp"
#include "actors/audit/auditor_interface.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace gatehouse::actors {

using auditor_interface =
    // INTERNAL: the entry with this number stands (empty), or why not.
    auditor_actor::extend<caf::reacts_to<ended_atom, std::uint64_t, std::string>>;

/// The way of actors to the audit's sink.
class auditor : public auditor_interface::base {
public:
  auditor(caf::actor_config& config, std::shared_ptr<audit_sink> sink);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.auditor"; }

private:
  std::shared_ptr<audit_sink> sink_;
  std::map<std::uint64_t, caf::typed_response_promise<std::string>> waiting_;
  std::uint64_t last_ = 0;
};

/// Stands before a reviewer: its answers take effect when they are written, and a yes that cannot
/// be written is a no.
class audited_reviewer : public reviewer_actor::base {
public:
  /// @param about session and turn for the entries
  audited_reviewer(caf::actor_config& config, reviewer_actor reviewer, auditor_actor audit,
                   std::function<audit_record()> about);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.audited_reviewer"; }

private:
  [[nodiscard]] audit_record_ptr entry(const review_request& asked, audit_kind kind,
                                       std::string body) const;
  void answered(const review_request_ptr& asked, const review_answer_ptr& said,
                caf::typed_response_promise<review_answer_ptr> caller);

  reviewer_actor reviewer_;
  auditor_actor audit_;
  std::function<audit_record()> about_;
};

} // namespace gatehouse::actors
