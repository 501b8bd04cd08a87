#include "actors/amendment_writer.hpp"

#include "config/amendment.hpp"

#include <utility>

namespace gatehouse::actors {

amendment_writer::amendment_writer(caf::actor_config& config, std::string gatehouse_home,
                                   std::function<void(const std::string&)> report)
    : amendment_actor::base{config}, gatehouse_home_{std::move(gatehouse_home)}, report_{std::move(
                                                                                     report)} {}

amendment_writer::behavior_type amendment_writer::make_behavior() {
  return {
      [this](add_rule_atom, const prefix_ptr& prefix) {
        const auto line = config::prefix_rule_line(*prefix);
        if (!line) return report_("the rule was not added: " + to_string(line.error()));
        const auto added = config::append_rule(gatehouse_home_, *line);
        if (!added) return report_("the rule was not added: " + to_string(added.error()));
        report_((*added == config::amendment_outcome::added ? "added to " : "already in ") +
                gatehouse_home_ + "/rules/default.rules: " + *line);
      },
  };
}

} // namespace gatehouse::actors
