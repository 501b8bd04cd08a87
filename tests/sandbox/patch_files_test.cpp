#include "sandbox/patch_files.hpp"
#include "sandbox/patch_places.hpp"

#include "tests/support/json_lines.hpp"
#include "tests/support/temp_folder.hpp"

#include <boost/json/value.hpp>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <sys/stat.h>

using namespace gatehouse;
using gatehouse::tests::temp_folder;

namespace fs = std::filesystem;

namespace {

using tree = std::map<std::string, std::string>;

void make(const temp_folder& folder, const boost::json::object& files) {
  for (const auto& [name, value] : files) {
    const std::string key{name};
    const std::string text{value.as_string()};
    if (text == "DIR")
      fs::create_directories(folder / key);
    else if (text.starts_with("LINK:"))
      fs::create_symlink(text.substr(5), folder / key);
    else
      (void)folder.write(key, text);
  }
}

/// As the cases spell it: links as LINK:target, empty folders as DIR with a slash behind the name.
tree look(const temp_folder& folder) {
  tree found;
  for (const auto& entry : fs::recursive_directory_iterator{folder.path()}) {
    const auto name = entry.path().lexically_relative(folder.path()).string();
    if (entry.is_symlink()) {
      found[name] = "LINK:" + fs::read_symlink(entry.path()).string();
    } else if (entry.is_directory()) {
      if (fs::is_empty(entry.path())) found[name + "/"] = "DIR";
    } else {
      std::ostringstream text;
      text << std::ifstream{entry.path(), std::ios::binary}.rdbuf();
      found[name] = text.str();
    }
  }
  return found;
}

struct run_result {
  int exit = 0;
  std::string out;
  std::string message;
};

run_result apply_text(std::string_view text, const std::string& cwd) {
  const auto parsed = parse_patch(text);
  if (!parsed) return {1, {}, parsed.error().message};
  sandbox::patch_terms terms;
  terms.cwd = cwd;
  patch_call call{std::string{text}, cwd, {}};
  for (auto& place : sandbox::find_patch_places(*parsed, cwd))
    call.changes.push_back(std::move(place.change));
  terms.expected = call.changes;
  const auto report = sandbox::apply_patch_files(*parsed, terms);
  if (report.failure) return {1, {}, report.failure->message};
  return {0, success_summary(committed_changes(call, report.done)), {}};
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

} // namespace

TEST_SUITE("sandbox.patch_files") {
  TEST_CASE("§D16 §107 every recorded patch leaves exactly the recorded files") {
    for (const auto& row : tests::load_cases("apply_patch.jsonl")) {
      if (row.contains("argv")) continue; // the program's own arguments: tests/system
      CAPTURE(std::string{row.at("name").as_string()});
      const temp_folder folder;
      make(folder, row.at("files_before").as_object());
      if (const auto* modes = row.if_contains("modes_before"))
        for (const auto& [name, mode] : modes->as_object())
          ::chmod(
              (folder / std::string{name}).c_str(),
              static_cast<mode_t>(std::stoul(std::string{mode.as_string()}.substr(2), nullptr, 8)));
      const auto got = apply_text(row.at("patch").as_string(), folder.path());
      CAPTURE(got.message);
      CHECK(got.exit == row.at("exit").as_int64());
      if (const auto* out = row.if_contains("stdout"); out && out->is_string())
        CHECK(got.out == std::string{out->as_string()});
      tree wanted;
      for (const auto& [name, text] : row.at("files_after").as_object())
        wanted[std::string{name}] = std::string{text.as_string()};
      const auto found = look(folder);
      for (const auto& [name, text] : found)
        CHECK_MESSAGE((wanted.contains(name) && wanted.at(name) == text), name, " holds ", text);
      CHECK(found.size() == wanted.size());
      if (const auto* modes = row.if_contains("modes_after"))
        for (const auto& [name, mode] : modes->as_object())
          CHECK(mode_of(folder / std::string{name}) ==
                std::stoul(std::string{mode.as_string()}.substr(2), nullptr, 8));
    }
  }

  TEST_CASE("twenty patches of one file at the same time all arrive") {
    const temp_folder folder;
    std::string text;
    for (int i = 0; i < 20; ++i)
      text += "line " + std::to_string(i) + "\n";
    (void)folder.write("f", text);
    std::vector<std::thread> threads;
    for (int i = 0; i < 20; ++i)
      threads.emplace_back([&, i] {
        const auto n = std::to_string(i);
        (void)apply_text("*** Begin Patch\n*** Update File: f\n@@\n-line " + n + "\n+LINE " + n +
                             "\n*** End Patch",
                         folder.path());
      });
    for (auto& t : threads)
      t.join();
    std::string wanted;
    for (int i = 0; i < 20; ++i)
      wanted += "LINE " + std::to_string(i) + "\n";
    CHECK(look(folder) == tree{{"f", wanted}});
  }

  TEST_CASE("a hard link's other name keeps its content") {
    const temp_folder folder;
    (void)folder.write("outside", "a\n");
    fs::create_hard_link(folder / "outside", folder / "inside");
    CHECK(apply_text("*** Begin Patch\n*** Update File: inside\n@@\n-a\n+b\n*** End Patch",
                     folder.path())
              .exit == 0);
    CHECK(look(folder) == tree{{"inside", "b\n"}, {"outside", "a\n"}});
  }
}
