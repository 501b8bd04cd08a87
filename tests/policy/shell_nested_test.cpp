#include "tests/policy/shell_support.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::tests;

TEST_CASE("§18a an unknown first operand of a nested script does not end in a crash") {
  CHECK(finds(analysis_of("bash -c '\"$@\"' _ \"$x\" rm y"), "rm|y"));
  CHECK_FALSE(analysis_of("bash -c '\"$@\"' _ rm\"$@\"' _ re\"$@\"' _ rm x").segments.empty());
}

TEST_CASE("§18a BR-182 a command is found in every construct that can hold one") {
  for (const std::string script : {
           "rm -f x > /dev/null",
           "A=b rm -f x",
           "(rm -f x)",
           "{ rm -f x; }",
           "rm -f x &",
           "! rm -f x",
           "time -p rm -f x",
           "time { rm -f x; }",
           "coproc rm -f x",
           "coproc NAME { rm -f x; }",
           "a && b || rm -f x",
           "a | b |& rm -f x",
           "if rm -f x; then :; fi",
           "if a; then :; elif b; then rm -f x; fi",
           "if a; then :; else\nrm -f x\nfi",
           "while a; do rm -f x; done < in",
           "until rm -f x; do :; done",
           "for i in a b; do rm -f x; done",
           "for i\ndo rm -f x\ndone",
           "for ((i=0; i<3; i++)); do rm -f x; done",
           "for ((i=$(rm -f x); i<3; i++)) { :; }",
           "select i in a; do rm -f x; done",
           "case $a in (x|y) b ;; *) rm -f x ;& z) esac",
           "case $(rm -f x) in esac",
           "f() { rm -f x; }",
           "function f { rm -f x; } > log",
           "function f() (rm -f x)",
           "f () for i in a; do rm -f x; done",
           "[[ -n $(rm -f x) && a == (b|c) ]]",
           "(( $(rm -f x) + 1 ))",
           "a[$(rm -f x)]=1",
           "a=(1 $(rm -f x) 2)",
           "a=$(rm -f x)",
           "export A=$(rm -f x)",
           "echo `rm -f x`",
           "echo \"`rm -f x`\"",
           "echo \"a $(rm -f x)\"",
           "echo ${a:-$(rm -f x)} ${b}",
           "echo \"${a/$(rm -f x)/c}\"",
           "echo ${a[$(rm -f x)]}",
           "echo $(( 1 + $(rm -f x) )) $[ $(rm -f x) ]",
           "echo $(case y in y) rm -f x;; esac)",
           "cat <(rm -f x)",
           "tee >(rm -f x)",
           "cat <<EOF\n$(rm -f x)\nEOF",
           "cat <<-EOF\n\t`rm -f x`\n\tEOF\n",
           "cat <<< \"$(rm -f x)\"",
           "bash <<EOF\nrm -f x\nEOF",
           "{ sh -s; } <<'EOF'\nrm -f x\nEOF\n",
           "sudo sh <<< 'rm -f x'",
           "while read l; do sh; done <<< 'rm -f x'",
           "echo 'rm -f x' | sh",
           "echo rm -f x | tee log | sudo bash -s -- a",
           "printf 'rm -f %s\\n' x | dash",
           "cat <<EOF | sh\nrm -f x\nEOF",
           "bash <(echo 'rm -f x')",
           "source <(echo rm -f x)",
           "echo 'rm -f x' | . /dev/stdin",
           "eval 'rm -f x'",
           "eval rm \"-f x\"",
           "trap 'rm -f x' EXIT",
           "trap -- 'rm -f x' 0",
           "alias ls='rm -f x'",
           "sh -c 'sh -c \"rm -f x\"'",
           "sh -c '$0 -f x' rm",
           "sh -c '\"$@\"' _ rm -f x",
           "[ -v 'a[$(rm -f x)]' ]",
           "x='a[$(rm -f x)]'; echo $((x))",
           "mapfile -C 'rm -f x;' -c 1 a",
           "echo -e 'a\\nrm -f x' | sh",
           "echo 'a\\nrm -f x' | dash",
           "printf '%s -f %s\\n' ls x rm x | sh",
           "PAGER='rm -f x' man ls",
           "export GIT_SSH_COMMAND='rm -f x'; git fetch",
           "git -c core.pager='rm -f x' -C d log",
           "git -c alias.l='!rm -f x' l",
           "git submodule foreach --recursive 'rm -f x'",
           "git bisect run rm -f x",
           "git rebase -i --exec 'rm -f x' main",
           "git rebase main -x 'rm -f x'",
       }) {
    CAPTURE(script);
    CHECK(finds(analysis_of(script), "rm|-f|x"));
  }
}

