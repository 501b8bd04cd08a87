#include "policy/safety.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::policy;
using argv_t = std::vector<std::string>;

namespace {

command_segment segment_of(argv_t argv) {
  command_segment segment;
  segment.argv = std::move(argv);
  return segment;
}

std::string shown(const argv_t& argv) {
  std::string text;
  for (const auto& word : argv)
    text += word + ' ';
  return text;
}

void check_kind(danger_kind kind, const std::vector<argv_t>& table) {
  for (const auto& argv : table) {
    CAPTURE(shown(argv));
    const auto found = find_danger(segment_of(argv));
    REQUIRE(found);
    CHECK(found->kind == kind);
    CHECK_FALSE(found->why.empty());
    CHECK(found->why.find('\n') == std::string::npos);
  }
}

void check_harmless(const std::vector<argv_t>& table) {
  for (const auto& argv : table) {
    CAPTURE(shown(argv));
    CHECK_FALSE(find_danger(segment_of(argv)));
  }
}

command_analysis analysis_of(std::vector<argv_t> commands, std::string script = {}) {
  command_analysis analysis;
  for (auto& argv : commands)
    analysis.segments.push_back(segment_of(std::move(argv)));
  analysis.script = std::move(script);
  return analysis;
}

} // namespace

TEST_CASE("§29 rm is forced in every spelling of its option") {
  check_kind(danger_kind::forced_rm, {{"rm", "-f", "x"},
                                      {"rm", "-rf", "x"},
                                      {"rm", "-fr", "x"},
                                      {"rm", "-Rf", "x"},
                                      {"rm", "-If", "x"},
                                      {"rm", "-r", "-f", "x"},
                                      {"rm", "x", "-f"},
                                      {"rm", "--force", "x"},
                                      {"rm", "--forc", "x"},
                                      {"rm", "--recursive", "--force", "x"},
                                      {"rm", "-rf", "--", "x"},
                                      {"/bin/rm", "-f", "x"},
                                      {"rm", "-rf", "/"}});
}

TEST_CASE("§29 removing is not dangerous by itself, and names compare by case") {
  check_harmless({{"rm", "x"},
                  {"rm", "-r", "x"},
                  {"rm", "--", "-f"},
                  {"rm", "-i", "x"},
                  {"RM", "-f", "x"},
                  {"rmdir", "x"},
                  {"mv", "x", "y"},
                  {"printf", "rm -f x"},
                  {"echo", "rm", "-rf", "/"},
                  {"git", "commit", "-m", "remove mkfs step"},
                  {"grep", "-rn", "mkfs.ext4 /dev", "docs"},
                  {"rm", "*.o"}});
}

TEST_CASE("§29 what rm deletes must be known") {
  auto segment = segment_of({"rm", "x"});
  segment.unknown_words = 1;
  CHECK(find_danger(segment)->kind == danger_kind::other);
  segment.argv = {"rm", "*.o"};
  CHECK_FALSE(find_danger(segment));
}

TEST_CASE("§29 recursive changes of broad folders are dangerous") {
  check_kind(danger_kind::other, {{"rm", "-r", "/"},
                                  {"rm", "-r", "/*"},
                                  {"rm", "-r", "/etc"},
                                  {"rm", "-r", "/home/me"},
                                  {"rm", "-r", "~"},
                                  {"rm", "-r", "~/"},
                                  {"rm", "-r", "~/*"},
                                  {"rm", "-r", "."},
                                  {"rm", "-r", ".."},
                                  {"rm", "-r", "../.."},
                                  {"rm", "-r", "*"},
                                  {"rm", "-r", "//"},
                                  {"rm", "--recursive", "--no-preserve-root", "x"},
                                  {"chmod", "-R", "755", "/"},
                                  {"chown", "-R", "me", "/usr"},
                                  {"chmod", "-R", "777", "src"},
                                  {"chmod", "-R", "a+w", "src"},
                                  {"chmod", "--recursive", "o=rw", "src"},
                                  {"chmod", "u+s", "tool"},
                                  {"chmod", "4755", "tool"}});
  check_harmless({{"chmod", "+x", "run.sh"},
                  {"chmod", "755", "x"},
                  {"chmod", "-R", "u+w", "src"},
                  {"chown", "-R", "me", "src"},
                  {"chmod", "-R", "755", "."},
                  {"rm", "-r", "/home/me/x"},
                  {"rm", "-r", "./build"}});
}

