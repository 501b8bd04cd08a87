#pragma once

#include "actors/interfaces.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <string>

namespace gatehouse::actors {

/// Appends approved rules to the user's rule file (§42). Blocks its thread while another process
/// holds the lock of the rules folder.
class amendment_writer : public amendment_actor::base {
public:
  /// `report` hears one line about each rule: that it was added, or why not.
  amendment_writer(caf::actor_config& config, std::string gatehouse_home,
                   std::function<void(const std::string&)> report);
  behavior_type make_behavior() override;
  const char* name() const override { return "gatehouse.amendment-writer"; }

private:
  std::string gatehouse_home_;
  std::function<void(const std::string&)> report_;
};

} // namespace gatehouse::actors