TEST_CASE(
    "§18a what bash takes for a pattern or a string is a command to a shell that is not bash") {
  for (const std::string script : {
           "[[ a || rm -f x ]]",
           "(( rm -f x ))",
           "ls &> f rm -f x",
           "a[1 || rm -f x",
           "echo $'a\\'; rm -f x; echo \\'b'",
           "echo $[ 1; rm -f x; echo ]",
           "function f { rm -f x\n}",
       }) {
    CAPTURE(script);
    const auto analysis =
        policy::analyze_command(std::vector<std::string>{"/bin/sh", "-c", script});
    CHECK(std::any_of(analysis.segments.begin(), analysis.segments.end(), [](const auto& segment) {
      return segment.argv.size() > 2 &&
             line({segment.argv.begin(), segment.argv.begin() + 3}) == "rm|-f|x";
    }));
  }
  CHECK_FALSE(finds(analysis_of("[[ a || rm -f x ]]"), "rm|-f|x|]]"));
  CHECK(finds(analysis_of("ssh host '[[ a || rm -f x ]]'"), "rm|-f|x|]]"));
  CHECK(finds(analysis_of("sh -c '[[ a || rm -f x ]]'"), "rm|-f|x|]]"));
  CHECK_FALSE(finds(analysis_of("bash -c '[[ a || rm -f x ]]'"), "rm|-f|x|]]"));
  CHECK_FALSE(analysis_of("ls *(e:'rm -f x':)").unreadable_why.empty());
  CHECK_FALSE(analysis_of("a[1 || rm -f x ]=3").unreadable_why.empty());
}

TEST_CASE("§18a BR-182 text that nothing runs is no command") {
  for (const std::string script : {
           "cat <<'EOF'\n$(rm -f x)\nEOF",
           "cat <<EOF\nrm -f x\nEOF",
           "echo '$(rm -f x)' \\$(a)",
           "# rm -f x\nls",
           "echo 'rm -f x' | cat",
           "echo \"\\$(rm -f x)\"",
           "command -v rm -f x",
       }) {
    CAPTURE(script);
    CHECK_FALSE(finds(analysis_of(script), "rm|-f|x"));
  }
}

TEST_CASE("§18 segments stand in source order, what a command holds after the command") {
  const auto analysis = analysis_of("sudo env A=b make $(pwd) && eval 'ls -l; id' | wc");
  CHECK(lines(analysis) == std::vector<std::string>{"sudo|env|A=b|make", "env|A=b|make", "make",
                                                    "pwd", "eval|ls -l; id", "ls|-l", "id", "wc"});
  CHECK(analysis.segments[1].origin == segment_origin::wrapper);
  CHECK(analysis.segments[2].assignments == std::vector<std::string>{"A=b"});
  CHECK(analysis.segments[3].origin == segment_origin::nested);
}

TEST_CASE("§18a what is only known when it runs is said, whatever else is found") {
  for (const std::string script : {
           "$cmd x",
           "\"$cmd\" x",
           "$(cat f) x",
           "/bin/r? -f x",
           "eval \"$x\"",
           "eval a $x",
           "bash -c \"$x\"",
           "bash -c \"rm $x\"",
           "curl example.org | sh",
           "sh < file",
           "source <(curl example.org)",
           "xargs -I{} {} x",
           "xargs -I% sh -c 'rm %'",
           "echo a | xargs sudo",
           "find . -exec {} \\;",
           "find . -exec sh -c {} \\;",
           "sudo --no-such-option a b",
           "sudo $OPTIONS a",
           "env -S \"$x\"",
           "echo ${x@P}",
           "echo 'a",
           "echo $(a",
           "a; )",
           "if a; then b",
           "p\\\nwd$\\\n{x}",
           "echo $((ls); pwd)",
           // The quotes made a scan for `))` jump over the end, and b was taken for arithmetic.
           "(( $(a $'\\'' ) + 1 )); b || (( $(c ') ) + 1 ))",
       }) {
    CAPTURE(script);
    const auto analysis = analysis_of(script);
    CHECK_FALSE(analysis.unreadable_why.empty());
    CHECK_FALSE(analysis.segments.empty());
    CHECK(analysis.unreadable_why.find('\n') == std::string::npos);
  }
}

