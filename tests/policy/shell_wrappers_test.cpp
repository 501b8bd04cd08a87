#include "tests/policy/shell_support.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::tests;

TEST_CASE("§18a the command behind a wrapper is found where the wrapper's own options end") {
  for (const std::string script : {
           "env rm -f x",
           "env -i -u NAME --chdir=/ A=1 B= rm -f x",
           "env - rm -f x",
           "env --unset NAME -C / -- A=1 rm -f x",
           "env -S 'rm -f x'",
           "env -vS'rm -f' x",
           "env --split-string='-u A rm -f x'",
           "/usr/bin/env rm -f x",
           "sudo -n -u root -g wheel rm -f x",
           "sudo -uroot A=b rm -f x",
           "sudo --user=root --non-interactive -- rm -f x",
           "sudo --us root rm -f x",
           "doas -n -u root rm -f x",
           "nice rm -f x",
           "nice -n 5 rm -f x",
           "nice -5 rm -f x",
           "nice --adjustment=-5 rm -f x",
           "nohup rm -f x",
           "timeout 5 rm -f x",
           "timeout -k 3 -s KILL 5s rm -f x",
           "timeout --sig=9 --preserve-status 5 rm -f x",
           "time -p rm -f x",
           "/usr/bin/time -f %e -o out rm -f x",
           "stdbuf -o0 -eL rm -f x",
           "setsid -w rm -f x",
           "command -p rm -f x",
           "builtin rm -f x",
           "exec -c -a name rm -f x",
           "watch -n 1 -d rm -f x",
           "watch 'rm -f x'",
           "ionice -c 3 rm -f x",
           "chrt -r 10 rm -f x",
           "taskset -c 0,1 rm -f x",
           "flock -w 3 lock rm -f x",
           "flock lock -c 'rm -f x'",
           "unshare -rm --net rm -f x",
           "nsenter -t 1 -m -- rm -f x",
           "chroot --userspec=a:b / rm -f x",
           "script -q -c 'rm -f x' log",
           "script log --command 'rm -f x'",
           "su -c 'rm -f x'",
           "su - root -c 'rm -f x'",
           "su root -- -c 'rm -f x'",
           "echo 'rm -f x' | su root",
           "runuser -u bob -- rm -f x",
           "strace -f -e trace=open -o out rm -f x",
           "ltrace -S -o out rm -f x",
           "gdb -batch --args rm -f x",
           "busybox rm -f x",
           "busybox sh -c 'rm -f x'",
           "setarch x86_64 rm -f x",
           "setarch -R rm -f x",
           "ssh -p 22 host rm -f x",
           "ssh host 'rm -f x'",
           "ssh -o ProxyCommand='rm -f x' host",
           "ssh host bash <<< 'rm -f x'",
           "parallel -j 4 rm -f x ::: a",
           "parallel ::: 'rm -f x' ls",
           "docker exec -it -u root box rm -f x",
           "podman run --rm -v a:b image rm -f x",
           "find . -type f -exec rm -f x \\;",
           "find . -execdir rm -f x \\; -o -name y",
           "find . -exec sh -c 'rm -f x' _ {} +",
           "fd -e c -x rm -f x",
           "/lib64/ld-linux-x86-64.so.2 --library-path /x rm -f x",
           "xvfb-run -a rm -f x",
           "hyperfine -w 1 ls 'rm -f x'",
           "bash -ec 'rm -f x'",
           "bash -x -o pipefail -c 'rm -f x'",
           "bash --norc --rcfile f -c 'rm -f x'",
           "zsh -fc 'rm -f x'",
           "ksh -c 'rm -f x'",
           "fish --command='rm -f x'",
           "noglob rm -f x",
           "repeat 3 rm -f x",
           "sudo -u a env B=c nice timeout 5 sh -c 'exec nohup rm -f x'",
       }) {
    CAPTURE(script);
    const auto analysis = analysis_of(script);
    CHECK(finds(analysis, "rm|-f|x"));
    CHECK(analysis.unreadable_why == "");
  }
}

TEST_CASE("§18a the input of xargs is more words, and only known when it runs") {
  for (const std::string script :
       {"xargs rm -f", "xargs -0 -n 1 -P4 rm -f", "xargs -d '\\n' -L 1 rm -f",
        "xargs --max-args=3 --null -a list rm -f", "xargs -I{} rm -f {}", "xargs -i rm -f a{}"}) {
    CAPTURE(script);
    const auto analysis = analysis_of(script);
    CHECK(finds(analysis, "rm|-f"));
    CHECK(analysis.segments.back().unknown_words == 1);
    CHECK(analysis.segments.back().origin == segment_origin::wrapper);
  }
}

TEST_CASE("§18a an option that is not known makes every later word a candidate, and says so") {
  for (const std::string script :
       {"sudo --frobnicate value rm -f x", "timeout --frob 5 rm -f x", "timeout $T rm -f x",
        "nice -Q 3 rm -f x", "sudo $OPTIONS rm -f x"}) {
    CAPTURE(script);
    const auto analysis = analysis_of(script);
    CHECK(finds(analysis, "rm|-f|x"));
    CHECK(analysis.unreadable_why.find("are not understood") != std::string::npos);
  }
}

TEST_CASE("§D20 eight wrappers or shells are followed, the ninth is too deep") {
  const auto nested = [](int depth, std::string_view wrapper) {
    std::string script;
    for (int i = 0; i < depth; ++i)
      script += wrapper;
    return analysis_of(script + "rm -f x");
  };
  for (const std::string wrapper : {"env ", "sudo ", "sudo -n ", "eval "}) {
    CAPTURE(wrapper);
    const auto eight = nested(8, wrapper);
    CHECK(finds(eight, "rm|-f|x"));
    CHECK_FALSE(eight.too_deep);
    const auto nine = nested(9, wrapper);
    CHECK(nine.too_deep);
    CHECK_FALSE(finds(nine, "rm|-f|x"));
  }
}

TEST_CASE("§18 exactly a known shell, -c or -lc, and one script is the tool's own shell") {
  const auto wraps = [](std::vector<std::string> argv) { return policy::is_shell_wrapper(argv); };
  CHECK(wraps({"bash", "-lc", "ls"}));
  CHECK(wraps({"/usr/bin/zsh", "-c", "ls"}));
  CHECK(wraps({"sh", "-c", ""}));
  CHECK_FALSE(wraps({"bash", "-lc", "ls", "a"}));
  CHECK_FALSE(wraps({"bash", "-cl", "ls"}));
  CHECK_FALSE(wraps({"./bash", "-c", "ls"}));
  CHECK_FALSE(wraps({"/tmp/bash", "-c", "ls"}));
  CHECK_FALSE(wraps({"BASH", "-c", "ls"}));
  CHECK_FALSE(wraps({"bash", "-c"}));
}

TEST_CASE("§18 an argv that is no shell is one plain command, and its wrappers are followed") {
  const auto analysis = policy::analyze_command(std::vector<std::string>{"env", "rm", "-f", "$x"});
  CHECK(analysis.plain);
  CHECK(analysis.script.empty());
  CHECK(lines(analysis) == std::vector<std::string>{"env|rm|-f|$x", "rm|-f|$x"});
  const auto shell = policy::analyze_command(std::vector<std::string>{"dash", "-c", "rm -f x"});
  CHECK(finds(shell, "rm|-f|x"));
  CHECK_FALSE(policy::analyze_command({}).unreadable_why.empty());
}
