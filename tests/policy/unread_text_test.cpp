#include "policy/requirement.hpp"

#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

// Text that our readers cannot vouch for: limits, other grammars, builtins that evaluate words.

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;

namespace {

requirement_kind kind_of(const std::vector<std::string>& argv, const rule_set& rules = {},
                         approval_mode mode = approval_mode::on_request) {
  auto request = script_request("", mode);
  request.argv = argv;
  return judge(request, rules).requirement.kind;
}

requirement_kind kind_of(const std::string& script, const rule_set& rules = {},
                         approval_mode mode = approval_mode::on_request) {
  return kind_of(std::vector<std::string>{"/bin/bash", "-lc", script}, rules, mode);
}

rule_set no_mf() {
  return make_rules({make_rule({"mf"}, decision::forbidden)});
}

} // namespace

TEST_CASE("§29 §18a a command that is too large to be read asks, and is refused under never") {
  for (const std::string& script :
       {std::string{"{rm,-rf,src,zz{1..1000}}"}, std::string{"{rm,-rf,src,zz{1..100000}}"},
        std::string{"{rm,-rf,src,${x:-{a,b}}}"}, std::string{"env {rm,-rf,src,zz{1..1000}}"},
        "ls " + std::string(1 << 20, 'a')}) {
    CAPTURE(script.substr(0, 40));
    CHECK(kind_of(script) == requirement_kind::needs_approval);
    CHECK(kind_of(script, {}, approval_mode::never) == requirement_kind::forbidden);
  }
  for (const std::string script :
       {"echo {1..1000}", "for i in {1..1000}; do echo $i; done", "mkdir -p {a,b}/{1..200}",
        "touch file{1..500}.txt", "echo ${x:-{a,b}}"}) {
    CAPTURE(script);
    CHECK(kind_of(script) == requirement_kind::skip);
  }
}

TEST_CASE("§29 §18a what a limit leaves out runs unasked") {
  const auto many = [](std::string_view piece, int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
      all += std::string(piece) + std::to_string(i) + " ";
    return all;
  };
  std::string echoes;
  std::string sets;
  for (int i = 0; i < 300; ++i) {
    echoes += "echo a" + std::to_string(i) + ";";
    sets += "x=a" + std::to_string(i) + ";";
  }
  const std::string blanks(5000, ' ');
  const std::vector<std::string> evading = {
      sets + "x=-rf; rm $x src",
      "for x in " + many("a", 300) + "-rf; do rm $x src; done",
      "for x in " + many("a", 20) + "-rf; do rm $x src; done",
      "x='rm" + blanks + "-rf src'; $x",
      "x='rm" + blanks + "-rf src'; eval \"$x\"",
      "x='" + blanks + "rm -rf src'; bash -c \"$x\"",
      "x='" + blanks + "rm -rf src'; bash <<< \"$x\"",
      "x='" + blanks + "rm -rf src'; bash <<E\n$x\nE",
      "x='" + blanks + "rm -rf src'; y=\"$x\"; eval \"$y\"",
      "rm {a,-rf}{1..1000}",
      "git {a,b}{1..1000}",
      "{ " + echoes + " echo 'rm -rf src'; } | sh",
      "bash <({ " + echoes + " echo 'rm -rf src'; })",
      "printf '%s\\n' " + many("a", 200) + "'rm -rf src' | sh",
      "printf '%s\\n' " + many("a", 300) + "'rm -rf src' | xargs -I{} sh -c {}",
      "printf '%s\\n' " + many("a", 300) + "-rf | xargs rm",
      "f() { \"$@\"; }; " + many("f a", 0) + "f rm " + many("a", 100) + "-rf",
      "npm " + many("--a", 10) + "exec rm -rf src",
      "docker " + many("--a", 20) + "exec c rm -rf x",
      "echo 'rm -rf src'" +
          [] {
            std::string cats;
            for (int i = 0; i < 20; ++i)
              cats += " | cat";
            return cats;
          }() +
          " | sh"};
  for (const auto& script : evading) {
    CAPTURE(script.substr(0, 60));
    CHECK(kind_of(script) == requirement_kind::needs_approval);
    CHECK(kind_of(script, {}, approval_mode::untrusted) == requirement_kind::needs_approval);
    CHECK(kind_of(script, {}, approval_mode::never) == requirement_kind::forbidden);
  }
  const std::vector<std::string> harmless = {
      "for f in " + many("a", 40) + "; do gzip $f; git add $f; done",
      "for f in " + many("a", 300) + "; do echo $f; done",
      "m='" + std::string(3000, 'a') + "'; git commit -m \"$m\"",
      "touch {a,b}{1..500}",
      "b=$(cat <<'E'\n" + std::string(6000, 'a') + "\nE\n); gh pr create --body \"$b\"",
      sets + "echo $x"};
  for (const auto& script : harmless) {
    CAPTURE(script.substr(0, 60));
    CHECK(kind_of(script) == requirement_kind::skip);
  }
}

