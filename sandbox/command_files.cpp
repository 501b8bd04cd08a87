#include "sandbox/command_files.hpp"

#include "policy/path_text.hpp"
#include "policy/shell/segments.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace gatehouse::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view around_words = " \t\r\n'\"`;|&<>(){}=,:$";

/// Whatever may be a word, however it is quoted: one too many costs nothing.
std::set<std::string> words_in(std::string_view script, const policy::command_analysis& read) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < script.size();) {
    const auto end = std::min(script.find_first_of(around_words, at), script.size());
    if (end > at) words.emplace(script.substr(at, end - at));
    at = end + 1;
  }
  for (const auto& segment : read.segments)
    words.insert(segment.argv.begin(), segment.argv.end());
  words.erase(std::string{});
  return words;
}

/// The words that are run: there may be no such file yet.
std::set<std::string> run_in(const policy::command_analysis& read) {
  std::set<std::string> run;
  for (const auto& segment : read.segments)
    if (segment.origin != segment_origin::opaque) run.insert(segment.argv.front());
  for (const auto& file : read.run_files)
    run.insert(file.command.argv.front());
  return run;
}

class collector {
public:
  explicit collector(const command_place& place) : place_{place} {}

  [[nodiscard]] std::string absolute(const std::string& base, const std::string& word) const {
    if (word == "~" || word.starts_with("~/"))
      return policy::lexically_normal(place_.user_home + word.substr(1));
    return policy::absolute_below(base, word);
  }

  void add(const std::string& path) {
    std::error_code failed;
    auto& found = fs::is_directory(path, failed) ? folders_ : files_;
    found.insert(path);
    auto real = fs::weakly_canonical(path, failed).string();
    if (!failed && real.starts_with('/')) found.insert(std::move(real));
  }

  /// A bare name: the file that PATH leads to, and the places where it would be found before.
  void add_by_search(const std::string& name) {
    std::vector<std::string> before;
    std::string_view rest = place_.search_path;
    for (bool more = true; more;) {
      const auto end = rest.find(':');
      more = end != std::string_view::npos;
      const auto path = absolute(place_.cwd, std::string{rest.substr(0, end)} + "/" + name);
      rest.remove_prefix(more ? end + 1 : rest.size());
      before.push_back(path);
      std::error_code failed;
      if (!fs::is_regular_file(path, failed)) continue;
      for (const auto& one : before)
        add(one);
      return;
    }
  }

  [[nodiscard]] command_files found() const {
    return {{files_.begin(), files_.end()}, {folders_.begin(), folders_.end()}};
  }

private:
  const command_place& place_;
  std::set<std::string> files_;
  std::set<std::string> folders_;
};

} // namespace

command_files files_of_command(std::string_view script, const command_place& place) {
  const std::string argv[] = {"sh", "-c", std::string{script}};
  const auto read = policy::analyze_command(argv);
  const auto words = words_in(script, read);
  collector files{place};
  std::set<std::string> bases{place.cwd};
  std::error_code failed;
  for (const std::string_view word : words) { // $HOME/x, ${HOME}/x
    const auto rest = word.substr(word.starts_with("HOME/") ? 4 : 0);
    const auto path = place.user_home + std::string{rest};
    if (rest.starts_with('/') && fs::is_regular_file(path, failed)) files.add(path);
  }
  for (const auto& word : words)
    if (auto path = files.absolute(place.cwd, word); fs::is_directory(path, failed))
      bases.insert(std::move(path));
  for (const auto& base : bases)
    for (const auto& word : words)
      if (const auto path = files.absolute(base, word); fs::is_regular_file(path, failed))
        files.add(path);
  for (const auto& word : run_in(read)) {
    if (word.find('/') == std::string::npos)
      files.add_by_search(word);
    else
      files.add(files.absolute(place.cwd, word));
  }
  return files.found();
}

} // namespace gatehouse::sandbox
