#pragma once

#include <boost/json/object.hpp>

#include <string_view>
#include <vector>

namespace gatehouse::tests {

/// Every line of tests/cases/NAME (below $GATEHOUSE_SOURCE_DIR) as an object, blank lines left out.
/// Throws std::runtime_error naming file and line: a test without its cases must fail, not pass.
std::vector<boost::json::object> load_cases(std::string_view name);

} // namespace gatehouse::tests
