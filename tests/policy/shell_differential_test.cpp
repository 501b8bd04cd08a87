#include "policy/shell/segments.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

using words = std::vector<std::string>;

/// Random scripts of programs that do not exist, made of everything the grammar has. They always
/// end: no recursion, no loop over a command that succeeds for ever.
class generator {
public:
  explicit generator(unsigned seed) : random_(seed) {}

  std::string plain() {
    std::string script;
    for (int commands = 1 + pick(4), i = 0; i < commands; ++i) {
      if (i > 0) script += of({" && ", ";", " | ", "\n", "|", " ;\n", "&&\n", " || ", ";\\\n"});
      script += of({"alpha", "beta", "./gamma", "del-ta"});
      for (int arguments = pick(4); arguments > 0; --arguments)
        script += of({" ", "  ", "\t", " \\\n"}) + plain_word();
    }
    return script;
  }

  std::string list(int depth) {
    std::string script;
    for (int commands = 1 + pick(3), i = 0; i < commands; ++i) {
      if (i > 0) script += of({" && ", "; ", " | ", "\n", " || ", " & ", " |& "});
      script += command(depth);
    }
    return script;
  }

  std::string soup() {
    std::string script;
    for (int tokens = 1 + pick(10); tokens > 0; --tokens)
      script += of({"alpha",
                    "beta",
                    " ",
                    " ",
                    "\n",
                    ";",
                    "&&",
                    "||",
                    "|",
                    "&",
                    "(",
                    ")",
                    "{",
                    "}",
                    "{ ",
                    " }",
                    "$(",
                    "`",
                    "'",
                    "\"",
                    "\\",
                    "\\\n",
                    "$x",
                    "${x}",
                    "${x:-",
                    "$((",
                    "((",
                    "))",
                    "#",
                    "!",
                    "=",
                    "x=",
                    "if ",
                    "then ",
                    "fi",
                    "else ",
                    "for x in a b",
                    "do ",
                    "done",
                    "case x in",
                    "x)",
                    ";;",
                    "esac",
                    "[[ ",
                    " ]]",
                    "<<<",
                    "<<E\n",
                    "\nE\n",
                    ">f",
                    "<f",
                    "2>&1",
                    "<(",
                    "f()",
                    "function f",
                    "$'",
                    "a[",
                    "]",
                    "{a,b}",
                    "{1..3}",
                    "*",
                    "?",
                    "~",
                    "time ",
                    "! ",
                    "\r",
                    "\t",
                    "-x",
                    "--",
                    "\\n",
                    "$",
                    "@(",
                    "gamma"});
    return script;
  }

private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  std::string of(std::initializer_list<const char*> choices) {
    return *(choices.begin() + pick(static_cast<int>(choices.size())));
  }

  std::string plain_word() {
    std::string word;
    for (int pieces = 1 + pick(3); pieces > 0; --pieces)
      word += of({"a",    "-r",      "k=v",   "--", "é", "'b c'", "\"d  e\"", "\"\"",
                  "''",   "'$x'",    "\"*\"", "%",  "@", "!",     "1",        "\\\n",
                  "'\n'", "\"\\n\"", "\"~\"", "b=", ",", ":",     "+"});
    return word;
  }

  std::string word(int depth) {
    std::string word;
    for (int pieces = 1 + pick(3); pieces > 0; --pieces) {
      switch (pick(depth > 0 ? 12 : 8)) {
      case 0: word += of({"{a,b}", "{1..3}", "{c..a}", "{a,{b,c}d}", "{,x}", "{a}", "{a,b"}); break;
      case 1: word += of({"\\a", "\\ ", "\\\\", "\\-", "\\$", "\\'", "\\*"}); break;
      case 2:
        word += of({"$'a\\tb'", "$'\\x41'", "$'\\101b'", "$'\\u00e9'", "$'\\''", "$\"x\""});
        break;
      case 3:
        word += of({"$x", "${x}", "\"$x\"", "${x:-d}", "${y:=e}", "\"${x:+f g}\"", "${#x}"});
        break;
      case 4: word += of({"\"a\\\"b\"", "\"\\$x\"", "\"\\\n\"", "\"a\\b\"", "\"$((1+1))\""}); break;
      case 5: word += of({"*", "?", "[ab]", "~", "#", "^", "]", "a#"}); break;
      case 8: word += "$(" + list(depth - 1) + ")"; break;
      case 9: word += "\"b $(" + list(depth - 1) + ")\""; break;
      case 10: word += "${z:-$(" + list(depth - 1) + ")}"; break;
      case 11:
        word += of({"`alpha x`", "\"`beta 'y'`\"", "<(alpha)", "$(( $(alpha p; echo 1) + 1 ))"});
        break;
      default: word += plain_word();
      }
    }
    return word;
  }

