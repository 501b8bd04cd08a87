#include "sandbox/plan.hpp"

#include "policy/glob.hpp"
#include "policy/path_text.hpp"
#include "sandbox/access_tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

namespace gatehouse::sandbox {
namespace {

using policy::is_at_or_below;
using policy::is_below;
using policy::parent_of;

/// What the private /dev offers anyway; entries for them need nothing.
constexpr std::array<std::string_view, 11> private_devices{
    "/dev",     "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
    "/dev/tty", "/dev/ptmx", "/dev/pts",  "/dev/shm",  "/dev/fd"};

bool is_private_device(std::string_view path) {
  return is_at_or_below(path, "/dev/pts") ||
         std::find(private_devices.begin(), private_devices.end(), path) != private_devices.end();
}

class planner {
public:
  planner(const permission_profile& profile, const policy::access_context& context,
          const host_facts& facts)
      : policy_{profile.file_system}, facts_{facts}, entries_{policy::resolve_entries(policy_,
                                                                                      context)},
        names_{context.protected_names}, globs_{policy::resolve_globs(policy_, context)} {}

  result<mount_plan> run() {
    if (auto bad = check_entries(); !bad) return bad.error();
    if (auto bad = check_globs(); !bad) return bad.error();
    for (const auto& [file, why] : facts_.unread_configurations)
      return error{errc::boundary_failed,
                   "git's configuration `" + file + "` names files that must be protected, but " +
                       why,
                   "make it smaller, or make a copy of the work tree without it"};
    if (auto bad = add_entries(); !bad) return bad.error();
    add_glob_matches();
    if (auto bad = check_unseen(); !bad) return bad.error();
    protect();
    guard_entries();
    guard_globs();
    guard_nested_names();
    plan_.mounts = tree_.mounts();
    plan_.write_paths = tree_.write_paths();
    plan_.warnings.insert(plan_.warnings.end(), facts_.warnings.begin(), facts_.warnings.end());
    remove_duplicate_guards();
    return std::move(plan_);
  }

private:
  [[nodiscard]] std::string name_of_entry(std::size_t index) const {
    const auto& entry = policy_.entries[index];
    return "`" + describe(entry.path) + "` " + std::string{to_string(entry.access)};
  }

  [[nodiscard]] error cannot(std::size_t index, std::string_view why, std::string_view next) const {
    return {errc::invalid_profile,
            "entry " + name_of_entry(index) + " cannot be enforced here: " + std::string{why},
            std::string{next}};
  }

  /// Entries of which nothing can be made on this host, whatever it holds (§8, §69).
  result<void> check_entries() {
    for (std::size_t i = 0; i < policy_.entries.size(); ++i) {
      const auto& entry = policy_.entries[i];
      if (const auto* literal = std::get_if<literal_path>(&entry.path);
          literal && !literal->path.starts_with('/'))
        return cannot(i, "it is no absolute path of this platform",
                      "use a path of the host that runs the command");
      const auto* special = std::get_if<special_path>(&entry.path);
      if (!special || special->kind != special_kind::unknown) continue;
      if (entry.access == access::deny)
        return cannot(i, "this version does not know the name",
                      "remove the entry or deny the paths themselves");
      plan_.warnings.push_back("entry " + name_of_entry(i) + " is not known and grants nothing");
    }
    return {};
  }

  result<void> check_globs() {
    for (const auto& glob : globs_) {
      if (policy_.entries[glob.index].access != access::deny)
        return cannot(glob.index, "a glob may only deny", "grant the folder itself");
      auto compiled = policy::path_glob::compile(glob.pattern());
      if (!compiled) return std::move(compiled).error();
      compiled_globs_.push_back(*std::move(compiled));
    }
    for (const auto& [pattern, why] : facts_.unexpanded_globs)
      return error{errc::invalid_profile,
                   "deny glob `" + pattern + "` could not be expanded to its end: " + why,
                   "narrow the pattern, or set glob_scan_max_depth"};
    return {};
  }

  [[nodiscard]] const path_fact* fact_of(const std::string& path) const {
    const auto found = facts_.paths.find(path);
    return found == facts_.paths.end() ? nullptr : &found->second;
  }

  [[nodiscard]] bool is_denied_by_glob(const std::string& path) const {
    return std::any_of(compiled_globs_.begin(), compiled_globs_.end(),
                       [&](const auto& glob) { return glob.matches_at_or_above(path); }) ||
           std::any_of(facts_.glob_matches.begin(), facts_.glob_matches.end(), [&](const auto& m) {
             return m.found.kind != path_kind::missing && is_at_or_below(path, m.found.canonical);
           });
  }

