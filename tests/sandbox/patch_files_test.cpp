#include "sandbox/patch_files.hpp"
#include "sandbox/patch_order.hpp"
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
      for (const auto& file : found)
        CHECK_MESSAGE((wanted.contains(file.first) && wanted.at(file.first) == file.second),
                      file.first, " holds ", file.second);
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

  TEST_CASE("§107 a patch goes on behind what an earlier attempt has done") {
    const temp_folder folder;
    (void)folder.write("a", "new\n"); // done
    (void)folder.write("b", "1\n");   // half: the destination of the move stands
    (void)folder.write("c", "2\n");
    const auto parsed =
        parse_patch("*** Begin Patch\n*** Update File: a\n@@\n-old\n+new\n*** Update File: b\n"
                    "*** Move to: c\n@@\n-1\n+2\n*** Add File: d\n+3\n*** End Patch");
    sandbox::patch_terms terms;
    terms.cwd = folder.path();
    terms.done = {1, true};
    std::vector<patch_progress> seen;
    terms.on_progress = [&](const patch_progress& done) { seen.push_back(done); };
    const auto report = sandbox::apply_patch_files(*parsed, terms);
    REQUIRE_FALSE(report.failure);
    CHECK(look(folder) == tree{{"a", "new\n"}, {"c", "2\n"}, {"d", "3\n"}});
    CHECK(seen == std::vector<patch_progress>{{2, false}, {3, false}});
  }

  TEST_CASE("§D16 verifying changes nothing and finds what would fail") {
    const temp_folder folder;
    (void)folder.write("a", "1\n");
    const auto good = parse_patch("*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch");
    const auto bad = parse_patch("*** Begin Patch\n*** Update File: a\n@@\n-x\n+2\n*** End Patch");
    sandbox::patch_terms terms;
    terms.cwd = folder.path();
    terms.only_verify = true;
    CHECK_FALSE(sandbox::apply_patch_files(*good, terms).failure);
    CHECK(sandbox::apply_patch_files(*bad, terms).failure);
    CHECK(look(folder) == tree{{"a", "1\n"}});
  }

  TEST_CASE("a file that leads elsewhere than was approved is an error, and nothing is written") {
    const temp_folder folder;
    (void)folder.write("real/a", "1\n");
    (void)folder.write("other/a", "1\n");
    fs::create_directory_symlink("other", folder / "d");
    const auto parsed =
        parse_patch("*** Begin Patch\n*** Add File: n\n+n\n*** Update File: d/a\n@@\n-1\n+2\n"
                    "*** End Patch");
    sandbox::patch_terms terms;
    terms.cwd = folder.path();
    terms.expected = {{change_kind::add, folder / "n", "", "n"},
                      {change_kind::update, folder / "real/a", "", "d/a"}};
    const auto report = sandbox::apply_patch_files(*parsed, terms);
    REQUIRE(report.failure);
    CHECK(report.failure->message.find("leads elsewhere") != std::string::npos);
    CHECK(look(folder) == tree{{"real/a", "1\n"}, {"other/a", "1\n"}, {"d", "LINK:other"}});
  }

  TEST_CASE(
      "BR-192 a file changed between reading and replacing is an error, the rest stays done") {
    const temp_folder folder;
    (void)folder.write("a", "1\n");
    (void)folder.write("b", "1\n");
    const auto parsed =
        parse_patch("*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Update File: b\n@@\n-1\n"
                    "+2\n*** Add File: c\n+3\n*** End Patch");
    sandbox::patch_terms terms;
    terms.cwd = folder.path();
    SUBCASE("its content") {
      terms.on_progress = [&](const patch_progress&) { (void)folder.write("b", "changed\n"); };
      const auto report = sandbox::apply_patch_files(*parsed, terms);
      CHECK(report.done == patch_progress{1, false});
      REQUIRE(report.failure);
      CHECK(report.failure->message.find("was changed since") != std::string::npos);
      CHECK(look(folder) == tree{{"a", "2\n"}, {"b", "changed\n"}});
    }
    SUBCASE("into a folder") {
      terms.on_progress = [&](const patch_progress&) {
        fs::remove(folder / "b");
        fs::create_directory(folder / "b");
      };
      CHECK(sandbox::apply_patch_files(*parsed, terms).failure);
      CHECK(look(folder) == tree{{"a", "2\n"}, {"b/", "DIR"}});
    }
    SUBCASE("a new one appears") {
      terms.on_progress = [&](const patch_progress& done) {
        if (done.operations == 2) (void)folder.write("c", "mine\n");
      };
      CHECK(sandbox::apply_patch_files(*parsed, terms).failure);
      CHECK(look(folder) == tree{{"a", "2\n"}, {"b", "2\n"}, {"c", "mine\n"}});
    }
    SUBCASE("the way to it") {
      terms.on_progress = [&](const patch_progress&) {
        fs::rename(folder / "b", folder / "b2");
        fs::create_symlink("b2", folder / "b");
      };
      CHECK(sandbox::apply_patch_files(*parsed, terms).failure);
      CHECK(look(folder) == tree{{"a", "2\n"}, {"b", "LINK:b2"}, {"b2", "1\n"}});
    }
  }

  TEST_CASE("a stopped patch leaves whole files and no other") {
    const temp_folder folder;
    const auto parsed = parse_patch("*** Begin Patch\n*** Add File: a\n+1\n*** Add File: b\n+2\n"
                                    "*** Add File: c\n+3\n*** End Patch");
    sandbox::patch_terms terms;
    terms.cwd = folder.path();
    bool stop = false;
    terms.stopped = [&] { return stop; };
    terms.on_progress = [&](const patch_progress& done) { stop = done.operations == 2; };
    const auto report = sandbox::apply_patch_files(*parsed, terms);
    CHECK(report.failure);
    CHECK(report.done == patch_progress{2, false});
    CHECK(look(folder) == tree{{"a", "1\n"}, {"b", "2\n"}});
  }

  TEST_CASE("a link that is deleted and added anew becomes a file, its target stays") {
    const temp_folder folder;
    (void)folder.write("target", "1\n");
    fs::create_symlink("target", folder / "l");
    CHECK(apply_text("*** Begin Patch\n*** Delete File: l\n*** Add File: l\n+2\n*** End Patch",
                     folder.path())
              .exit == 0);
    CHECK(look(folder) == tree{{"target", "1\n"}, {"l", "2\n"}});
  }

  TEST_CASE("a moved file reached by two ways is not lost") {
    const temp_folder folder;
    (void)folder.write("d/a", "1\n");
    fs::create_directory_symlink("d", folder / "l");
    CHECK(apply_text("*** Begin Patch\n*** Update File: d/a\n*** Move to: l/a\n@@\n-1\n+2\n"
                     "*** End Patch",
                     folder.path())
              .exit == 0);
    CHECK(look(folder) == tree{{"d/a", "2\n"}, {"l", "LINK:d"}});
  }

  TEST_CASE("a program that is patched keeps its mode and loses the rights of its owner") {
    const temp_folder folder;
    (void)folder.write("s", "1\n");
    ::chmod((folder / "s").c_str(), 06755);
    CHECK(
        apply_text("*** Begin Patch\n*** Update File: s\n@@\n-1\n+2\n*** End Patch", folder.path())
            .exit == 0);
    CHECK(mode_of(folder / "s") == 0755);
  }

  TEST_CASE("an order for the patch program arrives as it was, whatever bytes are in it") {
    sandbox::patch_order order;
    order.call = {std::string{"a\0:5\n", 5},
                  "/x\xff",
                  {{change_kind::move, "/b\n", "/c:", "3:abc"}, {change_kind::add, "/d", "", ""}}};
    order.done = {7, true};
    order.only_verify = true;
    const auto text = sandbox::encode_patch_order(order);
    const auto read = sandbox::decode_patch_order(text);
    REQUIRE(read);
    CHECK(*read == order);
    for (std::size_t size = 0; size < text.size(); ++size)
      CHECK_FALSE(sandbox::decode_patch_order(std::string_view{text}.substr(0, size)));
    CHECK_FALSE(sandbox::decode_patch_order(text + "x"));
    CHECK(sandbox::last_progress("1\n2+\n3", {}) == patch_progress{2, true});
    CHECK(sandbox::last_progress("", {4, true}) == patch_progress{4, true});
    CHECK(sandbox::last_progress("~2\n", {4, true}) == patch_progress{4, true});
    CHECK(sandbox::tolerance_in("~12\n1\n") == 12);
    CHECK(sandbox::tolerance_in("1\n") == 0);
  }
}