  std::string simple(int depth) {
    std::string text = of({"", "", "", "V=1 ", "x=beta ", "V='a b' W= "});
    text += of({"alpha", "beta", "\"gamma\"", "al\\pha", "'be'ta", "$'alpha'", "{alpha,b}"});
    for (int arguments = pick(4); arguments > 0; --arguments)
      text += " " + word(depth);
    return text + of({"", "", "", " >f", " 2>&1", " </dev/null", " <<<\"$(delta)\"", " &>f"});
  }

  std::string command(int depth) {
    if (depth <= 0) return simple(0);
    const auto inner = [&] { return list(depth - 1); };
    switch (pick(18)) {
    case 0: return "(" + inner() + ")";
    case 1: return "{ " + inner() + "\n}";
    case 2: return "if " + inner() + "\nthen " + inner() + "\nelse " + inner() + "\nfi";
    case 3: return "for x in " + word(0) + " b; do " + inner() + "\ndone";
    case 4: return "case a in (b) beta;; a|c) " + inner() + " ;; esac";
    case 5: {
      const auto name = "f" + std::to_string(++functions_); // never calls itself
      return name + "() { " + inner() + "\n}; " + name + " y";
    }
    case 6: return "while false; do " + inner() + "\ndone";
    case 7: return "{ alpha <<E\nbody $(" + inner() + "\n) $x\nE\n}";
    case 8: return "{ alpha <<'E' | beta\nbody $(delta)\nE\n}";
    case 9: return "! " + inner();
    case 10: return "[[ -n $(" + inner() + "\n) ]]";
    case 11: return "(( $(" + inner() + "\n echo 1) + 1 ))";
    case 12: return "x=beta; $x " + word(0);
    case 13: return "eval 'alpha " + of({"a", "{b,c}", "\"d e\"", "$x"}) + "; beta'";
    case 14: return "y=$(" + inner() + "\n)";
    case 15: return "time -p { " + inner() + "\n}";
    default: return simple(depth);
    }
  }

  std::mt19937 random_;
  int functions_ = 0;
};

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

struct temporary_folder {
  std::filesystem::path path;
  temporary_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "gatehouse-shell-XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    REQUIRE(made != nullptr);
    path = made;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
};

