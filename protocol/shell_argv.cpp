#include "protocol/shell_argv.hpp"

namespace gatehouse {

std::vector<std::string> shell_argv(std::string_view shell, std::string_view command, bool login) {
  return {std::string{shell}, login ? "-lc" : "-c", std::string{command}};
}

} // namespace gatehouse
