#include "sandbox/program_lookup.hpp"

#include "policy/path_text.hpp"
#include "policy/rules/many_tools.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <deque>
#include <memory>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

bool is_program(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string canonical_program(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr),
                                                         &std::free};
  return real ? std::string{real.get()} : std::string{};
}

/// Every place that decides what `path` leads to: each component on the way and each one that its
/// links lead over, as absolute paths whose own parent holds no link.
std::set<std::string> places_on_the_way(const std::string& path) {
  constexpr int most_links = 40; // as the kernel
  std::set<std::string> places;
  std::deque<std::string> ahead;
  const auto enqueue_front = [&ahead](std::string_view text) {
    const auto parts = policy::components_of(text);
    ahead.insert(ahead.begin(), parts.begin(), parts.end());
  };
  enqueue_front(path);
  std::string at = "/";
  int links = 0;
  while (!ahead.empty()) {
    const std::string name = ahead.front();
    ahead.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      at = std::string{policy::parent_of(at)};
      continue;
    }
    const std::string next = at == "/" ? "/" + name : at + "/" + name;
    places.insert(next);
    char text[PATH_MAX];
    const auto size = ::readlink(next.c_str(), text, sizeof text);
    if (size < 0) {
      at = next;
      continue;
    }
    if (size == sizeof text || ++links > most_links) break;
    const std::string_view target{text, static_cast<std::size_t>(size)};
    if (target.starts_with('/')) at = "/";
    enqueue_front(target);
  }
  return places;
}

bool touches(const std::set<std::string>& places, const std::vector<std::string>& roots) {
  return std::any_of(places.begin(), places.end(), [&roots](const std::string& place) {
    return std::any_of(roots.begin(), roots.end(), [&place](const std::string& root) {
      return policy::is_at_or_below(place, root);
    });
  });
}

/// The configuration of the repository that git finds from `cwd` can be written by commands: it
/// lies below a writable root, and is not the `.git` folder right in one, which is protected there.
bool finds_writable_repository(const std::string& cwd, const std::vector<std::string>& roots) {
  auto at = canonical_program(cwd);
  while (!at.empty()) {
    struct stat about {};
    const auto folder = (at == "/" ? "" : at) + "/.git";
    const bool exists = ::lstat(folder.c_str(), &about) == 0;
    const bool is_root = std::find(roots.begin(), roots.end(), at) != roots.end();
    if (exists && S_ISDIR(about.st_mode) && is_root) return false;
    const bool bare = ::lstat((at + "/HEAD").c_str(), &about) == 0;
    if (exists || bare) return !S_ISDIR(about.st_mode) || touches({at}, roots);
    if (at == "/") break;
    at = std::string{policy::parent_of(at)};
  }
  return true; // nothing there yet: whoever makes one first decides
}

/// The file of `fact`, and the other ways in which the PATH leads to it. A bare word may also be
/// found further down the PATH: the first one may be a shim that goes on to it.
void find_other_names(policy::program_fact& fact, const std::string& word,
                      const program_search& search) {
  struct stat about {};
  if (fact.real_path.empty() || ::stat(fact.real_path.c_str(), &about) != 0) return;
  fact.file = {about.st_dev, about.st_ino};
  if (!search.names || !S_ISREG(about.st_mode)) return;
  auto files = search.names->files_called(search.path, word);
  files.push_back(fact.file);
  for (const auto& file : files) {
    const auto paths = search.names->names_of(search.path, file);
    if (file != fact.file &&
        (paths.empty() || policy::is_many_tools(policy::name_of(canonical_program(paths.front())))))
      continue;
    for (const auto& path : paths)
      if (path != fact.absolute && path != fact.real_path &&
          std::find(fact.other_paths.begin(), fact.other_paths.end(), path) ==
              fact.other_paths.end())
        fact.other_paths.push_back(path);
  }
}

struct path_hit {
  std::string file;
  bool trusted_entry = false;
};

/// The first program called `name`, in the order of `path`, as execvp would take it.
path_hit find_on_path(std::string_view path, std::string_view cwd, const std::string& name) {
  while (true) {
    const auto colon = path.find(':');
    const auto entry = path.substr(0, colon);
    const bool absolute = entry.starts_with('/');
    const auto folder = entry.empty() ? std::string{cwd} : policy::absolute_below(cwd, entry);
    const auto file = (folder == "/" ? "" : folder) + "/" + name;
    if (is_program(file)) return {file, absolute};
    if (colon == std::string_view::npos) return {};
    path.remove_prefix(colon + 1);
  }
}

} // namespace

policy::program_facts look_up_programs(std::span<const std::string> words,
                                       const program_search& search) {
  std::vector<std::string> roots;
  for (const auto& root : search.writable_roots) {
    roots.push_back(policy::lexically_normal(root));
    if (auto real = canonical_program(root); !real.empty()) roots.push_back(std::move(real));
  }

  if (search.names) search.names->look_again(search.path);
  policy::program_facts facts;
  for (const auto& word : words) {
    if (word.empty() || facts.count(word) != 0) continue;
    policy::program_fact fact;
    path_hit hit;
    if (word.find('/') == std::string::npos && word != "~") {
      hit = find_on_path(search.path, search.cwd, word);
      fact.absolute = hit.file;
    } else if (word[0] == '~') {
      if (word.size() > 1 && word[1] != '/') { // another user's home: nobody here knows it
        facts.emplace(word, fact);
        continue;
      }
      if (!search.home.empty())
        fact.absolute = policy::absolute_below("/", search.home + word.substr(1));
    } else {
      fact.absolute = policy::absolute_below(search.cwd, word);
      // Lexically, `link/../x` may be another file than the one that runs.
      hit.file = word[0] == '/' ? word : search.cwd + "/" + word;
    }
    const std::string& real_way = hit.file.empty() ? fact.absolute : hit.file;
    if (!real_way.empty()) {
      fact.real_path = canonical_program(real_way);
      find_other_names(fact, word, search);
      auto places = places_on_the_way(real_way);
      places.insert(fact.absolute);
      fact.in_writable_root = touches(places, roots);
    }
    if (word.find('/') == std::string::npos) {
      fact.on_trusted_path = hit.trusted_entry;
    } else if (!fact.real_path.empty()) {
      const auto found =
          find_on_path(search.path, search.cwd, std::string{policy::name_of(fact.absolute)});
      fact.on_trusted_path = found.trusted_entry && canonical_program(found.file) == fact.real_path;
    }
    if (policy::name_of(word) == "git")
      fact.in_writable_repository = finds_writable_repository(search.cwd, roots);
    facts.emplace(word, std::move(fact));
  }
  return facts;
}

std::vector<std::string> writable_roots_of(const permission_profile& profile,
                                           const policy::access_context& context) {
  const bool ours = profile.kind == profile_kind::managed && profile.file_system.restricted;
  const auto entries = policy::resolve_entries(
      ours ? profile.file_system : workspace_write_profile().file_system, context);
  std::vector<std::string> roots;
  for (const auto& entry : entries)
    if (entry.access == access::write) roots.push_back(entry.path);
  return roots;
}

} // namespace gatehouse::sandbox