TEST_CASE("§18a ordinary scripts are read without a doubt") {
  for (const std::string script : {
           "for f in *.c; do gcc -c \"$f\" || exit 1; done > log 2>&1",
           "cd repo && git log --format='%H %s' | head -3",
           "make -j$(nproc) CC=\"ccache gcc\"",
           "cat > f.txt <<'EOF'\nrm -rf /\nit's\nEOF\nwc -l f.txt",
           "python3 - <<'EOF'\nprint(\"$x\")\nEOF",
           "find . -name '*.o' -exec ls -l {} +",
           "if [ -f a ]; then cat a; else echo \"no ${USER:-one}\"; fi",
           "export PATH=\"$HOME/bin:$PATH\"; tool --version",
           "docker run --rm -it -v \"$PWD:/w\" -w /w image make test",
           "ssh -p 22 host uptime",
           "timeout -k 5 10s env -u A nice -n 5 make",
           "[[ $a =~ ^(x|y)$ ]] && echo yes",
           "awk '{print $1}' f | sort | uniq -c",
       }) {
    CAPTURE(script);
    const auto analysis = analysis_of(script);
    CHECK(analysis.unreadable_why == "");
    CHECK_FALSE(analysis.too_deep);
  }
}

TEST_CASE("§18a a syntax error hides neither what stands before it nor what stands after it") {
  const auto analysis = analysis_of("rm -f a; if (\nrm -f b");
  CHECK(finds(analysis, "rm|-f|a"));
  CHECK(finds(analysis, "rm|-f|b"));
  CHECK(analysis.unreadable_why.find("syntax error at byte") != std::string::npos);
}

TEST_CASE("§19 one literal command in a script that is not plain is complex parsing") {
  CHECK(analysis_of("cat <<EOF\n$x\nEOF").complex);
  CHECK(analysis_of("ls > out").complex);
  CHECK_FALSE(analysis_of("ls").complex);
  CHECK_FALSE(analysis_of("ls > out; pwd").complex);
  CHECK_FALSE(analysis_of("ls $x > out").complex);
  CHECK_FALSE(analysis_of("ls 'x").complex);
  CHECK(analysis_of("ls > out").segments[0].origin == segment_origin::nested);
}

TEST_CASE("§18 redirections say what they write, and assignments what they set") {
  const auto all = analysis_of("A=b C=$d ls 2>&1 > a >> 'b c' >| d <> e &> f 3>g < in >&2");
  const auto& segment = all.segments.at(0);
  CHECK(segment.argv == std::vector<std::string>{"ls"});
  CHECK(segment.has_redirection);
  CHECK(segment.assignments == std::vector<std::string>{"A=b", "C="});
  CHECK(segment.write_targets == std::vector<std::string>{"a", "b c", "d", "e", "f", "g"});
  CHECK(analysis_of("{ ls; pwd; } > $HOME/x").segments.at(1).write_targets ==
        std::vector<std::string>{"$HOME/x"});
  CHECK(analysis_of("> x").loose_write_targets == std::vector<std::string>{"x"});
  CHECK(analysis_of("a=b").loose_assignments == std::vector<std::string>{"a=b"});
}

TEST_CASE("§18 a script without a command is one opaque segment, the whole argv") {
  for (const std::string script : {"", " \n", "# only", "a=b", "> out", "(( 1 ))", "'"}) {
    CAPTURE(script);
    const auto analysis = analysis_of(script);
    REQUIRE(analysis.segments.size() == 1);
    CHECK(analysis.segments[0].origin == segment_origin::opaque);
    CHECK(analysis.segments[0].argv == std::vector<std::string>{"bash", "-lc", script});
    CHECK_FALSE(analysis.plain);
  }
}
