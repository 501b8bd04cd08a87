#include "config/locations.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include <pwd.h>
#include <unistd.h>

using namespace gatehouse::config;

namespace {

/// One variable of this process, put back at the end.
class variable {
public:
  variable(const char* name, const char* value) : name_{name} {
    if (const char* now = std::getenv(name)) before_ = now;
    if (value != nullptr)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  ~variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

private:
  const char* name_;
  std::optional<std::string> before_;
};

} // namespace

TEST_SUITE("config.locations") {
  TEST_CASE("§43 a service that was started without HOME went without its user's rules") {
    const variable settings{"GATEHOUSE_HOME", nullptr};
    const variable state{"XDG_STATE_HOME", nullptr};
    const passwd* const user = ::getpwuid(::geteuid());
    const std::string home = user != nullptr ? user->pw_dir : "/";
    for (const char* given : {static_cast<const char*>(nullptr), "", "a/b"}) {
      const variable set{"HOME", given};
      CHECK(locations_from_environment().user_home == home);
    }
    const variable set{"HOME", "/"};
    const auto where = locations_from_environment();
    CHECK(where.gatehouse_home == "/.gatehouse");
    CHECK(where.state == "/.local/state/gatehouse");
  }
}
