#include "tests/policy/shell_support.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::tests;

namespace {

policy::command_analysis pwsh(std::string script) {
  return policy::analyze_command(
      std::vector<std::string>{"pwsh", "-NoProfile", "-Command", std::move(script)});
}

} // namespace

TEST_CASE("§20 a plain PowerShell script is lowered into segments of its own origin") {
  const auto analysis = pwsh("Get-ChildItem -Path 'a ''b''' | Select-Object -First 3; rg \"x`ty\" "
                             "--glob=*.c\nGet-Location # where");
  CHECK(analysis.plain);
  CHECK(analysis.unreadable_why == "");
  CHECK(lines(analysis) == std::vector<std::string>{"Get-ChildItem|-Path|a 'b'",
                                                    "Select-Object|-First|3", "rg|x\ty|--glob=*.c",
                                                    "Get-Location"});
  for (const auto& segment : analysis.segments)
    CHECK(segment.origin == segment_origin::powershell);
}

TEST_CASE("§20 what PowerShell could read differently is not plain, and still searched") {
  for (const std::string script : {"Remove-Item -Force x; ls $y",
                                   "if (a) { Remove-Item -Force x }",
                                   "& { Remove-Item -Force x }",
                                   "Remove-Item -Force x > out",
                                   "foreach ($f in a) { Remove-Item -Force x }",
                                   "Remove-Item -Force x `\n",
                                   "iex 'Remove-Item -Force x'",
                                   "Remove-Item -Force x; \"a$(b)\"",
                                   "using a; Remove-Item -Force x",
                                   "Remove-Item -Force x; #requires a",
                                   "Remove-Item -Force x; a 01",
                                   "Remove-Item -Force x; a 1kb",
                                   "Remove-Item -Force x; a -b:c",
                                   "Remove-Item -Force x;; 'a'",
                                   "Remove-Item -Force x; a --% b",
                                   "Remove-Item -Force x; a \xe2\x80\x93"
                                   "b",
                                   "Remove-Item -Force x; a 'b'c",
                                   "Remove-Item -Force x; a 'b",
                                   "Remove-Item -Force x &",
                                   "Remove-Item -Force x; a |"}) {
    CAPTURE(script);
    const auto analysis = pwsh(script);
    CHECK_FALSE(analysis.plain);
    CHECK_FALSE(analysis.unreadable_why.empty());
    CHECK(finds(analysis, "Remove-Item|-Force|x"));
  }
}

TEST_CASE("§20 only -NoLogo, -NoProfile and a last -Command SCRIPT are taken as they are") {
  using argv = std::vector<std::string>;
  CHECK(policy::analyze_command(argv{"powershell.exe", "-nologo", "-c", "ls"}).plain);
  for (const auto& inexact :
       {argv{"pwsh", "-NonInteractive", "-c", "ls -a"}, argv{"pwsh", "-c", "ls", "-a"},
        argv{"pwsh", "-ExecutionPolicy", "Bypass", "-Command", "ls -a"},
        argv{"pwsh", "/c", "ls -a"}, argv{"pwsh", "-com", "ls -a"}}) {
    const auto analysis = policy::analyze_command(inexact);
    CAPTURE(line(inexact));
    CHECK_FALSE(analysis.plain);
    CHECK(finds(analysis, "ls|-a"));
    CHECK_FALSE(analysis.unreadable_why.empty());
  }
  const auto encoded = policy::analyze_command(argv{"pwsh", "-enc", "bABzAA=="});
  CHECK_FALSE(encoded.unreadable_why.empty());
}

TEST_CASE("§20 PowerShell inside a shell script only adds segments") {
  const auto analysis = analysis_of("sudo pwsh -c 'Remove-Item -Force x'");
  CHECK(analysis.plain);
  CHECK(analysis.segments.back().origin == segment_origin::powershell);
  CHECK(finds(analysis, "Remove-Item|-Force|x"));
}
