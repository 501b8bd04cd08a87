#pragma once

#include "protocol/output_stream.hpp"

namespace gatehouse::reactor {

using gatehouse::output_stream;

} // namespace gatehouse::reactor
