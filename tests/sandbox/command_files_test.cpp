#include "sandbox/command_files.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::sandbox;

namespace {

bool holds(const std::vector<std::string>& list, const std::string& path) {
  return std::find(list.begin(), list.end(), path) != list.end();
}

} // namespace

TEST_SUITE("sandbox.command_files") {
  TEST_CASE("§63 every way to name a hook's file finds it") {
    const tests::temp_folder base;
    const auto hook = base.write("tools/hook.sh", "#!/bin/sh\n");
    const command_place place{base.path(), "/usr/bin:/bin", base.path()};
    for (const std::string& script :
         {std::string{"./tools/hook.sh"}, hook, std::string{"sh tools/hook.sh"},
          std::string{"env -i sh -e tools/hook.sh --quiet"}, std::string{"exec tools/hook.sh"},
          std::string{". tools/hook.sh"}, std::string{"sh < tools/hook.sh"},
          std::string{"cat | sh 'tools/hook.sh' >> log"}, std::string{"~/tools/hook.sh"},
          std::string{"\"$HOME\"/tools/hook.sh"}, std::string{"sh ${HOME}/tools/hook.sh"},
          std::string{"sh $HOME/tools/hook.sh"}, std::string{"cd tools && ./hook.sh"},
          std::string{"H=tools/hook.sh; sh $H"},
          std::string{"bash -c 'if true; then tools/hook.sh; fi'"},
          std::string{"python3 -c \"exec(open('tools/hook.sh').read())\""},
          std::string{"sh \"tools/hook.sh"}}) {
      CAPTURE(script);
      CHECK(holds(files_of_command(script, place).files, hook));
    }
  }

  TEST_CASE("§63 what is no file is left out, what is run counts also where there is none") {
    const tests::temp_folder base;
    const auto check = base.write("t/check", "x");
    base.folder("folder");
    const command_place place{base.path(), "/usr/bin:/bin", base.path()};
    for (const std::string script :
         {"t/check --fast folder", "cd x&&'t/check'", "A=t/check t/../t/check"}) {
      CAPTURE(script);
      CHECK(holds(files_of_command(script, place).files, check));
      CHECK_FALSE(holds(files_of_command(script, place).files, base / "folder"));
    }
    CHECK(holds(files_of_command("t/missing t/check", place).files, base / "t/missing"));
    CHECK(files_of_command("", place).files.empty());
  }

  TEST_CASE("§63 a hook's file that is a link counts under both names") {
    const tests::temp_folder base;
    const auto real = base.write("lib/real.sh", "");
    base.link("lib", "tools");
    const auto found = files_of_command("tools/real.sh", {base.path(), "/usr/bin", base.path()});
    CHECK(holds(found.files, base / "tools/real.sh"));
    CHECK(holds(found.files, std::filesystem::canonical(real).string()));
  }

  TEST_CASE("§63 a hook's program that is not there yet could be made by a command") {
    const tests::temp_folder base;
    const command_place place{base.path(), "/usr/bin:/bin", base.path()};
    CHECK(holds(files_of_command("./tools/later", place).files, base / "tools/later"));
    CHECK(holds(files_of_command("sh tools/later.sh", place).files, base / "tools/later.sh"));
  }

  TEST_CASE("§63 a folder of PATH that commands write could hold a hook's interpreter") {
    const tests::temp_folder base;
    base.folder("venv/bin");
    const auto found =
        files_of_command("true", {base.path(), base / "venv/bin" + ":/usr/bin:/bin", base.path()});
    CHECK(holds(found.files, base / "venv/bin/true"));
  }

  TEST_CASE("§63 a folder that is run is told apart: it cannot be made read-only") {
    const tests::temp_folder base;
    const auto found =
        files_of_command("python3 " + base.path(), {"/", "/usr/bin:/bin", base.path()});
    CHECK_FALSE(holds(found.files, base.path()));
    CHECK(holds(found.folders, base.path()));
  }
}
