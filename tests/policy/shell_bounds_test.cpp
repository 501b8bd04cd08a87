#include "tests/policy/shell_support.hpp"

#include <doctest/doctest.h>

using namespace gatehouse::tests;

namespace {

std::string repeated(std::string_view text, std::size_t size) {
  std::string all;
  while (all.size() < size)
    all += text;
  return all;
}

} // namespace

TEST_CASE("§18a no limit ever cuts in silence: it says so and counts as too deep") {
  for (const auto& script :
       {repeated("a;", 20000), repeated("a|", 20000) + "a", repeated("(", 500) + "a",
        repeated("$(", 500), repeated("${x:-", 1000), repeated("if ", 1000),
        repeated("eval 'a;a;a';", 40000), repeated("$(a)", 30000)}) {
    const auto analysis = analysis_of(script);
    CAPTURE(script.substr(0, 20));
    CHECK(analysis.too_deep);
    CHECK_FALSE(analysis.unreadable_why.empty());
    CHECK(analysis.segments.size() <= 4096);
  }
}

TEST_CASE("§18a hostile scripts take time in proportion to their size") {
  for (const auto& script :
       {"echo " + repeated("{a,b}", 40000), "echo " + repeated("{a,", 40000),
        repeated("{1..256} ", 40000), "x=a;x=b;echo " + repeated("$x", 40000),
        "x=a;x=b;echo " + repeated("$x ", 40000), repeated("$((", 40000), repeated("((", 40000),
        repeated("`", 40000), "a " + repeated("\\\n", 40000),
        "a " + std::string(60000, 'x') + "{1..256}", repeated("x=$x$x;", 20000),
        repeated("a <<E\n", 40000), repeated("f(){ a;};", 30000),
        "python3 " + repeated("-q a ", 20000), repeated("parallel ", 20000),
        repeated("python3 -c '" + repeated("import a;", 64) + "'\necho a > b\n", 1000)}) {
    const auto analysis = analysis_of(script);
    CAPTURE(script.substr(0, 20));
    CHECK_FALSE(analysis.segments.empty());
    CHECK(analysis.segments.size() <= 4096);
  }
}

TEST_CASE("§18a an option whose attached value looks like one was read for ever") {
  for (const auto* script : {"perl -M-strict -e 1", "ruby -r--x a.rb", "python3 -X--x a.py",
                             "tar --to-command=--x -xf a", "start-stop-daemon --exec=--x -- y",
                             "rsync -e--x a b", "julia -L--x a"})
    CHECK_FALSE(analysis_of(script).segments.empty());
}

TEST_CASE("§18a modules of Python that run one another ended the program that read them") {
  for (const auto* option : {"-m pdb ", "-m pdb -q a "})
    CHECK_FALSE(analysis_of("python3 " + repeated(option, 80000)).segments.empty());
}

TEST_CASE("§18a words that xargs and parallel put into one another grew without a bound") {
  const auto places = "'" + repeated("{}", 40000) + "'";
  const auto value = std::string(20000, 'x');
  CHECK(analysis_of("echo " + value + " | xargs -I{} echo " + places).must_ask_why ==
        "xargs makes commands too long to be read");
  CHECK(analysis_of("parallel echo " + places + " ::: " + value).must_ask_why ==
        "the script of `parallel` is too large to be read");
  CHECK(analysis_of("parallel echo " + std::string(300000, 'y') + " ::: a b c d e").must_ask_why ==
        "parallel makes commands too long to be read");
}

TEST_CASE("§18a code from /dev/stdin, which is the input, was looked for there for ever") {
  for (const auto* script :
       {"python3 < /dev/stdin", "python3 - < /dev/stdin", "python3 /dev/stdin < /dev/stdin",
        "sed -f - < /dev/stdin", "sed -f /dev/stdin < -", "awk -f - < -", "python3 < -",
        "sh < /dev/stdin", "make -f - < /dev/stdin"})
    CHECK_FALSE(analysis_of(script).segments.empty());
}

TEST_CASE("§18a more modules than are compared with what is written are asked about") {
  std::string script;
  for (int i = 0; i < 600; ++i)
    script += "python3 -m m" + std::to_string(i) + "\n";
  CHECK(analysis_of(script).must_ask_why == "it loads too many modules to be read");
}

TEST_CASE(
    "§18 scripts above 1 MiB, with NUL or without valid UTF-8 are not plain and not trusted") {
  using namespace std::string_literals;
  for (const auto& script : {"a " + std::string(1 << 20, 'b'), "a\0b"s, "a \xff"s, "a \xc0\xaf"s,
                             "a \xed\xa0\x80"s, "a \xf4\x90\x80\x80"s}) {
    const auto analysis = analysis_of(script);
    CHECK_FALSE(analysis.plain);
    CHECK_FALSE(analysis.unreadable_why.empty());
    CHECK_FALSE(analysis.segments.empty());
  }
  CHECK(analysis_of("a " + std::string((1 << 20) - 2, 'b')).plain);
}
