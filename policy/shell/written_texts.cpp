#include "policy/command_words.hpp"
#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/limits.hpp"
#include "policy/shell/script_reader.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>
#include <set>
#include <utility>

/// Files that a command writes and runs: what the script, a copy or a link holds is read as if it
/// stood there. Files are told apart by their last component alone: where they lie depends on
/// folders and links. The order does not matter either: loops and functions change it.
namespace gatehouse::policy::shell {
namespace {

std::string file_name(const word& file) {
  return std::string{base_name(file.text)};
}

bool is_unknown(std::string_view text) {
  return text.find(unknown_part) != std::string_view::npos;
}

/// `#!/usr/bin/env python3`: the words of the interpreter; none when there is no such line.
std::vector<word> interpreter_of(std::string_view text) {
  if (!text.starts_with("#!")) return {};
  return split_env_string(text.substr(2, text.find('\n') - 2));
}

/// What the command reads, as far as the script says.
word text_read(const script_reading& reading, const found_command& found) {
  word text;
  if (found.input.from == input_source::kind::text) {
    text.text = found.input.text;
    text.known = !found.input.is_cut && text.text.find(unknown_part) == std::string::npos;
  } else if (found.input.from == input_source::kind::pipe) {
    text.text = printed_text(reading, found.input.writers, text.known);
  } else {
    text.known = false;
  }
  return text;
}

/// Operands of cat that are files.
std::vector<word> files_read(std::span<const word> all) {
  std::vector<word> files;
  for (const auto& w : all.subspan(1))
    if (!w.text.starts_with('-')) files.push_back(w);
  return files;
}

/// The files that may be the module `name`: `name.py`, `name/__init__.py`, `a/b.pm` of `a::b`.
bool may_be_module(std::string_view file, std::string_view name) {
  if (file == "__init__.py" || file == "__main__.py" || file == "index.js") return true;
  const auto stem = file.substr(0, file.rfind('.'));
  return !stem.empty() &&
         (file == name || stem == name || name.ends_with("." + std::string(stem)) ||
          name.ends_with(":" + std::string(stem)) || name.starts_with(std::string(stem) + "="));
}

} // namespace

void analyzer::runs_file(text_kind kind, words file_and_arguments, std::string_view of,
                         const context& at, bool backticks) {
  const auto& file = file_and_arguments.front();
  pending_run run;
  run.kind = kind;
  run.file_and_arguments.assign(file_and_arguments.begin(), file_and_arguments.end());
  run.of = of;
  run.backticks = backticks;
  run.at.depth = at.depth;
  run.at.any_shell = at.any_shell;
  run.at.grammar = at.grammar;
  const bool is_code = kind == text_kind::code || kind == text_kind::sed;
  const bool is_input = is_input_path(file.text) || (is_code && file.text == "-");
  if (file.is_process || is_input) {
    if (!is_code) return; // shells and make read these themselves
    if (is_input) {
      takes_commands(of, at);
      runs_input_file(kind, of, at, backticks);
    }
    const std::optional<word> text = is_input ? input_text(at) : process_text(file, at);
    if (text) run_text(run, *text);
    return;
  }
  if (kind != text_kind::program)
    list_run_file(file_and_arguments, kind == text_kind::shell, of, at);
  if (is_unknown(file_name(file))) return;
  runs_.push_back(std::move(run));
}

/// A module or a file of code by the name that an interpreter loads it by: `json`, `a.b`, `./x.js`.
void analyzer::loads_code(const word& module, std::string_view of, const context& at,
                          bool backticks) {
  if (module.is_process || is_unknown(module.text))
    return unreadable("what `" + std::string(of) + "` loads is only known when it runs");
  constexpr std::size_t most = 512; // each is compared with every file that is written
  if (!loaded_.insert(std::string(of) + '\0' + file_name(module)).second) return;
  if (loaded_.size() > most) return must_ask("it loads too many modules to be read");
  pending_run run;
  run.kind = text_kind::code;
  run.file_and_arguments = {module};
  run.of = of;
  run.backticks = backticks;
  run.is_module = true;
  run.at.depth = at.depth;
  runs_.push_back(std::move(run));
}

/// The input comes from a file of the host: `bash < x`.
void analyzer::runs_input_file(text_kind kind, std::string_view of, const context& at,
                               bool backticks) {
  const auto* from = &at;
  while (from != nullptr &&
         (from->found == nullptr || from->found->input.from == input_source::kind::inherited))
    from = from->outer;
  if (from == nullptr || from->found->input.file.empty()) return;
  word file{.text = from->found->input.file};
  if (is_input_path(file.text)) return;    // `< /dev/stdin`: from whoever started us
  if (file.text == "-") file.text = "./-"; // a file of that name
  runs_file(kind, {&file, 1}, of, at, backticks);
}

/// A program puts its input into `file`, in other words or in another order.
void analyzer::changes_text(std::string_view file, const context& at) {
  written_file written;
  written.name = base_name(file);
  if (auto input = input_text(at)) written.text = std::move(*input);
  written.text.known = false;
  writes_.push_back(std::move(written));
}

void analyzer::note_writes(const script_reading& reading, const found_command& found) {
  const auto index = static_cast<std::size_t>(&found - reading.commands.data());
  const std::span<const word> all = found.readings.front();
  const auto program = all.empty() ? std::string_view{} : base_name(all.front().text);
  std::vector<std::string> targets = found.write_targets;
  if (program == "tee" || program == "sponge")
    for (const auto& w : files_read(all))
      targets.push_back(w.text);
  if (program == "dd")
    for (const auto& w : all.subspan(1))
      if (w.text.starts_with("of=")) targets.push_back(w.text.substr(3));
  written_file written;
  if (lists_word("cp ginstall install ln mv", program)) {
    const auto files = files_read(all);
    if (std::ranges::any_of(files, [](const word& w) { return is_input_path(w.text); }))
      writes_.push_back({std::string{base_name(files.back().text)}, text_read(reading, found), {}});
  }
  if (targets.empty()) return;
  if (program == "cat" && found.readings.size() == 1) written.sources = files_read(all);
  if (std::ranges::any_of(written.sources, [](const word& w) { return w.is_process; }))
    written.sources.clear();
  if (written.sources.empty() && !all.empty())
    written.text.text = printed_text(reading, {index, index + 1}, written.text.known);
  if (is_unknown(written.text.text)) written.text.known = false;
  for (const auto& target : targets) {
    written.name = base_name(target);
    writes_.push_back(written);
  }
}

/// `cp a b`, `ln -s a b`, `mv -t folder a`: any operand may hold what any other one held.
void analyzer::note_copies(words all) {
  constexpr std::size_t most = 256;
  const auto files = files_read(all);
  for (std::size_t i = 0; i < std::min(files.size(), most); ++i) {
    // Into a folder, the copy has the name of its source.
    written_file written{file_name(files.back()), {}, {files[i]}};
    if (files.size() > 1 && i + 1 < files.size()) writes_.push_back(written);
  }
}

void analyzer::read_written_files() {
  constexpr int most = 256;
  int left = most;
  std::set<std::string> done;
  const auto is_new = [&](const pending_run& run, char what, const std::string& text) {
    return done
        .insert(std::to_string(static_cast<int>(run.kind)) + run.of + '\0' +
                file_name(run.file_and_arguments.front()) + '\0' + what + text)
        .second;
  };
  const auto read = [&](const pending_run& run, const word& text) {
    if (!is_new(run, 't', text.text)) return;
    if (--left < 0)
      out_.too_deep = true;
    else
      run_text(run, text);
  };
  for (std::size_t seen_writes = 0, seen_runs = 0;
       left >= 0 && (seen_writes != writes_.size() || seen_runs != runs_.size());) {
    seen_writes = writes_.size();
    seen_runs = runs_.size();
    for (std::size_t r = 0; r < seen_runs; ++r) {
      const auto name = file_name(runs_[r].file_and_arguments.front());
      word together;
      int texts = 0;
      for (std::size_t w = 0; w < seen_writes; ++w) {
        if (runs_[r].is_module ? !may_be_module(writes_[w].name, name) : writes_[w].name != name)
          continue;
        const auto run = runs_[r];
        const auto written = writes_[w];
        for (const auto& source : written.sources) {
          if (!is_new(run, 's', source.text)) continue;
          auto copy = run.file_and_arguments;
          copy.front() = source;
          runs_file(run.kind, copy, run.of, run.at, run.backticks);
          if (run.kind == text_kind::program) list_run_file(copy, false, run.of, run.at);
        }
        if (!written.sources.empty()) continue;
        read(run, written.text);
        together.text += written.text.text;
        together.known = together.known && written.text.known;
        ++texts;
      }
      if (texts > 1) read(pending_run{runs_[r]}, together);
    }
  }
}

void analyzer::run_text(const pending_run& run, const word& text) {
  const auto& at = run.at;
  const words all = run.file_and_arguments;
  if (!text.known)
    unreadable("the text of `" + file_name(all.front()) + "` is only known when it runs");
  if (text.text.empty() || !deeper(at)) return;
  context inner = at;
  inner.depth = at.depth + 1;
  switch (run.kind) {
  case text_kind::make:
    return script_word({.text = makefile_commands(text.text), .known = text.known}, run.of, inner);
  case text_kind::sed: return sed_text(text, inner);
  case text_kind::code: return code(text, run.of, inner, run.backticks);
  case text_kind::program:
    if (auto started = interpreter_of(text.text); !started.empty()) {
      started.insert(started.end(), all.begin(), all.end());
      return inner_command(started, true, run.of, inner);
    }
    inner.any_shell = true;
    break;
  case text_kind::shell: break;
  }
  auto values = variables_;
  note_positions(variables_, run.file_and_arguments, 1);
  script_word(text, run.of, inner);
  variables_ = std::move(values);
}

void analyzer::list_run_file(words file_and_arguments, bool is_shell, std::string_view of,
                             const context& at) {
  if (out_.run_files.size() >= max_segments) {
    out_.too_deep = true;
    return;
  }
  std::vector<word> all(file_and_arguments.begin(), file_and_arguments.end());
  auto& file = all.front();
  const bool place_known = !is_unknown(file.text);
  if (!place_known) file.text = base_name(file.text);
  if (is_unknown(file.text) || file.text.empty())
    return unreadable("the script of `" + std::string(of) + "` is only known when it runs");
  file.known = true;
  const auto add = [&] {
    run_file listed{to_segment(all, at), place_known};
    listed.command.origin = segment_origin::wrapper;
    out_.run_files.push_back(std::move(listed));
  };
  const bool bare = file.text.find('/') == std::string::npos;
  if (is_shell || !bare) add(); // a shell looks on the PATH as well
  if (!bare) return;
  file.text.insert(0, "./");
  add();
}

void analyzer::note_folder(const word& folder) {
  constexpr std::size_t most = 16;
  if (folder.text.empty() || folder.text == "-") return;
  if (is_unknown(folder.text) || folders_.size() >= most) {
    unknown_folder_ = true;
    return;
  }
  const auto add = [&](std::string path) {
    if (std::ranges::find(folders_, path) == folders_.end()) folders_.push_back(std::move(path));
  };
  const auto earlier = folders_;
  add(folder.text);
  if (folder.text.starts_with('/') || folder.text.starts_with('~')) return;
  for (const auto& base : earlier) {
    add(base + "/" + folder.text);
    // A shell goes back by the text, the kernel by the link.
    if (folder.text.starts_with("..") && base.find('/') != std::string::npos)
      add(base.substr(0, base.rfind('/') + 1) + folder.text.substr(2));
  }
}

void analyzer::changes_folder(words all) {
  const auto name = base_name(all.front().text);
  if (name != "cd" && name != "pushd" && name != "chdir") return;
  const auto operand = std::find_if(all.begin() + 1, all.end(), [](const word& w) {
    return !w.text.starts_with('-') && !w.text.starts_with('+');
  });
  if (operand != all.end())
    note_folder(*operand);
  else if (name == "cd" && all.size() == 1)
    note_folder(word{.text = "~"});
}

void analyzer::read_below_folders() {
  const auto moves = [](const std::string& assignment) {
    return assignment.starts_with("CDPATH=") || assignment.starts_with("OLDPWD=");
  };
  for (const auto& segment : out_.segments)
    unknown_folder_ = unknown_folder_ || std::ranges::any_of(segment.assignments, moves) ||
                      std::ranges::any_of(segment.argv, moves);
  unknown_folder_ = unknown_folder_ || std::ranges::any_of(out_.loose_assignments, moves);
  if (folders_.empty() && !unknown_folder_) return;
  const auto is_relative = [](const std::string& program) {
    return program.find('/') != std::string::npos && !program.starts_with('/') &&
           !program.starts_with('~');
  };
  std::vector<run_file> found;
  const auto add = [&](const command_segment& command) {
    if (!is_relative(command.argv.front())) return;
    for (const auto& folder : folders_) {
      found.push_back({command, true});
      found.back().command.argv.front().insert(0, folder + "/");
    }
    if (unknown_folder_) found.push_back({command, false});
    if (found.size() > max_segments) out_.too_deep = true;
  };
  for (const auto& segment : out_.segments)
    if (!out_.too_deep) add(segment);
  for (const auto& file : out_.run_files)
    if (!out_.too_deep) add(file.command);
  out_.run_files.insert(out_.run_files.end(), std::make_move_iterator(found.begin()),
                        std::make_move_iterator(found.end()));
}

void analyzer::finish() {
  read_written_files();
  read_below_folders();
}

} // namespace gatehouse::policy::shell
