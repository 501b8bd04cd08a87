#include "actors/endpoint/client_wishes.hpp"

#include "actors/endpoint/refusals.hpp"

#include <string>

namespace gatehouse::actors {

namespace app = rpc::app;

wished_manner manner_of(const app::initialize_params& wished, authority who, std::size_t most) {
  const bool reviewer = who == authority::reviewer;
  wished_manner manner{{reviewer, false, most}, {}};
  if (!wished.capabilities || !wished.capabilities->gatehouse) return manner;
  const auto& own = *wished.capabilities->gatehouse;
  if (own.approvals.value_or(false) && !reviewer) {
    manner.refusal =
        refused("an agent answers no questions: leave `approvals` out, and open another "
                "connection with the reviewer's credential",
                "authority");
    return manner;
  }
  if (own.output_mode == app::output_mode::lossless) {
    manner.refusal =
        wrong_params("`outputMode` can only be lossy here: no command waits for a client that "
                     "reads slowly. What is left out is told by thread/events/missed, and "
                     "item/completed has the output as a whole");
    return manner;
  }
  const auto calls = own.max_in_flight.value_or(static_cast<std::int64_t>(most));
  if (calls < 1 || static_cast<std::uint64_t>(calls) > most) {
    manner.refusal = wrong_params("`maxInFlight` is 1 to " + std::to_string(most) + " here");
    return manner;
  }
  manner.granted = {reviewer && own.approvals.value_or(true), own.approvals.value_or(false),
                    static_cast<std::size_t>(calls)};
  return manner;
}

} // namespace gatehouse::actors
