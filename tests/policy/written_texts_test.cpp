// Scripts whose text stands in the command that writes and runs them (§18a, §29).
#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;

namespace {

requirement_kind kind_of(const std::string& script, const rule_set& rules,
                         approval_mode mode = approval_mode::on_request) {
  return judge(script_request(script, mode), rules).requirement.kind;
}

} // namespace

TEST_CASE("§18a a forbidden program runs in a script that the same command writes") {
  const auto rules = make_rules({make_rule({"mf"}, decision::forbidden)});
  for (const std::string script :
       {"echo 'mf no' > x; sh x",
        "cat <<E > x\nmf no\nE\nbash x",
        "cat > x <<'E'\nmf no\nE\nchmod +x x\n./x",
        "cat /usr/bin/mf > x; ./x",
        "cat /usr/bin/mf > x; cp x y; ./y",
        "printf '%s\\n' 'mf no' > d/x && . d/x",
        "echo 'mf no' | tee x; source x",
        "echo 'mf no' | tee x > /dev/null && bash ./x",
        "echo 'mf no' >> x; sh < x",
        "tee x <<< 'mf no'; sh x",
        "printf m > x; printf 'f no' >> x; sh x",
        "{ echo '#!/bin/sh'; echo 'mf no'; } > x; ./x",
        "echo 'mf no' > x; mv x y; sh y",
        "echo 'mf no' > a/x; cd a; sh x",
        "f=/tmp/x; echo 'mf no' > $f; bash $f",
        "while :; do sh x; echo 'mf no' > x; done",
        "bash -c \"echo 'mf no' > x\"; sh x",
        "echo \"sh y\" > x; echo 'mf no' > y; sh x",
        "cat > x.py <<'E'\nimport os\nos.system('mf no')\nE\npython3 x.py",
        "cat > x <<'E'\n#!/usr/bin/env python3\nimport os\nos.system('mf no')\nE\n./x",
        "cat > x <<'E'\n#!/usr/bin/mf\nE\n./x",
        "cat > Makefile <<'E'\nall:\n\tmf no\nE\nmake",
        "printf 'all:\\n\\tmf no\\n' > m.mk; make -f m.mk",
        "echo 'BEGIN { system(\"mf no\") }' > p; awk -f p f",
        "echo '1e mf no' > p; sed -f p f",
        "echo '\"$@\"' > x; sh x mf no"}) {
    CAPTURE(script);
    CHECK(kind_of(script, rules) == requirement_kind::forbidden);
  }
}

TEST_CASE("§18a a forbidden program runs in a module that the same command writes and loads") {
  const auto rules = make_rules({make_rule({"mf"}, decision::forbidden)});
  const std::string python = "cat > x.py <<'E'\nimport os\nos.system('mf no')\nE\n";
  for (const auto& script :
       {python + "python3 -m x", python + "python3 -X dev -m x", python + "python3 -c 'import x'",
        python + "python3 -c 'from x import f'", python + "python3 -m cProfile -o p x.py",
        python + "python3 -m pdb x.py", python + "python3 -m cProfile -m x",
        python + "mv x.py y.py; python3 -m y",
        std::string{"cat > p/__main__.py <<'E'\nimport os\nos.system('mf no')\nE\npython3 -m p"},
        std::string{"echo 'system(\"mf no\")' > x.rb; ruby -r./x -e 1"},
        std::string{"echo 'system(\"mf no\")' > X.pm; perl -I. -MX -e 1"},
        std::string{"echo 'os.execute(\"mf no\")' > x.lua; lua -l x"},
        std::string{
            "cat > x.js <<'E'\nrequire('child_process').execSync('mf no')\nE\nnode -r ./x.js a"},
        std::string{"cat > x.js <<'E'\nrequire('child_process').execSync('mf no')\nE\nnode -e "
                    "'require(\"./x\")'"}}) {
    CAPTURE(script);
    CHECK(kind_of(script, rules) == requirement_kind::forbidden);
  }
  CHECK(kind_of("echo 'x = 1' > x.py; python3 -m x", rules) == requirement_kind::skip);
  CHECK(kind_of("echo '{}' > x.json; python3 -m json.tool x.json", rules) ==
        requirement_kind::skip);
}

TEST_CASE("§18a a script of the same command that nobody can read passes a rule") {
  const auto rules = make_rules({make_rule({"mf"}, decision::forbidden)});
  for (const std::string script :
       {"python3 gen.py > x; sh x", "sed s/a/mf/ t > x; . ./x", "echo \"$a\" > x; sh x",
        "cat <<E > x\n$a no\nE\nbash x", "git show HEAD:x > y; bash y", "cat <(gen) > x; sh x",
        "gen | tee x; sh x", "./gen > x.py; python3 x.py"}) {
    CAPTURE(script);
    CHECK(kind_of(script, rules) == requirement_kind::needs_approval);
    CHECK(kind_of(script, rules, approval_mode::never) == requirement_kind::forbidden);
    CHECK(kind_of(script, {}) == requirement_kind::skip);
  }
}

TEST_CASE("§29 a dangerous command runs unasked in a script of the same command") {
  for (const std::string script :
       {"echo 'rm -rf src' > x; sh x", "cat > x <<'E'\nrm -rf \"$1\"\nE\nbash x src",
        "cat > x <<'E'\n#!/bin/sh\ngit push --force\nE\nchmod +x x && ./x"}) {
    CAPTURE(script);
    CHECK(kind_of(script, {}) == requirement_kind::needs_approval);
    CHECK(kind_of(script, {}, approval_mode::never) == requirement_kind::forbidden);
  }
}

TEST_CASE("§32 a harmless script of the same command asks") {
  const auto rules = make_rules({make_rule({"mf"}, decision::forbidden)});
  for (const std::string script :
       {"cat > x.py <<'EOF'\nprint('mf')\nEOF\npython3 x.py",
        "cat > run.sh <<'EOF'\nset -e\nmake -j4\nEOF\nbash run.sh",
        "echo '{}' > package.json; npm install", "printf 'all:\\n\\techo hi\\n' > Makefile && make",
        "make > build.log 2>&1; tail build.log", "echo 'mf no' > notes.txt; cat notes.txt",
        "echo data > in.txt; python3 process.py in.txt", "gcc -o x x.c && ./x",
        "cp build/tool dist/ && dist/tool --help", "cat > x <<'E'\n./x\nE\nsh x",
        "./run.sh > run.log 2>&1; cat run.log", "cat a.sh b.sh > c.sh; bash c.sh"}) {
    CAPTURE(script);
    CHECK(kind_of(script, rules) == requirement_kind::skip);
  }
}