TEST_CASE("§18 §29 zsh text that bash reads in another way asks") {
  for (const std::string script :
       {"for x (a) rm -rf $x", "() { rm -rf src }", "if (( 1 )) rm -rf src", "ls =(rm -rf src)",
        "=mf no", "{mf no}", "emulate zsh -c 'mf no'", "echo ${(e):-'$(mf no)'}",
        "repeat 2 rm -rf src", "noglob rm -rf src", "x='rm -rf src'; $=x", "ls *(e:'mf no':)",
        "functions[f]='mf no'; f", "foreach x (a) mf; end", "echo a >! b", "ls &| mf",
        "echo \"$(echo ${(e)x})\""}) {
    CAPTURE(script);
    for (const std::string shell : {"zsh", "/usr/bin/zsh"}) {
      CHECK(kind_of({shell, "-c", script}) != requirement_kind::skip);
      CHECK(kind_of({shell, "-c", script}, no_mf()) != requirement_kind::skip);
    }
    CHECK(kind_of("zsh -fc \"$(cat <<'E'\n" + script + "\nE\n)\"") != requirement_kind::skip);
  }
}

TEST_CASE("§18 what zsh and bash read alike asks nothing in zsh") {
  for (const std::string script :
       {"ls -la | head -3 && git status", "make > out.txt 2>&1", "cd src && npm test",
        "for f in a b; do echo \"$f\"; done", "if [ -f x ]; then cat x; fi", "echo $HOME ${USER}",
        "cat > x.py <<'EOF'\nprint((1, 2), {3: 4})\nEOF\npython3 x.py", "(cd sub && make)",
        "x=$(git rev-parse HEAD); echo \"$x\"", "echo \"$(date +%s)\"", "ls *.txt",
        "{ echo a; echo b; } > c", "grep -n 'a(b)' f # comment", "echo $((1 + 2))",
        "[[ -n \"$x\" ]] && echo yes", "export A=b; echo ${A:-c}"}) {
    CAPTURE(script);
    CHECK(kind_of({"/usr/bin/zsh", "-lc", script}) == requirement_kind::skip);
    CHECK(kind_of({"/usr/bin/zsh", "-lc", script}, no_mf()) == requirement_kind::skip);
  }
}

TEST_CASE("§18 §18a of a shell with another grammar only plain commands are read") {
  for (const std::string script :
       {"and mf", "not mf", "true; and mf", "m\\x66 no", "echo (rm -rf src)", "begin; mf; end"})
    for (const std::string shell : {"fish", "csh", "/usr/bin/fish", "nu"}) {
      CAPTURE(script);
      CAPTURE(shell);
      CHECK(kind_of({shell, "-c", script}) != requirement_kind::skip);
      CHECK(kind_of({shell, "-c", script}, no_mf()) != requirement_kind::skip);
    }
  CHECK(kind_of({"fish", "-c", "ls -l | head && echo a"}, no_mf()) == requirement_kind::skip);
  CHECK(kind_of({"fish", "-c", "mf no"}, no_mf()) == requirement_kind::forbidden);
}

TEST_CASE("§18a §29 the words of a call are found in the function that runs them") {
  for (const std::string script : {"f(){ \"$@\"; }; f rm -rf src", "f(){ $1 -rf src; }; f rm",
                                   "g(){ f rm -rf a; }; "
                                   "f(){ \"$@\"; }; g x",
                                   "function f { $*; }; f rm -rf src"}) {
    CAPTURE(script);
    CHECK(kind_of(script) == requirement_kind::needs_approval);
  }
  for (const std::string script : {"run() { echo \"+ $*\"; \"$@\"; }; run make test",
                                   "log() { echo \"$@\"; }; log rm -rf x"}) {
    CAPTURE(script);
    CHECK(kind_of(script) == requirement_kind::skip);
  }
}

TEST_CASE("§18a what builtins evaluate or are told to run is found") {
  for (const std::string script :
       {"jobs -x mf no", "[[ -v 'a[$(mf)]' ]]", "[[ 'a[$(mf)]' -eq 1 ]]", "compgen -W '$(mf)'",
        "mapfile -tC mf a", "sleep 0 & wait -n -p 'a[$(mf)]'", "source /dev/fd/3 3<<<'mf'",
        "source /dev/fd/3 3<<E\nmf\nE", "bash /dev/fd/3 3<<<'mf'",
        "declare -i y; for y in 'a[$(mf)]'; do :; done", "bash -c 'echo $(($1))' _ 'a[$(mf)]'",
        "alias ls=mf; ls x", "hash -p /bin/mf ls; ls x"}) {
    CAPTURE(script);
    CHECK(kind_of(script, no_mf()) == requirement_kind::forbidden);
  }
  CHECK(kind_of("hash -p /bin/rm ls; ls -rf src") == requirement_kind::needs_approval);
  CHECK(kind_of("alias ll='rm -r'; ll -f src") == requirement_kind::needs_approval);
  CHECK(kind_of("source /dev/fd/3 3<<<'rm -rf src'") == requirement_kind::needs_approval);
  for (const std::string script : {"grep -n 'a[0-9]$' f", "sed 's/a[`x]/b/' f",
                                   "awk '{ n[$1]++ } END { print n[$(NF)] }' f"}) {
    CAPTURE(script);
    CHECK(kind_of(script, no_mf()) == requirement_kind::skip);
  }
}
