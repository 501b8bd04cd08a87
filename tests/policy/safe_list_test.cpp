#include "policy/safety.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using gatehouse::policy::is_known_safe;
using gatehouse::policy::is_known_safe_powershell;
using argv_t = std::vector<std::string>;

namespace {

void check(bool safe, const std::vector<argv_t>& table) {
  for (const auto& argv : table) {
    std::string shown;
    for (const auto& word : argv)
      shown += word + ' ';
    CAPTURE(shown);
    CHECK(is_known_safe(argv) == safe);
  }
}

} // namespace

TEST_CASE("§27 programs that only read and print are safe, by name or system path") {
  check(true, {{"ls", "-la"},
               {"/bin/ls"},
               {"cat", "README.md"},
               {"cd", "repo"},
               {"cut", "-c1-3", "f"},
               {"echo", "rm -rf /"},
               {"expr", "1", "+", "1"},
               {"false"},
               {"grep", "-rn", "x", "."},
               {"head", "-n", "1", "f"},
               {"id", "-u"},
               {"nl", "-ba", "f"},
               {"numfmt", "--to=iec", "4096"},
               {"paste", "a", "b"},
               {"pwd"},
               {"rev", "f"},
               {"seq", "1", "3"},
               {"stat", "f"},
               {"tac", "f"},
               {"tail", "-n", "3", "f"},
               {"tr", "a-z", "A-Z"},
               {"true"},
               {"uname", "-a"},
               {"wc", "-l", "f"},
               {"which", "ls"},
               {"whoami"}});
}

TEST_CASE("§27 programs outside the narrow list are unknown, not safe") {
  check(false, {{},
                {"printf", "a"},
                {"basename", "/a/b"},
                {"printenv", "PATH"},
                {"file", "f"},
                {"sort", "f"},
                {"tee", "f"},
                {"awk", "{print}"},
                {"env", "ls"},
                {"nice", "ls"},
                {"timeout", "5", "ls"},
                {"xargs", "ls"},
                {"command", "ls"},
                {"sudo", "ls"},
                {"yes"},
                {"LS"},
                {"ls.exe"},
                {"python3", "-V"},
                {"hostname", "x"},
                {"date", "-s", "x"},
                {"touch", "x"},
                {":"},
                {"[", "-f", "x", "]"},
                {"set", "-e"}});
}

TEST_CASE("§27 uniq is safe only without an output file") {
  check(true, {{"uniq"}, {"uniq", "-c", "in"}, {"uniq", "-f", "1", "in"}, {"uniq", "-"}});
  check(false, {{"uniq", "in", "out"},
                {"uniq", "-c", "in", "out"},
                {"uniq", "--", "-c", "out"},
                {"uniq", "-", "out"},
                {"uniq", "-f1", "in", "out"}});
}

TEST_CASE("§27 base64 is safe unless it writes a file, abbreviated or bundled too") {
  check(true, {{"base64", "f"}, {"base64", "-d", "f"}, {"base64", "--decode", "-w", "0", "f"}});
  check(false, {{"base64", "-o", "x", "f"},
                {"base64", "-ox", "f"},
                {"base64", "-do", "x"},
                {"base64", "--output", "x"},
                {"base64", "--output=x"},
                {"base64", "--outp=x"},
                {"base64", "--o", "x"}});
}

