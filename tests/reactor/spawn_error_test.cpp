#include "reactor/process.hpp"

#include "tests/reactor/process_fixture.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::reactor::test;

namespace {

struct folder {
  folder() {
    char name[] = "/tmp/gatehouse-spawn-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~folder() { std::filesystem::remove_all(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  std::string file(const std::string& name, const std::string& text, mode_t mode) const {
    const auto full = path + "/" + name;
    std::ofstream{full} << text;
    ::chmod(full.c_str(), mode);
    return full;
  }

  std::string path;
};

} // namespace

TEST_SUITE("reactor.spawn_error") {
  TEST_CASE("every failed start is a typed error that names the thing, and leaves nothing behind") {
    event_loop loop;
    loop.poll();
    const folder f;
    const auto plain = f.file("plain", "no program", 0755);
    const auto locked = f.file("locked", "#!/bin/sh\n", 0644);
    const auto lost = f.file("lost", "#!/no/such/interpreter\n", 0755);
    struct row {
      const char* what;
      std::function<void(spawn_request&)> change;
      errc code;
      std::string named;
    };
    const row rows[] = {
        {"program missing", [](auto& r) { r.program = "/no/such/program"; }, errc::not_found,
         "/no/such/program"},
        {"a file as a folder of the path", [&](auto& r) { r.program = plain + "/x"; },
         errc::not_found, plain + "/x"},
        {"interpreter missing", [&](auto& r) { r.program = lost; }, errc::not_found, lost},
        {"not in PATH",
         [](auto& r) {
           r.program.clear();
           r.argv = {"no-such-program-here"};
         },
         errc::not_found, "no-such-program-here"},
        {"not executable", [&](auto& r) { r.program = locked; }, errc::spawn_failed, locked},
        {"a folder", [&](auto& r) { r.program = f.path; }, errc::spawn_failed, f.path},
        {"no format", [&](auto& r) { r.program = plain; }, errc::spawn_failed, plain},
        {"folder missing", [](auto& r) { r.cwd = "/no/such/folder"; }, errc::invalid_request,
         "/no/such/folder"},
        {"folder is a file", [&](auto& r) { r.cwd = plain; }, errc::invalid_request, plain},
        {"arguments too long", [](auto& r) { r.argv.push_back(std::string(4'000'000, 'x')); },
         errc::too_large, "/bin/sh"},
        {"no argv",
         [](auto& r) {
           r.program.clear();
           r.argv.clear();
         },
         errc::invalid_request, "argv"},
        {"relative program", [](auto& r) { r.program = "bin/sh"; }, errc::invalid_request,
         "bin/sh"},
        {"NUL in an argument",
         [](auto& r) {
           r.argv.push_back(std::string{"a\0b", 3});
         },
         errc::invalid_request, "argv/3"},
        {"NUL in the environment",
         [](auto& r) {
           r.env.push_back(std::string{"A=\0", 3});
         },
         errc::invalid_request, "env/2"},
        {"no K=V", [](auto& r) { r.env.push_back("=x"); }, errc::invalid_request, "env/2"},
        {"terminal input without output", [](auto& r) { r.input = stdin_mode::pty; },
         errc::invalid_request, "terminal"},
        {"a standard number passed",
         [](auto& r) {
           r.pass_fds = {{0, 2}};
         },
         errc::invalid_request, "as 2"},
        {"a number passed twice",
         [](auto& r) {
           r.pass_fds = {{0, 5}, {1, 5}};
         },
         errc::invalid_request, "as 5"},
        {"a descriptor that is not open",
         [](auto& r) {
           r.pass_fds = {{9999, 5}};
         },
         errc::spawn_failed, "descriptors"},
    };
    const auto before = open_descriptors();
    for (const auto& row : rows) {
      CAPTURE(row.what);
      auto request = shell("echo ran");
      row.change(request);
      recorded r;
      const auto child = process::spawn(loop, request, r.listener());
      REQUIRE_FALSE(child);
      CHECK(child.error().code == row.code);
      CAPTURE(child.error().message);
      CHECK(child.error().message.find(row.named) != std::string::npos);
      loop.poll();
      CHECK(r.order.empty());
      CHECK(open_descriptors() == before);
      CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    }
  }

  TEST_CASE("BR-138 without descriptors left a start fails with an error, and works again later") {
    event_loop loop;
    loop.poll();
    rlimit old{};
    ::getrlimit(RLIMIT_NOFILE, &old);
    for (const std::size_t spare : {0U, 1U, 2U, 3U, 5U, 6U, 7U, 8U, 9U}) {
      CAPTURE(spare);
      const auto used = open_descriptors() - 1; // the listing itself had one open
      const rlimit tight{used + spare, old.rlim_max};
      ::setrlimit(RLIMIT_NOFILE, &tight);
      recorded r;
      auto child = process::spawn(loop, shell("exit 0"), r.listener());
      ::setrlimit(RLIMIT_NOFILE, &old);
      if (!child)
        CHECK(child.error().code == errc::io);
      else {
        r.child = std::move(*child);
        CHECK(finish(loop, r));
      }
      CHECK(open_descriptors() - 1 == used);
    }
    auto again = start(loop, shell("exit 0"));
    CHECK(finish(loop, *again));
  }

  TEST_CASE("the working folder does not decide which program a bare name means") {
    event_loop loop;
    const folder f;
    f.file("hello", "#!/bin/sh\necho trojan\n", 0755);
    auto request = shell("");
    request.program.clear();
    request.argv = {"hello"};
    request.cwd = f.path;
    for (const char* path :
         {"PATH=:/usr/bin", "PATH=.:/usr/bin", "PATH=/usr/bin:", "PATH=/usr/bin::/bin"}) {
      CAPTURE(path);
      request.env = {path};
      CHECK_FALSE(process::spawn(loop, request, {}));
    }
    request.argv = {"./hello"};
    auto named = start(loop, request);
    REQUIRE(finish(loop, *named));
    CHECK(named->out == "trojan\n");
  }
}
