#include "tests/support/json_lines.hpp"

#include <boost/json/parse.hpp>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

namespace gatehouse::tests {

std::vector<boost::json::object> load_cases(std::string_view name) {
  const char* root = std::getenv("GATEHOUSE_SOURCE_DIR");
  if (root == nullptr)
    throw std::runtime_error("GATEHOUSE_SOURCE_DIR is not set: run through ctest, or set it to "
                             "the project's folder");
  const auto path = std::string(root) + "/tests/cases/" + std::string(name);
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");

  std::vector<boost::json::object> cases;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    boost::system::error_code error;
    auto value = boost::json::parse(line, error);
    if (error || !value.is_object())
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " +
                               (error ? error.message() : "not a JSON object"));
    cases.push_back(std::move(value.as_object()));
  }
  return cases;
}

} // namespace gatehouse::tests
