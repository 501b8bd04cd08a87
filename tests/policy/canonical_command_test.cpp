#include "policy/canonical_command.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using policy::canonical_form;

namespace {

using words = std::vector<std::string>;

canonical_command form(const words& argv) {
  return canonical_form(argv);
}

} // namespace

TEST_SUITE("policy.canonical_command") {
  TEST_CASE("§55 wrappers around the same plain command are equal") {
    const canonical_command plain = words{"echo", "s1", "two words"};
    CHECK(form({"echo", "s1", "two words"}) == plain);
    CHECK(form({"bash", "-lc", "echo s1 'two words'"}) == plain);
    CHECK(form({"/bin/bash", "-c", "echo   s1   \"two words\""}) == plain);
    CHECK(form({"/bin/sh", "-c", "echo 's1' 'two words'"}) == plain);
    CHECK(form({"zsh", "-lc", "echo s1 'two words'"}) == plain);
  }

  TEST_CASE("§55 no word is dropped") {
    CHECK(form({"bash", "-c", "git commit -m ''"}) ==
          canonical_command{words{"git", "commit", "-m", ""}});
    const words with_name{"bash", "-c", "echo a", "name", "arg"};
    CHECK(form(with_name) == canonical_command{with_name});
    const words env{"env", "A=b", "bash", "-c", "echo a"};
    CHECK(form(env) == canonical_command{env});
    CHECK(form({}) == canonical_command{words{}});
  }

  TEST_CASE("§55 a script that is more than one plain command is its exact text") {
    const auto script = [](const char* text) {
      return canonical_command{shell_script{"bash", "-c", text}};
    };
    for (const char* text : {"echo s1 > /dev/null", "echo s1; rm x", "A=b make", "rm *", "(make)",
                             "echo $HOME", "make &", "!", "", "echo 's1"})
      CHECK_MESSAGE(form({"/usr/bin/bash", "-c", text}) == script(text), text);
    CHECK(form({"bash", "-c", "make  | tee x"}) != form({"bash", "-c", "make | tee x"}));
    CHECK(form({"bash", "-lc", "make | tee x"}) != form({"bash", "-c", "make | tee x"}));
    CHECK(form({"sh", "-c", "make | tee x"}) != form({"bash", "-c", "make | tee x"}));
  }

  TEST_CASE("§55 a program that is only called like a shell is no wrapper") {
    const words local{"./bash", "-c", "echo a"};
    CHECK(form(local) == canonical_command{local});
    const words other{"/tmp/bash", "-c", "echo a"};
    CHECK(form(other) == canonical_command{other});
  }

  TEST_CASE("§55 PowerShell stays as it is") {
    const words call{"pwsh", "-Command", "echo a"};
    CHECK(form(call) == canonical_command{call});
  }

  TEST_CASE("§55 a word that zsh would replace is not read as bash would") {
    CHECK(std::holds_alternative<shell_script>(form({"zsh", "-c", "cat '=ls'"})));
  }
}