  result<void> add_entries() {
    for (const auto& entry : entries_) {
      const auto* fact = fact_of(entry.path);
      if (!fact)
        return error{errc::internal, "no fact about `" + entry.path + "` was gathered",
                     "report this: facts and profile do not belong together"};
      if (fact->kind == path_kind::missing) continue;
      if (is_at_or_below(fact->canonical, "/proc")) {
        if (entry.access == access::read) continue;
        return cannot(entry.index, "/proc is made anew for the command", "remove the entry");
      }
      if (is_at_or_below(fact->canonical, "/sys") && entry.access == access::write)
        return cannot(entry.index, "/sys changes the kernel's own state", "remove the entry");
      if (is_at_or_below(fact->canonical, "/dev") && !is_below(fact->canonical, "/dev/shm")) {
        // Of the host's devices nothing is shown that is not granted, so that a deny hides what the
        // private ones offer and needs nothing for the others.
        if (is_private_device(fact->canonical) != (entry.access == access::deny)) continue;
        if (entry.access == access::read)
          return cannot(entry.index, "a device cannot be granted for reading alone",
                        "grant it for writing, or leave it out");
      }
      // What a glob denies no entry opens again, however deep.
      if (entry.access != access::deny && is_denied_by_glob(fact->canonical)) continue;
      // By its symbolic name `.git` means the folder. A pointer file that could be written would
      // lead git wherever it says.
      const bool pointer = entry.access == access::write && fact->kind == path_kind::file &&
                           entry.path.ends_with("/.git") &&
                           std::holds_alternative<special_path>(policy_.entries[entry.index].path);
      if (pointer)
        plan_.warnings.push_back("entry " + name_of_entry(entry.index) + ": `" + entry.path +
                                 "` is a pointer file and stays read-only; grant the folder that "
                                 "it names");
      tree_.add(fact->canonical, pointer ? access::read : entry.access, fact->kind);
      for (const auto& [place, text] : fact->links)
        if (entry.access != access::deny) tree_.add_link(place, text);
    }
    // Uid 0 could change the kernel's state through it, whatever folder around it is granted.
    if (is_writable("/sys")) tree_.add("/sys", access::read, path_kind::directory);
    return {};
  }

  /// What may stand where we cannot look cannot be masked; but a command can open a folder of its
  /// user that is writable, and step down a path that is too long.
  [[nodiscard]] result<void> check_unseen() const {
    const auto unseen = [&](const path_fact& fact) {
      return fact.unseen != 0 && (fact.unseen != EACCES || is_writable(fact.existing_folder));
    };
    const auto refusal = [](const std::string& what, const path_fact& fact) {
      return error{errc::invalid_profile,
                   what + " cannot be enforced here: what stands in `" + fact.existing_folder +
                       "` cannot be looked at: " + std::strerror(fact.unseen),
                   "make that folder accessible to yourself (chmod u+x), or deny the whole folder"};
    };
    for (const auto& entry : entries_)
      if (const auto& fact = *fact_of(entry.path); entry.access == access::deny && unseen(fact))
        return refusal("entry " + name_of_entry(entry.index), fact);
    for (const auto& match : facts_.glob_matches)
      if (unseen(match.found)) return refusal("deny glob `" + match.pattern + "`", match.found);
    return {};
  }

  void add_glob_matches() {
    for (const auto& match : facts_.glob_matches) {
      if (match.found.kind == path_kind::missing) continue;
      tree_.add(match.found.canonical, access::deny, match.found.kind);
    }
  }

  [[nodiscard]] bool is_writable(std::string_view path) const {
    return tree_.access_at(path) == access::write;
  }

  /// Whatever stands there is not to be made or changed by its name, but where entries allow it.
  void close(std::string directory, const std::string& path, const std::string& why) {
    creation_guard made{std::move(directory), path, guard_kind::closed, false, why};
    for (const auto& entry : entries_)
      if (entry.access == access::write)
        if (const auto& opened = fact_of(entry.path)->canonical; is_below(opened, path))
          made.opened.push_back(opened);
    plan_.guards.push_back(std::move(made));
  }

  void keep(const std::string& path, const std::string& why) {
    plan_.guards.push_back({std::string{parent_of(path)}, path, guard_kind::keep, false, why});
  }

  /// Links lead to a denied or protected place: whoever replaced one would lead elsewhere.
  void keep_links(const path_fact& fact, const std::string& why) {
    for (const auto& [place, text] : fact.links)
      if (is_writable(parent_of(place))) keep(place, why);
  }

