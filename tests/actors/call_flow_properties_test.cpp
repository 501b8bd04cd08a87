#include "tests/actors/flow_driver.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

/// Throws events at one flow, most of them stale, repeated or out of order, and checks what must
/// hold whatever comes.
class random_walk {
public:
  explicit random_walk(std::uint32_t seed) : random_{seed}, plan_{make_plan()}, machine_{plan_} {}

  void run() {
    for (int i = 0; i < 60; ++i)
      carry_out(machine_.step(next_event()));
    settle();
    CHECK(finishes_ == 1);
    for (const auto& one : registrations_)
      CHECK_MESSAGE(!one.second, "left open: ", one.first);
  }

private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool coin() { return below(2) == 0; }

  call_plan make_plan() {
    static const approval_mode modes[] = {approval_mode::untrusted, approval_mode::on_request,
                                          approval_mode::granular, approval_mode::never};
    auto profile = coin() ? workspace_write_profile() : read_only_profile();
    if (below(3) == 0) profile = with_denied_read(profile);
    if (below(6) == 0) profile = danger_full_access_profile();
    auto plan = plan_for(modes[below(4)], profile);
    plan.approval.granular.sandbox_approval = coin();
    plan.managed_network = coin() && profile.kind == profile_kind::managed;
    if (plan.managed_network) plan.profile.network = profile.network = network_policy::enabled;
    plan.strict_review = below(5) == 0;
    plan.runtime.asks_after_denial_on_request = coin();
    static const sandbox::sandbox_preference wants[] = {sandbox::sandbox_preference::automatic,
                                                        sandbox::sandbox_preference::require,
                                                        sandbox::sandbox_preference::forbid};
    plan.runtime.preference = wants[below(3)];
    static const sandbox_permissions asks[] = {sandbox_permissions::use_default,
                                               sandbox_permissions::require_escalated,
                                               sandbox_permissions::with_additional_permissions};
    plan.what.sandbox_permissions = asks[below(3)];
    if (coin()) plan.widened_profile = with_denied_read(profile);
    return plan;
  }

  flow::event next_event() {
    static const review_decision decisions[] = {review_decision::approved,
                                                review_decision::approved_for_session,
                                                review_decision::approved_execpolicy_amendment,
                                                review_decision::denied,
                                                review_decision::timed_out,
                                                review_decision::abort};
    static const attempt_ending endings[] = {
        attempt_ending::denied, attempt_ending::denied,    attempt_ending::exited,
        attempt_ending::denied, attempt_ending::timed_out, attempt_ending::not_started};
    switch (below(6)) {
    case 0: {
      if (!requirement_) {
        static const requirement_kind kinds[] = {
            requirement_kind::skip, requirement_kind::needs_approval, requirement_kind::forbidden};
        requirement_ = requires_(kinds[below(3)], coin());
        if (requirement_->evaluation.requirement.kind != requirement_kind::skip)
          requirement_->evaluation.requirement.bypass_sandbox = false;
      }
      return *requirement_;
    }
    case 1: {
      if (questions_.empty()) return flow::network_finished{"nobody", {}};
      auto answer = answer_to(questions_[below(questions_.size())], decisions[below(6)]);
      if (below(8) == 0) answer.answer.digest = "other";
      if (below(8) == 0) answer.answer.review_id = "other";
      return answer;
    }
    case 2: {
      const int attempt = 1 + static_cast<int>(below(2));
      if (below(8) == 0) return flow::network_registered{attempt, {}, {}};
      const auto name = "reg-" + std::to_string(++registration_count_);
      registrations_[name] = true;
      return flow::network_registered{attempt, name, {}};
    }
    case 3: return ended(1 + static_cast<int>(below(3)), endings[below(6)]);
    case 4: {
      std::optional<network_context> context;
      if (coin()) context = network_context{"https://example.org:443", coin(), coin()};
      auto end = end_with(context);
      end.registration = last_unregistered_;
      return end;
    }
    default:
      if (below(6) == 0) return flow::cancelled{};
      return flow::network_finished{"nobody", {}};
    }
  }

  void carry_out(const flow::effects& effects) {
    for (const auto& effect : effects) {
      if (const auto* ask = std::get_if<flow::ask_review>(&effect)) on_question(ask->request);
      if (const auto* start = std::get_if<flow::start_attempt>(&effect)) on_start(*start->what);
      if (const auto* closing = std::get_if<flow::unregister_network>(&effect)) {
        REQUIRE(registrations_.count(closing->registration) == 1);
        registrations_[closing->registration] = false;
        last_unregistered_ = closing->registration;
      }
      if (std::holds_alternative<flow::finish>(effect)) ++finishes_;
    }
    CHECK(finishes_ <= 1);
  }

  void on_question(const review_request& question) {
    CHECK(finishes_ == 0);
    CHECK(question.review_id != plan_.call_id);
    for (const auto& earlier : questions_) {
      CHECK(earlier.review_id != question.review_id);
      CHECK(earlier.attempt != question.attempt);
    }
    questions_.push_back(question);
  }

  void on_start(const attempt& what) {
    CHECK(finishes_ == 0);
    CHECK(what->number == ++attempts_);
    CHECK(attempts_ <= 2);
    REQUIRE(requirement_);
    const auto& requirement = requirement_->evaluation.requirement;
    CHECK(requirement.kind != requirement_kind::forbidden);
    if (requirement.kind == requirement_kind::needs_approval || what->number == 2 ||
        plan_.strict_review)
      CHECK(what->by);
    const bool managed = plan_.profile.kind == profile_kind::managed;
    const bool hides = has_denied_reads(plan_.profile) ||
                       (plan_.widened_profile && has_denied_reads(*plan_.widened_profile));
    if (hides) CHECK(what->sandbox_requested);
    if (managed && !what->sandbox_requested) {
      const bool said = what->by && questions_.back().without_sandbox &&
                        questions_.back().review_id == what->by->review_id();
      const bool rule = requirement.kind == requirement_kind::skip && requirement.bypass_sandbox;
      const bool unwanted = plan_.runtime.preference == sandbox::sandbox_preference::forbid;
      CHECK((said || (what->number == 1 && (rule || unwanted))));
    }
    CHECK(what->network_registration.empty() ==
          !(plan_.managed_network && what->sandbox_requested));
  }

  /// Plays the world that always answers, so that the flow must come to its end.
  void settle() {
    carry_out(machine_.step(flow::cancelled{}));
    for (int n = 1; n <= 2; ++n) {
      carry_out(machine_.step(ended(n, attempt_ending::cancelled)));
      for (const auto& [registration, open] : registrations_)
        carry_out(machine_.step(flow::network_finished{registration, {}}));
    }
    CHECK(machine_.finished());
  }

  std::mt19937 random_;
  call_plan plan_;
  call_flow machine_;
  std::optional<flow::requirement_known> requirement_;
  std::vector<review_request> questions_;
  std::map<std::string, bool> registrations_; ///< name → still open
  std::string last_unregistered_;
  int registration_count_ = 0;
  int attempts_ = 0;
  int finishes_ = 0;
};

} // namespace

TEST_SUITE("actors.call_flow_properties") {
  TEST_CASE("§47 §58 §106 no order of events breaks an invariant of the two-attempt machine") {
    for (std::uint32_t seed = 1; seed <= 4000; ++seed) {
      CAPTURE(seed);
      random_walk{seed}.run();
    }
  }
}
