#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse::tests;

namespace {

struct desk {
  temp_folder base;
  program_options how;

  desk() {
    std::filesystem::create_directories(base / "ws");
    std::filesystem::create_directories(base / "out");
    how.cwd = base / "ws";
    how.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + base / "home"};
  }
  [[nodiscard]] program_result sandbox(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {built("gatehouse"), "sandbox"});
    return run_program(arguments, how);
  }
};

} // namespace

TEST_SUITE("system.cli_sandbox") {
  TEST_CASE(
      "§130 each built-in profile lets a command do what its row says, and nothing is printed") {
    const desk d;
    const auto write_out = "echo x > " + d.base / "out/f";
    auto ran = d.sandbox({"--profile", "workspace-write", "--", "sh", "-c", "echo hi | tee f"});
    CHECK(ran.status == 0);
    CHECK(ran.out == "hi\n");
    CHECK(ran.err.empty());
    CHECK(d.base.read("ws/f") == "hi\n");
    CHECK(d.sandbox({"--profile", ":workspace", "sh", "-c", write_out}).status != 0);
    CHECK(d.sandbox({"--profile", "read-only", "sh", "-c", "echo x > g"}).status != 0);
    CHECK(d.sandbox({"--profile=read-only", "cat", "f"}).out == "hi\n");
    CHECK_FALSE(std::filesystem::exists(d.base / "out/f"));
  }

  TEST_CASE("the exit status is the command's, 128+n, 126 or 127") {
    const desk d;
    CHECK(d.sandbox({"sh", "-c", "exit 7"}).status == 7);
    CHECK(d.sandbox({"sh", "-c", "kill -TERM $$"}).status == 128 + 15);
    CHECK(d.sandbox({"no-such-program-here"}).status == 127);
    d.base.write("ws/plain", "text");
    CHECK(d.sandbox({"./plain"}).status == 126);
  }

  TEST_CASE("§130a full access warns in one line") {
    const desk d;
    const auto ran = d.sandbox({"--profile", "danger-full-access", "true"});
    CHECK(ran.status == 0);
    CHECK(ran.err.find("full access") != std::string::npos);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }

  TEST_CASE("§12 §62 paths can be opened and closed for one command") {
    const desk d;
    d.base.write("out/secret", "s");
    const auto out = d.base / "out";
    CHECK(d.sandbox({"--allow-write", out, "sh", "-c", "echo x > ../out/f"}).status == 0);
    CHECK(d.base.read("out/f") == "x\n");
    CHECK(d.sandbox({"--deny-read", "../out/secret", "cat", "../out/secret"}).status != 0);
    CHECK(d.sandbox({"--profile", "danger-full-access", "--deny-read", out + "/secret", "cat",
                     out + "/secret"})
              .status != 0);
  }

  TEST_CASE("a configured profile and a profile object mean the same") {
    const desk d;
    d.base.write("home/.gatehouse/config.toml",
                 "default_permissions = 'mine'\n[permissions.mine]\nextends = ':read-only'\n"
                 "[permissions.mine.filesystem]\n\"" +
                     d.base / "out" + "\" = 'write'\n");
    CHECK(d.sandbox({"sh", "-c", "echo a > ../out/a"}).status == 0);
    CHECK(d.sandbox({"sh", "-c", "echo a > a"}).status != 0);
    const auto object = R"({"type":"managed","file_system":{"type":"restricted","entries":[)"
                        R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"},)"
                        R"({"path":{"type":"path","path":")" +
                        d.base / "out" + R"("},"access":"write"}]},"network":"restricted"})";
    CHECK(d.sandbox({"--profile", object, "sh", "-c", "echo b > ../out/b"}).status == 0);
    CHECK(d.sandbox({"--profile", object, "sh", "-c", "echo b > b"}).status != 0);
  }

  TEST_CASE("--explain prints the boundary and runs nothing") {
    const desk d;
    const auto ran = d.sandbox({"--explain"});
    CHECK(ran.status == 0);
    CHECK(ran.out.find("network: isolated") != std::string::npos);
    CHECK(ran.out.find("writable " + d.how.cwd) != std::string::npos);
  }

  TEST_CASE("§63 this program's own state cannot be written by a command") {
    const desk d;
    d.base.write("home/.gatehouse/config.toml", "");
    const auto ran = d.sandbox(
        {"--allow-write", d.base / "home", "sh", "-c", "echo x >> ../home/.gatehouse/config.toml"});
    CHECK(ran.status != 0);
    CHECK(d.base.read("home/.gatehouse/config.toml").empty());
  }
}