  /// Moving a folder takes what lies in it out of the place that a denial or a pointer names.
  void keep_parents(std::string_view path, const std::string& why) {
    for (auto parent = parent_of(path); parent != "/"; parent = parent_of(parent))
      if (is_writable(parent) && !tree_.has(std::string{parent}))
        return keep(std::string{parent}, why); // and with it those above
  }

  [[nodiscard]] bool has_entry(const std::string& path) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const policy::resolved_entry& e) { return e.path == path; });
  }

  void protect() {
    // What is writable is settled by entries alone, before the first protection changes the answer.
    std::vector<const protected_fact*> due;
    for (const auto& place : facts_.protected_paths) {
      if (has_entry(place.path)) continue;
      const auto& found = place.found;
      const bool link_is_writable =
          std::any_of(found.links.begin(), found.links.end(),
                      [&](const auto& link) { return is_writable(parent_of(link.first)); });
      if (is_writable(found.canonical) || link_is_writable) due.push_back(&place);
    }
    std::vector<std::pair<std::string, path_kind>> read_only;
    for (const auto* place : due) {
      const auto& found = place->found;
      keep_links(found, place->why);
      // Rebuilt with other content, the folder above would hold such a name that nobody protects.
      if (place->named_elsewhere || found.kind != path_kind::missing)
        keep_parents(found.canonical, place->why);
      if (!is_writable(found.canonical)) continue;
      if (found.kind == path_kind::missing) {
        close(found.existing_folder, found.canonical, place->why);
      } else if (is_at_or_below(place->root, found.canonical)) {
        plan_.warnings.push_back(place->why + " leads to `" + found.canonical +
                                 "`, which holds a writable root and stays writable");
      } else {
        read_only.emplace_back(found.canonical, found.kind);
        close(std::string{parent_of(found.canonical)}, found.canonical, place->why);
      }
    }
    for (const auto& [path, kind] : read_only)
      if (!tree_.has(path)) tree_.add(path, access::read, kind);
  }

  void guard_entries() {
    for (const auto& entry : entries_) {
      const auto& fact = *fact_of(entry.path);
      const std::string why = name_of_entry(entry.index);
      keep_links(fact, why);
      const bool missing = fact.kind == path_kind::missing;
      const auto folder = missing ? fact.existing_folder : std::string{parent_of(fact.canonical)};
      if (!missing) keep_parents(fact.canonical, why);
      // Of two entries for one place the other may be the wider one.
      if (entry.access != access::write && is_writable(folder) && !tree_.has_write(fact.canonical))
        close(folder, fact.canonical, why);
      else if (entry.access == access::write && fact.canonical != "/" && is_writable(folder))
        plan_.guards.push_back({folder, fact.canonical, guard_kind::made, false,
                                why + ", which nothing may be moved or linked to"});
      if (missing && entry.access != access::deny &&
          !(entry.access == access::read && is_writable(folder)))
        warn_of_missing(entry, fact);
    }
  }

  void warn_of_missing(const policy::resolved_entry& entry, const path_fact& fact) {
    const auto& source = policy_.entries[entry.index];
    const auto* special = std::get_if<special_path>(&source.path);
    const auto around = tree_.access_at(fact.canonical);
    if (source.skip_missing || (special && special->kind == special_kind::minimal) ||
        (around && *around >= entry.access && *around != access::deny))
      return;
    plan_.warnings.push_back("entry " + name_of_entry(entry.index) + ": `" + entry.path +
                             "` does not exist, so that nothing is granted");
  }

  void guard_globs() {
    for (const auto& glob : globs_) {
      const auto* fact = fact_of(glob.folder);
      if (!fact) continue;
      const std::string why = name_of_entry(glob.index);
      keep_links(*fact, why);
      if (!tree_.has_write_around(fact->canonical)) continue;
      plan_.guards.push_back(
          {fact->kind == path_kind::missing ? fact->existing_folder : fact->canonical,
           policy::resolved_glob{fact->canonical, glob.rest, glob.index}.pattern(),
           guard_kind::closed, true, why});
    }
    for (const auto& match : facts_.glob_matches) {
      const auto glob = policy::path_glob::compile(match.pattern);
      const std::string why = "`" + match.pattern + "` deny";
      keep_links(match.found, why);
      const auto root = tree_.nearest_write(match.path);
      // Moved below the depth that is looked at, it would be found no more.
      if (!glob || !root || !glob->by_name_only_below(*root) || policy_.glob_scan_max_depth)
        keep_parents(match.found.canonical, why);
      if (match.found.kind == path_kind::missing && is_writable(match.found.existing_folder))
        close(match.found.existing_folder, match.found.canonical, why);
    }
  }

  void remove_duplicate_guards() {
    std::set<std::pair<std::string, guard_kind>> seen;
    std::erase_if(plan_.guards,
                  [&](const creation_guard& g) { return !seen.emplace(g.path, g.kind).second; });
  }

  void guard_nested_names() {
    for (const auto& root : facts_.nested_roots) {
      if (!is_writable(root)) continue;
      for (const auto& name : names_) {
        const auto place = policy::absolute_below(root, name);
        creation_guard made{root, place, guard_kind::nested, false,
                            "protected name `" + name + "`"};
        for (const auto& entry : entries_)
          if (entry.access == access::write && is_below(entry.path, root))
            if (const auto found = policy::find_protected_name({name}, root, entry.path); found)
              made.opened.push_back(entry.path);
        plan_.guards.push_back(std::move(made));
      }
    }
  }

  const file_system_policy& policy_;
  const host_facts& facts_;
  std::vector<policy::resolved_entry> entries_;
  const std::vector<std::string>& names_;
  std::vector<policy::resolved_glob> globs_;
  std::vector<policy::path_glob> compiled_globs_;
  access_tree tree_;
  mount_plan plan_;
};