TEST_CASE("§29 overwriting and deleting programs are dangerous") {
  check_kind(danger_kind::other, {{"find", ".", "-delete"},
                                  {"find", ".", "-exec", "rm", "{}", "+"},
                                  {"shred", "x"},
                                  {"dd", "if=/dev/zero", "of=x"},
                                  {"mkfs.ext4", "/dev/sda1"},
                                  {"mkfs", "x"},
                                  {"wipefs", "-a", "/dev/sda"},
                                  {"fdisk", "/dev/sda"},
                                  {"cp", "x", "/dev/sda"},
                                  {"tee", "/dev/nvme0n1"},
                                  {"mv", "x", "/dev/null"},
                                  {"truncate", "-s", "0", "/dev/sda"}});
  check_harmless({{"find", ".", "-name", "x"},
                  {"find", ".", "-exec", "cat", "{}", "+"},
                  {"dd", "if=x"},
                  {"dd", "if=x", "of=/dev/null"},
                  {"fdisk", "-l"},
                  {"wipefs", "/dev/sda"},
                  {"cp", "x", "y"},
                  {"truncate", "-s", "0", "log"}});
}

TEST_CASE("§29 stopping the machine or everything on it is dangerous") {
  check_kind(danger_kind::other, {{"shutdown", "-h", "now"},
                                  {"/sbin/reboot"},
                                  {"init", "0"},
                                  {"systemctl", "--no-wall", "poweroff"},
                                  {"kill", "-9", "-1"},
                                  {"kill", "-s", "KILL", "-1"},
                                  {"kill", "--", "-1"},
                                  {"crontab", "-r"},
                                  {"crontab", "-u", "me", "-r"}});
  check_harmless({{"kill", "-0", "1"},
                  {"kill", "-1", "123"},
                  {"kill", "123"},
                  {"init"},
                  {"systemctl", "status"},
                  {"crontab", "-l"}});
}

TEST_CASE("§29 git commands that throw work away are dangerous, dry runs are not") {
  check_kind(danger_kind::other, {{"git", "reset", "--hard"},
                                  {"git", "-C", "x", "reset", "--hard", "HEAD~1"},
                                  {"git", "-c", "a=b", "clean", "-fdx"},
                                  {"git", "clean", "--force"},
                                  {"git", "push", "--force"},
                                  {"git", "push", "-uf", "origin", "main"},
                                  {"git", "push", "--force-with-lease"},
                                  {"git", "push", "origin", "+main"},
                                  {"git", "push", "origin", ":main"},
                                  {"git", "push", "--delete", "origin", "main"},
                                  {"git", "push", "--mirror"},
                                  {"git", "checkout", "--", "."},
                                  {"git", "checkout", "-f"},
                                  {"git", "restore", "."},
                                  {"git", "restore", "-SW", "."},
                                  {"git", "stash", "clear"},
                                  {"git", "reflog", "expire", "--all"},
                                  {"git", "-c", "Alias.x=!foo", "x"},
                                  {"git", "filter-branch"}});
  check_harmless({{"git", "reset", "HEAD", "x"},
                  {"git", "clean", "-fdn"},
                  {"git", "push", "origin", "main"},
                  {"git", "push", "--force", "--dry-run", "origin", "main"},
                  {"git", "checkout", "-b", "b2"},
                  {"git", "checkout", "main"},
                  {"git", "restore", "x"},
                  {"git", "restore", "--staged", "."},
                  {"git", "stash", "list"},
                  {"git", "rm", "--cached", "x"},
                  {"git", "status"}});
}

TEST_CASE("§29 deleting what other machines hold is dangerous") {
  check_kind(danger_kind::other,
             {{"terraform", "destroy"}, {"kubectl", "delete", "pod"}, {"gh", "repo", "delete"}});
  check_harmless({{"docker", "ps"}, {"kubectl", "get", "pods"}, {"terraform", "plan"}});
}

TEST_CASE("§29 assignments that make the loader run other code are dangerous") {
  auto segment = segment_of({"git", "--version"});
  segment.assignments = {"A=1", "LD_PRELOAD=./x.so"};
  CHECK(find_danger(segment));
  segment.assignments = {"NODE_OPTIONS=--require=./x.js"};
  CHECK(find_danger(segment));
  segment.assignments = {"NODE_OPTIONS=--max-old-space-size=4096", "LC_ALL=C"};
  CHECK_FALSE(find_danger(segment));
}

TEST_CASE("§29 redirections into raw devices are dangerous, other targets are the sandbox's") {
  auto segment = segment_of({"echo", "x"});
  for (const char* target : {"/dev/sda", "/dev/mem", "/proc/sysrq-trigger"}) {
    segment.write_targets = {target};
    CHECK(find_danger(segment));
  }
  for (const char* target : {"/dev/null", "out.txt", "/dev/stdout"}) {
    segment.write_targets = {target};
    CHECK_FALSE(find_danger(segment));
  }
}

