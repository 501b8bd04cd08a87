#include "sandbox/launch.hpp"

#include "sandbox/outer_options.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::sandbox;

TEST_SUITE("sandbox.launch") {
  TEST_CASE("§76 what the daemon writes is what the helper reads") {
    launch_request request{"/opt/gatehouse-sandbox",
                           "/w",
                           "/w/sub",
                           workspace_write_profile(),
                           {"/w", "/x"},
                           "/t",
                           {".n"},
                           {"/w/state"},
                           9,
                           {"ls", "--", "-l"}};
    const auto argv = launch_argv(request);
    std::vector<const char*> arguments;
    for (std::size_t i = 1; i < argv.size(); ++i)
      arguments.push_back(argv[i].c_str());
    const auto read = parse_outer_options(arguments, "/elsewhere");
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(read->policy_cwd == "/w");
    CHECK(read->command_cwd == "/w/sub");
    CHECK(read->workspace_roots == request.workspace_roots);
    CHECK(read->tmpdir == "/t");
    CHECK(read->protected_names == request.protected_names);
    CHECK(read->protected_paths == request.protected_paths);
    CHECK(read->report_fd == 9);
    CHECK(read->command == request.command);
  }

  TEST_CASE("the report may come in any pieces, and a line that is not understood is counted") {
    sandbox_event started;
    sandbox_event exited;
  exited.kind = sandbox_event_kind::exited;
    exited.exit_code = 3;
    const auto text = to_json_line(started) + "nonsense\n" + std::string(70'000, 'x') + "\n" +
                      to_json_line(exited);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
      report_reader reader;
      std::vector<sandbox_event> events;
      for (std::size_t at = 0; at < text.size(); at += piece)
        for (auto& event : reader.feed(std::string_view{text}.substr(at, piece)))
          events.push_back(std::move(event));
      CHECK(events == std::vector{started, exited});
      CHECK(reader.not_understood() == 2);
    }
  }
}