bool is_opened(const creation_guard& guard, std::string_view path) {
  return std::any_of(guard.opened.begin(), guard.opened.end(),
                     [&](const std::string& open) { return is_at_or_below(path, open); });
}

/// Is `path` what the nested guard protects, or inside it?
bool is_nested_name(const creation_guard& guard, std::string_view path) {
  if (!is_below(path, guard.directory)) return false;
  const std::string name = guard.path.substr(guard.directory.size() + 1);
  const auto found = policy::find_protected_name({name}, guard.directory, path);
  // Directly below the root the name has a mount or a guard of its own.
  if (!found || found->path == guard.path) return false;
  return !is_opened(guard, path);
}

} // namespace

const creation_guard* find_guard(std::span<const creation_guard> guards, std::string_view path,
                                 guarded_operation operation, bool in_own_folder) {
  const bool moves =
      operation == guarded_operation::place || operation == guarded_operation::remove;
  for (const auto& guard : guards) {
    if (guard.kind == guard_kind::keep) {
      if (moves && is_at_or_below(guard.path, path)) return &guard;
    } else if (guard.kind == guard_kind::made) {
      if (operation == guarded_operation::place && is_at_or_below(guard.path, path)) return &guard;
    } else if (guard.kind == guard_kind::nested) {
      // Of a name with several parts the parent is not where it begins.
      const bool one_part = guard.path.find('/', guard.directory.size() + 1) == std::string::npos;
      if (!(in_own_folder && one_part) && is_nested_name(guard, path)) return &guard;
    } else if (guard.is_glob) {
      if (!is_at_or_below(path, guard.directory)) continue;
      const auto glob = policy::path_glob::compile(guard.path);
      if (!glob || glob->matches_at_or_above(path)) return &guard;
    } else if ((is_at_or_below(path, guard.path) && !is_opened(guard, path)) ||
               (operation == guarded_operation::place && is_below(guard.path, path))) {
      return &guard;
    }
  }
  return nullptr;
}

std::size_t denied_file_count(std::span<const mount_step> mounts) noexcept {
  return static_cast<std::size_t>(
      std::count_if(mounts.begin(), mounts.end(),
                    [](const mount_step& s) { return s.kind == mount_kind::denied_file; }));
}

void spell_out(permission_profile& profile, policy::access_context& context) {
  auto& files = profile.file_system;
  if (profile.kind != profile_kind::managed || files.restricted) return;
  files.restricted = true;
  files.entries = {{special_path{special_kind::root, {}, {}}, access::write, false}};
  context.protected_names.clear();
  context.protected_paths.clear();
}

void hide(permission_profile& profile, policy::access_context& context,
          std::span<const std::string> paths) {
  if (paths.empty()) return;
  auto kept = context.protected_paths;
  spell_out(profile, context);
  context.protected_paths = std::move(kept);
  for (const auto& path : paths)
    profile.file_system.entries.push_back({literal_path{path}, access::deny, true});
}

result<mount_plan> make_mount_plan(const permission_profile& profile,
                                   const policy::access_context& context, const host_facts& facts) {
  return planner{profile, context, facts}.run();
}

} // namespace gatehouse::sandbox