TEST_CASE("§29 downloaded text that is run as a program is dangerous") {
  CHECK(find_danger(analysis_of({{"curl", "-s", "u"}, {"sh"}})));
  CHECK(find_danger(analysis_of({{"wget", "-qO-", "u"}, {"sudo", "bash"}, {"bash", "-s"}})));
  CHECK(find_danger(analysis_of({{"curl", "u"}, {"python3", "-"}})));
  CHECK(find_danger(analysis_of({{"base64", "-d", "f"}, {"sh"}})));
  auto substituted = analysis_of({{"bash", "-c"}, {"curl", "u"}});
  substituted.segments[0].unknown_words = 1;
  CHECK(find_danger(substituted));
  CHECK_FALSE(find_danger(analysis_of({{"curl", "u"}, {"python3", "-m", "json.tool"}})));
  CHECK_FALSE(find_danger(analysis_of({{"curl", "u"}, {"node", "-e", "1"}})));
  CHECK(find_danger(analysis_of({{"curl", "-o", "x.sh", "u"}, {"sh", "x.sh"}})));
  CHECK_FALSE(find_danger(analysis_of({{"curl", "-o", "x.sh", "u"}, {"sh", "y.sh"}})));
  CHECK_FALSE(find_danger(analysis_of({{"curl", "u"}, {"jq", "."}})));
  CHECK_FALSE(find_danger(analysis_of({{"cat", "x"}, {"sh"}})));
}

TEST_CASE("§29 a function that starts itself twice is a fork bomb") {
  for (const std::string script :
       {":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", "f(){ f& f; };f"})
    CHECK(find_danger(analysis_of({{"x"}}, script)));
  for (const std::string script : {":(){ :; }; :", "f() { g | h; }; f", "echo '(){'", "a(){ b; }"})
    CHECK_FALSE(find_danger(analysis_of({{"x"}}, script)));
}

TEST_CASE("§27 §29 nothing is both known safe and dangerous") {
  const argv_t programs{"ls", "cat", "find", "rg",   "sed",   "git", "base64",  "uniq", "rm",
                        "cd", "tr",  "kill", "bash", "chmod", "dd",  "/bin/ls", "",     "curl"};
  const argv_t tokens{"",       "-",        "--",      "-n",       "-f",    "-rf",    "1p",
                      "-exec",  "-delete",  "--force", "push",     "reset", "--hard", "/",
                      "status", "branch",   "--list",  "-1",       ".",     "of=x",   "--output=x",
                      "-c",     "rm -rf x", "ls",      "/dev/sda", "777",   "-R",     "\xff"};
  for (const auto& program : programs)
    for (const auto& first : tokens)
      for (const auto& second : tokens)
        for (const auto& third : tokens) {
          const argv_t argv{program, first, second, third};
          const bool both = is_known_safe(argv) && find_danger(segment_of(argv));
          CHECK_MESSAGE(!both, shown(argv));
        }
}

TEST_CASE("§D20 too deep is judged danger and says so, also where nothing else is wrong") {
  auto analysis = analysis_of({{"ls"}});
  CHECK_FALSE(find_danger(analysis));
  analysis.too_deep = true;
  CHECK(find_danger(analysis) == danger{danger_kind::other, "too deeply nested"});
}

TEST_CASE("§20 PowerShell segments have a danger list of their own") {
  const auto judge = [](argv_t argv) {
    auto segment = segment_of(std::move(argv));
    segment.origin = segment_origin::powershell;
    return find_danger(segment).has_value();
  };
  CHECK(judge({"Remove-Item", "x", "-Recurse", "-Force"}));
  CHECK(judge({"ri", "x", "-Fo"}));
  CHECK(judge({"rm", "-force:$true", "x"}));
  CHECK(judge({"Start-Process", "https://example.test"}));
  CHECK(judge({"rundll32", "url.dll,FileProtocolHandler", "http://example.test"}));
  CHECK(judge({"msedge.exe", "https://example.test"}));
  CHECK_FALSE(judge({"Remove-Item", "x"}));
  CHECK_FALSE(judge({"Get-ChildItem", "-Force"}));
  CHECK_FALSE(judge({"Start-Process", "notepad"}));
  CHECK_FALSE(judge({"echo", "http://example.test"}));
}

TEST_CASE("§29 Windows programs are judged by their own switches") {
  check_kind(danger_kind::other, {{"cmd", "/c", "del /f x"},
                                  {"cmd.exe", "/d", "/c", "echo a & del /f/q x"},
                                  {"cmd", "/c", "rd /s /q x"},
                                  {"cmd", "/c", "start https://example.test"},
                                  {"powershell", "-Command", "Remove-Item x -Force"},
                                  {"pwsh", "-enc", "AAAA"},
                                  {"explorer.exe", "https://example.test"}});
  check_harmless({{"cmd", "/c", "dir"},
                  {"cmd", "/c", "del x"},
                  {"cmd", "/c", "rd /s x"},
                  {"powershell", "-Command", "Get-ChildItem"},
                  {"firefox", "https://example.test"}});
}

TEST_CASE("§29 a path of very many parts is judged and ends no program") {
  for (const std::string part : {"../", "./", "/", "/.", "a/", "..//", "/*"}) {
    std::string path;
    while (path.size() < 1'000'000)
      path += part;
    CAPTURE(part);
    CHECK(find_danger(segment_of({"rm", "-rf", path})));
    CHECK(find_danger(segment_of({"rm", "-rf", path + "x"})));
  }
}
