#include "tests/policy/shell_support.hpp"

#include <doctest/doctest.h>

using namespace gatehouse::tests;

TEST_CASE("§18a words are decoded as bash does before they are compared with anything") {
  struct row {
    std::string script;
    std::string words;
  };
  for (const auto& [script, words] : std::initializer_list<row>{
           {"\\rm -f x", "rm|-f|x"},
           {"r\\m '-f' \"x\"", "rm|-f|x"},
           {"'r'\"m\" -\"f\" x", "rm|-f|x"},
           {"r''m -f x", "rm|-f|x"},
           {"$'\\x72m' $'-\\146' $'\\u0078'", "rm|-f|x"},
           {"$'rm' -f $'a\\'b\\n\\t\\\\'", "rm|-f|a'b\n\t\\"},
           {"$'rm\\0zzz' -f x", "rm|-f|x"},
           {"$\"rm\" -f x", "rm|-f|x"},
           {"rm -{r,f} x", "rm|-r|-f|x"},
           {"{rm,-f,x}", "rm|-f|x"},
           {"rm a{b,{c,d}e}f x{1..3} {a..c} {03..1} {5..1..2}",
            "rm|abf|acef|adef|x1|x2|x3|a|b|c|03|02|01|5|3|1"},
           {"echo {a} {,b} a{ } {1..x} '{a,b}' \"{a,b}\" {a\\,b}",
            "echo|{a}|b|a{|}|{1..x}|{a,b}|{a,b}|{a,b}"},
           {"rm\\\n -f \\\nx", "rm|-f|x"},
           {"echo \"a\\b\\$c\\\"d\\\\\"", "echo|a\\b$c\"d\\"},
           {"echo a#b c # d", "echo|a#b|c"},
           {"ls ~/x ~", "ls|~/x|~"},
           {"echo a\tb", "echo|a|b"},
           {"> out echo a 2>&1 b", "echo|a|b"},
           {"echo '' \"\" a", "echo|||a"},
       }) {
    const auto& text = script; // clang 14 captures no structured binding
    CAPTURE(text);
    CHECK(lines(analysis_of(script)).at(0) == words);
  }
}

TEST_CASE("§18a variables with constant values are followed, and never taken for certain") {
  struct row {
    std::string script;
    std::string words;
  };
  for (const auto& [script, words] : std::initializer_list<row>{
           {"x=rm; $x -f y", "rm|-f|y"},
           {"x='rm -f'; $x y", "rm|-f|y"},
           {"f=-f; rm $f y", "rm|-f|y"},
           {"for c in a push; do git $c; done", "git|push"},
           {"a=(rm -f y); \"${a[@]}\"", "rm|-f|y"},
           {"set -- rm -f y; \"$@\"", "rm|-f|y"},
           {"export X=push; git \"$X\"", "git|push"},
           {"${0+touch} x", "touch|x"},
           {"${x:-rm} -f y", "rm|-f|y"},
           {"r${nothing}m -f y", "rm|-f|y"},
           {"$nothing rm -f y", "rm|-f|y"},
           {"git $(echo push)", "git|push"},
           {"git `printf push`", "git|push"},
           {"x=a; x=push; git $x", "git|push"},
       }) {
    const auto& text = script; // clang 14 captures no structured binding
    CAPTURE(text);
    const auto analysis = analysis_of(script);
    CHECK(finds(analysis, words));
    CHECK_FALSE(analysis.plain);
    CHECK_FALSE(analysis.complex);
  }
}

TEST_CASE("§18a an unknown word is left out, counted, and its place is told") {
  const auto analysis = analysis_of("git -C \"$dir\" push $(cat f) *.c");
  const auto& segment = analysis.segments.at(0);
  CHECK(line(segment.argv) == "git|-C|push|*.c");
  CHECK(segment.unknown_words == 3);
  CHECK(segment.first_unknown == 2);
  CHECK(analysis_of("ls a").segments.at(0).first_unknown == -1);
}

TEST_CASE("§D17 a line continuation inside a word joins it, between words it separates nothing") {
  const auto joined = analysis_of("printf pu\\\nsh \\\n  x");
  CHECK(joined.plain);
  CHECK(joined.unreadable_why == "");
  CHECK(lines(joined) == std::vector<std::string>{"printf|push|x"});
}

TEST_CASE("§D17 what another shell or locale could read differently is not plain") {
  for (const std::string script :
       {"a\r\nb",    "a \x01", "a\vb",   "a 'b\r'", "repeat 3 ls", "noglob ls", "time ls",
        "coproc ls", "then",   "a; fi",  "in",      "a\x7f",       "echo \xff", "echo \xc3",
        "echo =ls",  "a=b",    "a+=b c", "12",      "\"ls\"",      "a ; ; b",   "a ;; b",
        "a &&",      "| a",    "a & b",  "a \\\\",  "a \\",        "!"}) {
    const auto& text = script; // clang 14 captures no structured binding
    CAPTURE(text);
    CHECK_FALSE(analysis_of(script).plain);
    CHECK_FALSE(gatehouse::policy::plain_commands(script).has_value());
  }
}