TEST_CASE("§27 find is safe unless it executes, deletes or writes") {
  check(true, {{"find", ".", "-type", "f", "-maxdepth", "1"}, {"find", ".", "-name", "delete"}});
  for (const char* action :
       {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"})
    check(false, {{"find", ".", action, "x"}});
}

TEST_CASE("§27 rg is safe unless it starts a program, in bundles too") {
  check(true, {{"rg", "-n", "hello", "src"},
               {"rg", "--files"},
               {"rg", "--pretty", "x"},
               {"rg", "--pre-glob", "*.gz", "x"},
               {"rg", "-ez"},
               {"rg", "-tz", "x"},
               {"rg", "-A3", "zip"}});
  check(false, {{"rg", "-z", "x"},
                {"rg", "-nz", "x"},
                {"rg", "--search-zip", "x"},
                {"rg", "--pre", "sh", "x"},
                {"rg", "--pre=sh", "x"},
                {"rg", "--hostname-bin", "sh", "x"},
                {"rg", "--hostname-bin=sh", "x"},
                {"rg", "-e", "--", "--pre=sh"}});
}

TEST_CASE("§27 sed is safe only for printing a range of lines of one file") {
  check(true, {{"sed", "-n", "1p"}, {"sed", "-n", "1,2p", "f"}, {"sed", "-n", "10p", "f"}});
  check(false, {{"sed", "s/a/b/", "f"},
                {"sed", "-i", "s/a/b/", "f"},
                {"sed", "-n", "1e"},
                {"sed", "-n", "1w x", "f"},
                {"sed", "-n", "1,2p", "f", "g"},
                {"sed", "-n", "1p", "-i"},
                {"sed", "-n", "1p", "--in-place"},
                {"sed", "-n", "p", "f"},
                {"sed", "-n", ",2p", "f"},
                {"sed", "-n", "1,p", "f"},
                {"sed", "-ni", "1p", "f"},
                {"sed", "-n", "1p;2e x", "f"},
                {"sed", "1p", "f"}});
}

TEST_CASE("§28 git is safe for reading subcommands") {
  check(true, {{"git", "status"},
               {"git", "status", "--short"},
               {"git", "log", "-1", "--oneline"},
               {"git", "log", "-p", "--", "f"},
               {"git", "diff", "--stat", "HEAD"},
               {"git", "diff", "--text"},
               {"git", "diff", "--output-indicator-new=>"},
               {"git", "show", "HEAD:README.md"},
               {"git", "--no-pager", "log"},
               {"git", "branch"},
               {"git", "branch", "-a"},
               {"git", "branch", "--show-current"},
               {"git", "branch", "--list", "a*"},
               {"git", "branch", "--contains", "HEAD"},
               {"git", "branch", "--format=%(refname)"}});
}

TEST_CASE("§28 git is not safe where options change where it looks or what it runs") {
  check(false, {{"git"},
                {"git", "-c", "core.pager=x", "log"},
                {"git", "-C", "/x", "log"},
                {"git", "--git-dir=.git", "log"},
                {"git", "--git-dir", ".git", "log"},
                {"git", "--work-tree=x", "status"},
                {"git", "--exec-path=/bin", "log"},
                {"git", "--config-env=a=B", "log"},
                {"git", "--namespace=x", "log"},
                {"git", "-p", "log"},
                {"git", "--paginate", "log"},
                {"git", "diff", "--output=x"},
                {"git", "diff", "--output", "x"},
                {"git", "diff", "--outp=x"},
                {"git", "diff", "--ext-diff"},
                {"git", "diff", "--ext"},
                {"git", "show", "--textconv"},
                {"git", "log", "--textc"},
                {"git", "diff", "-Oorder"},
                {"git", "log", "--show-signature"},
                {"git", "log", "--format=%G?"},
                {"git", "log", "--pretty=format:%GS"},
                {"git", "log", "--exec=x"}});
}

TEST_CASE("§28 git is not safe for subcommands and forms that may write") {
  check(false, {{"git", "branch", "new"},
                {"git", "branch", "-v", "new"},
                {"git", "branch", "-l", "new"},
                {"git", "branch", "-d", "old"},
                {"git", "branch", "-D", "old"},
                {"git", "branch", "-m", "a", "b"},
                {"git", "branch", "--set-upstream-to=x"},
                {"git", "branch", "--edit-description"},
                {"git", "branch", "--list", "-D", "x"},
                {"git", "branch", "--format", "-D"},
                {"git", "rev-parse", "HEAD"},
                {"git", "grep", "x"},
                {"git", "stash", "list"},
                {"git", "config", "-l"},
                {"git", "add", "f"},
                {"git", "commit", "-m", "status"},
                {"git", "fetch", "--dry-run"},
                {"git", "diff-files"},
                {"git", "difftool"}});
}

TEST_CASE("§31 a wrapper is safe when its script is plain and safe throughout") {
  check(false, {{"bash", "-lc"},
                {"bash", "-c", "ls", "extra"},
                {"bash", "-x", "-c", "ls"},
                {"fish", "-c", "ls"},
                {"./bash", "-c", "ls"}});
}

TEST_CASE("§20 PowerShell words have a safe list of their own, without case") {
  for (const auto& argv : std::vector<argv_t>{{"Get-ChildItem", "src"},
                                              {"Get-Content", "a.txt"},
                                              {"git", "status"},
                                              {"rg", "x"},
                                              {"Select-String", "x"}})
    CHECK(is_known_safe_powershell(argv));
  for (const auto& argv : std::vector<argv_t>{{"Remove-Item", "a"},
                                              {"Get-Content", "(Remove-Item)", "a"},
                                              {"Get-Content", "-Out-File", "a"},
                                              {"rg", "--PRE", "x"},
                                              {"git", "push"},
                                              {"Invoke-Expression", "x"},
                                              {}})
    CHECK_FALSE(is_known_safe_powershell(argv));
}