/// What bash runs for each script: every program is missing, and recorded by bash's own handler.
std::vector<std::vector<words>> run_in_bash(const std::vector<std::string>& scripts) {
  const temporary_folder folder;
  const auto driver = folder.path / "driver";
  const auto log = folder.path / "log";
  std::filesystem::create_directory(folder.path / "empty");
  {
    std::ofstream file(driver);
    // One write per record, so that the parts of a pipeline cannot mix; with the script's number,
    // because what runs in the background may outlive its script.
    file << "ulimit -t 60; FUNCNEST=20; exec 9>>" << quoted(log.string()) << "\n"
         << "record() { local IFS=$'\\x1f'; local all=\"$id\x1f$*\"; builtin printf '%s\\x1e' "
            "\"${all//$'\\n'/$'\\x1d'}\" >&9; }\n"
         << "command_not_found_handle() { record \"$@\"; }\n"
         // `./gamma` has a slash: a function of that name stands for it.
         << "function ./gamma { record ./gamma \"$@\"; }\n"
         << "function echo { record echo \"$@\"; builtin echo \"$@\"; }\n"
         << "cd " << quoted((folder.path / "empty").string()) << "\n";
    int number = 0;
    for (const auto& script : scripts)
      file << "id=" << number++ << "\n"
           << "( eval -- " << quoted(script) << "\n wait ) </dev/null >/dev/null 2>&1\n";
  }
  const auto command = "env -i PATH=/nonexistent LC_ALL=C.UTF-8 /bin/bash --norc --noprofile " +
                       quoted(driver.string());
  REQUIRE(std::system(command.c_str()) != -1);

  std::ifstream file(log, std::ios::binary);
  REQUIRE(file);
  std::vector<std::vector<words>> recorded(scripts.size());
  for (std::string record; std::getline(file, record, '\x1e');) {
    std::replace(record.begin(), record.end(), '\x1d', '\n');
    words fields(1);
    for (const char c : record) {
      if (c == '\x1f')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    recorded.at(std::stoul(fields.front())).emplace_back(fields.begin() + 1, fields.end());
  }
  return recorded;
}

std::string shown(const std::vector<words>& commands) {
  std::ostringstream out;
  for (const auto& command : commands) {
    for (const auto& w : command)
      out << '<' << w << '>';
    out << '\n';
  }
  return out.str();
}

bool stands_for(const command_segment& segment, const words& command) {
  const bool has_tilde = std::any_of(segment.argv.begin(), segment.argv.end(), [](const auto& w) {
    return w.find('~') != std::string::npos;
  });
  if (segment.unknown_words == 0 && !has_tilde) return segment.argv == command;
  return segment.argv.front() == command.front();
}

struct differences {
  int plain = 0;
  int ran = 0;
  int readable = 0; ///< scripts of which something ran and nothing is said to be unreadable
  std::string report;
};

differences compare(const std::vector<std::string>& scripts) {
  differences result;
  const auto recorded = run_in_bash(scripts);
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const auto analysis = analyze_command(words{"bash", "-c", scripts[i]});
    std::vector<words> segments;
    for (const auto& segment : analysis.segments)
      segments.push_back(segment.argv);
    const auto& ran = recorded[i];
    result.ran += static_cast<int>(ran.size());
    result.readable += !ran.empty() && analysis.unreadable_why.empty() ? 1 : 0;
    bool fine = true;
    const bool runs_text = scripts[i].find("eval") != std::string::npos;
    if (analysis.plain && !runs_text) {
      ++result.plain;
      auto sorted_segments = segments;
      auto sorted_ran = ran;
      std::sort(sorted_segments.begin(), sorted_segments.end());
      std::sort(sorted_ran.begin(), sorted_ran.end());
      fine = scripts[i].find("||") == std::string::npos
                 ? sorted_segments == sorted_ran
                 : std::includes(sorted_segments.begin(), sorted_segments.end(), sorted_ran.begin(),
                                 sorted_ran.end());
    } else if (analysis.unreadable_why.empty()) {
      fine = std::all_of(ran.begin(), ran.end(), [&](const words& command) {
        return std::any_of(analysis.segments.begin(), analysis.segments.end(),
                           [&](const auto& segment) { return stands_for(segment, command); });
      });
    }
    if (!fine && result.report.size() < 4000)
      result.report += "--- script\n" + scripts[i] + "\n--- bash ran\n" + shown(ran) +
                       "--- segments\n" + shown(segments);
  }
  return result;
}

} // namespace

TEST_CASE("§D17 bash runs exactly the words of scripts that are plain") {
  generator generate(20240117);
  std::vector<std::string> scripts;
  for (int i = 0; i < 800; ++i)
    scripts.push_back(generate.plain());
  const auto result = compare(scripts);
  CHECK(result.report == "");
  CHECK(result.plain > 400);
}

TEST_CASE("§18a bash runs nothing that is neither a segment nor said to be unreadable") {
  generator generate(7);
  std::vector<std::string> scripts;
  for (int i = 0; i < 800; ++i)
    scripts.push_back(generate.list(1 + i % 3));
  const auto result = compare(scripts);
  CHECK(result.report == "");
  CHECK(result.ran > 1000);
  CHECK(result.readable > 300);
}

TEST_CASE("§18a §D17 token soup is never read as something else than what bash runs") {
  generator generate(99);
  std::vector<std::string> scripts;
  for (int i = 0; i < 1500; ++i)
    scripts.push_back(generate.soup());
  const auto result = compare(scripts);
  CHECK(result.report == "");
  CHECK(result.ran > 150);
  CHECK(result.readable > 60);
}
