#include "cli/help_text.hpp"
#include "cli/man_page.hpp"
#include "cli/option_reader.hpp"
#include "cli/shell_completions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::cli;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::ptrdiff_t columns_of(const std::string& line) {
  return std::ranges::count_if(line,
                               [](char c) { return (static_cast<unsigned>(c) & 0xc0U) != 0x80U; });
}

result<options> read(const command_spec& command, std::vector<const char*> words) {
  return read_options(words, command);
}

} // namespace

TEST_SUITE("cli.command_table") {
  TEST_CASE("§204 the help of every command fits a screen and ends with two examples") {
    for (const auto& command : commands()) {
      CAPTURE(command.name);
      const auto lines = lines_of(help_of(command));
      CHECK(lines.size() <= 24);
      for (const auto& line : lines) {
        CAPTURE(line);
        CHECK(columns_of(line) <= 80);
      }
      REQUIRE(lines.size() > 3);
      CHECK(lines[lines.size() - 3] == "Examples:");
      for (const auto& example : command.examples)
        CHECK(example.find("gatehouse " + std::string{command.name}) != std::string::npos);
      CHECK(command.examples[0] != command.examples[1]);
    }
    const auto list = lines_of(list_of_commands());
    CHECK(list.size() <= 24);
    for (const auto& line : list)
      CHECK(columns_of(line) <= 80);
  }

  TEST_CASE("§204 what a program may want to read is JSON, at least with --json") {
    using names = std::vector<std::string_view>;
    // A protocol; for a shell, for man.
    const names otherwise{"mcp", "man", "completions"};
    for (const auto& command : commands()) {
      CAPTURE(command.name);
      const bool json =
          std::ranges::find(command.options, "--json", &option_spec::name) != command.options.end();
      CHECK(json != (std::ranges::find(otherwise, command.name) != otherwise.end()));
    }
  }

  TEST_CASE("§204 every exit status of a command stands in the one table") {
    for (const auto& command : commands()) {
      std::string_view rest = command.statuses;
      CHECK_FALSE(rest.empty());
      while (!rest.empty()) {
        const auto word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        CAPTURE(word);
        CHECK(std::ranges::find(exit_statuses(), word, &exit_meaning::status) !=
              exit_statuses().end());
      }
    }
  }

  TEST_CASE("§204 every option is read as the table has it, and known to completions and manual") {
    const auto bash = completion_script("bash");
    const auto fish = completion_script("fish");
    const auto zsh = completion_script("zsh");
    for (const auto& command : commands()) {
      const auto page = man_page(command);
      for (const auto& option : command.options) {
        CAPTURE(option.name);
        const std::string name{option.name};
        if (option.takes_value()) {
          const auto given = read(command, {name.c_str(), "x"});
          REQUIRE(given);
          CHECK(given->value(name) == "x");
          CHECK_FALSE(read(command, {name.c_str()}));
          CHECK(read(command, {(name + "=x").c_str()})->value(name) == "x");
        } else {
          CHECK(read(command, {name.c_str()})->has(name));
          CHECK_FALSE(read(command, {(name + "=x").c_str()}));
        }
        CHECK(bash.find(name) != std::string::npos);
        CHECK(zsh.find(name + "'[") != std::string::npos);
        CHECK(fish.find(" -l " + name.substr(2)) != std::string::npos);
        std::string dashes;
        for (const char c : name)
          dashes += c == '-' ? "\\-" : std::string{c};
        CHECK(page.find(dashes) != std::string::npos);
      }
    }
  }

  TEST_CASE("§204 an example that help shows was refused by its own command") {
    for (const auto& command : commands())
      for (const std::string_view example : command.examples) {
        CAPTURE(example);
        const std::string name{"gatehouse " + std::string{command.name}};
        const auto begin = example.find(name);
        REQUIRE(begin != std::string_view::npos);
        const auto end = example.find_first_of("|<>)", begin);
        std::string rest{example.substr(begin + name.size(), end - begin - name.size())};
        std::vector<std::string> words;
        for (std::size_t at = 0; (at = rest.find_first_not_of(' ', at)) != std::string::npos;) {
          const char until = rest[at] == '\'' ? rest[at++] : ' ';
          const auto stop = std::min(rest.find(until, at), rest.size());
          words.push_back(rest.substr(at, stop - at));
          at = std::min(stop + 1, rest.size());
        }
        std::vector<const char*> given;
        for (const auto& word : words)
          given.push_back(word.c_str());
        const auto taken = read(command, given);
        REQUIRE(taken);
        if (command.rest != value_kind::command)
          for (const auto& word : taken->rest())
            CHECK_FALSE(word.starts_with("--"));
      }
  }

  TEST_CASE("§204 an option is read behind a word, but not among the words of a program") {
    const auto* show = find_command("audit show");
    const auto* run = find_command("run");
    REQUIRE((show && run));
    const auto shown = read(*show, {"call-1", "--json"});
    REQUIRE(shown);
    CHECK(shown->has("--json"));
    CHECK(shown->rest() == std::vector<std::string>{"call-1"});
    CHECK(read(*show, {"--", "--json"})->rest() == std::vector<std::string>{"--json"});
    CHECK(read(*show, {"a", "--", "--json"})->rest() == std::vector<std::string>{"a", "--json"});
    CHECK_FALSE(read(*show, {"call-1", "--jsn"}));
    const auto program = read(*run, {"ls", "--json"});
    REQUIRE(program);
    CHECK_FALSE(program->has("--json"));
    CHECK(program->rest() == std::vector<std::string>{"ls", "--json"});
  }

  TEST_CASE("§204 --json of a program was taken for ours when the command line could not be read") {
    struct row {
      std::vector<const char*> words;
      failure_document wanted;
    };
    using enum failure_document;
    const row rows[] = {
        {{"run", "--no-such", "ls", "--json"}, none},
        {{"run", "--no-such", "--", "ls", "--json"}, none},
        {{"run", "--cwd", "/", "--cwd", "/", "ls", "--json"}, none},
        {{"sandbox", "--no-such", "ls", "--json"}, none},
        {{"policy", "explain", "--no-such", "ls", "--json"}, none},
        {{"policy", "check", "--no-such", "--json"}, none}, // a word of the command there
        {{"run", "--profile=--json"}, none},                // a value
        {{"run", "--profile", "--json"}, report},           // whose value was forgotten
        {{"run", "--profle", "--json", "ls"}, report},      // the same of the option that was meant
        {{"run", "--no-such", "--json", "ls"}, report},
        {{"run", "--profle", "x", "--json", "ls"}, report},
        {{"run", "--profle=x", "--json", "ls"}, report},
        {{"run", "--json=1", "ls"}, report},
        {{"config", "show", "--json=1"}, failure},
        {{"config", "show", "--jsn", "--json"}, failure},
        {{"audit", "show", "--jsn", "call-1", "--json"}, failure},
        {{"audit", "show", "--", "--json"}, none},
        {{"mcp", "--json"}, failure},
        {{"policy", "explain", "--jsonl", "--no-such"}, failure},
        // Of commands that are none.
        {{}, none},
        {{"--json"}, failure},
        {{"polcy", "--json"}, failure},
        {{"audit", "lst", "--json"}, failure},
        {{"audit", "--json"}, failure},
        {{"runn", "--profile", "x", "--json", "ls"}, report},
        {{"runn", "ls", "--json"}, none},
        {{"policy", "explan", "ls", "--json"}, none},
        {{"entirely-else", "ls", "--json"}, none},
        {{"entirely-else", "--json"}, failure},
        {{"help", "nope", "--json"}, failure},
        {{"help", "--json", "nope"}, failure},
        {{"help", "--", "nope", "--json"}, none},
    };
    for (const auto& [words, wanted] : rows) {
      std::string line;
      for (const auto* word : words)
        line += std::string{word} + " ";
      CAPTURE(line);
      CHECK(document_asked_for(words) == wanted);
    }
  }

  TEST_CASE("§204 a value for an option that takes none was refused without a word of it") {
    const auto* run = find_command("run");
    REQUIRE(run);
    CHECK(read(*run, {"--json=1", "ls"}).error().message ==
          "`--json` takes no value; leave `=1` out");
  }

  TEST_CASE("§204 the value of an option was taken from the option behind it") {
    const auto* run = find_command("run");
    const auto* batch = find_command("batch");
    REQUIRE((run && batch));
    CHECK(read(*run, {"--profile", "--json", "--", "true"}).error().message ==
          "`--profile` needs a value; where `--json` is meant to be it, write `--profile=--json`");
    CHECK(read(*run, {"--justification", "--cwd", "/", "ls"}).error().message ==
          "`--justification` needs a value; where `--cwd` is meant to be it, write "
          "`--justification=--cwd`");
    CHECK_FALSE(read(*run, {"--cwd", "--", "true"}));
    CHECK_FALSE(read(*run, {"--profile", "--help"}));
    CHECK_FALSE(read(*batch, {"--journal", "-j", "4", "calls"}));
    CHECK(read(*run, {"--profile=--json", "ls"})->value("--profile") == "--json");
    CHECK(read(*run, {"--justification", "--json is wanted", "ls"})->value("--justification") ==
          "--json is wanted");
    CHECK(read(*run, {"--shell", "--nothing-of-ours"})->value("--shell") == "--nothing-of-ours");
    const auto whole = read_words(std::vector<const char*>{"--cwd", "--json"}, *run);
    CHECK(whole.for_program);
  }

  TEST_CASE("§204 another option was suggested than the one whose beginning was given") {
    const auto* run = find_command("run");
    REQUIRE(run);
    CHECK(nearest_option(*run, "--js") == "--json");
    CHECK(nearest_option(*run, "--prof") == "--profile");
  }

  TEST_CASE("§204 a short name is the same option as its long one") {
    const auto* batch = find_command("batch");
    REQUIRE(batch);
    CHECK(read(*batch, {"-j", "4"})->value("--jobs") == "4");
    CHECK_FALSE(read(*batch, {"-j", "4", "--jobs", "5"}));
  }

  TEST_CASE("§204 what was probably meant is named, and nothing where nothing is near") {
    const auto* run = find_command("run");
    REQUIRE(run);
    CHECK(read(*run, {"--profle", "x"}).error().message ==
          "`--profle` is not an option of this command; did you mean `--profile`?");
    CHECK(read(*run, {"--yes"}).error().message == "`--yes` is not an option of this command");
    CHECK(nearest_command("snadbox") == "sandbox");
    CHECK(nearest_command("polcy") == "policy");
    CHECK(nearest_command("entirely-else").empty());
  }
}
