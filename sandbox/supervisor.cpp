#include "sandbox/supervisor.hpp"

#include "policy/path_text.hpp"
#include "sandbox/caller.hpp"
#include "sandbox/change_attributes.hpp"
#include "sandbox/guarded_folders.hpp"
#include "sandbox/local_sockets.hpp"
#include "sandbox/performed_call.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

namespace gatehouse::sandbox {
namespace {

constexpr const char* no_tracing = "the filter against tracing and debugging: ptrace";
constexpr const char* no_measuring = "the filter against performance counters: perf_event_open";

/// The registers of one call, brought to the form of its `at` variant.
struct name_call {
  enum class what { none, open, mkdir, mknod, symlink, link, rename, remove, truncate };
  what kind = what::none;
  const char* name = "";
  int dirfd = AT_FDCWD;
  std::uint64_t path = 0;
  int other_dirfd = AT_FDCWD;   ///< rename, link: of the new name
  std::uint64_t other_path = 0; ///< rename, link: the new name; symlink: the text
  std::uint64_t flags = 0;
  mode_t mode = 0;
  dev_t device = 0;
};

name_call decode(const seccomp_data& data) {
  using what = name_call::what;
  const auto& a = data.args;
  const auto fd = [&](unsigned i) { return static_cast<int>(a[i]); };
  const auto mode = [&](unsigned i) { return static_cast<mode_t>(a[i]); };
  name_call c;
  switch (data.nr) {
  case SYS_openat: return {what::open, "openat", fd(0), a[1], 0, 0, a[2], mode(3), 0};
  case SYS_mkdirat: return {what::mkdir, "mkdirat", fd(0), a[1], 0, 0, 0, mode(2), 0};
  case SYS_mknodat: return {what::mknod, "mknodat", fd(0), a[1], 0, 0, 0, mode(2), a[3]};
  case SYS_symlinkat: return {what::symlink, "symlinkat", fd(1), a[2], 0, a[0], 0, 0, 0};
  case SYS_linkat: return {what::link, "linkat", fd(0), a[1], fd(2), a[3], a[4], 0, 0};
#ifdef SYS_renameat
  case SYS_renameat: return {what::rename, "renameat", fd(0), a[1], fd(2), a[3], 0, 0, 0};
#endif
  case SYS_renameat2: return {what::rename, "renameat2", fd(0), a[1], fd(2), a[3], a[4], 0, 0};
  case SYS_truncate: return {what::truncate, "truncate", AT_FDCWD, a[0], 0, 0, a[1], 0, 0};
  case SYS_unlinkat: return {what::remove, "unlinkat", fd(0), a[1], 0, 0, a[2], 0, 0};
#ifdef SYS_open
  case SYS_open: return {what::open, "open", AT_FDCWD, a[0], 0, 0, a[1], mode(2), 0};
  case SYS_creat:
    return {what::open, "creat", AT_FDCWD, a[0], 0, 0, O_CREAT | O_WRONLY | O_TRUNC, mode(1), 0};
  case SYS_mkdir: return {what::mkdir, "mkdir", AT_FDCWD, a[0], 0, 0, 0, mode(1), 0};
  case SYS_mknod: return {what::mknod, "mknod", AT_FDCWD, a[0], 0, 0, 0, mode(1), a[2]};
  case SYS_symlink: return {what::symlink, "symlink", AT_FDCWD, a[1], 0, a[0], 0, 0, 0};
  case SYS_link: return {what::link, "link", AT_FDCWD, a[0], AT_FDCWD, a[1], 0, 0, 0};
  case SYS_rename: return {what::rename, "rename", AT_FDCWD, a[0], AT_FDCWD, a[1], 0, 0, 0};
  case SYS_unlink: return {what::remove, "unlink", AT_FDCWD, a[0], 0, 0, 0, 0, 0};
  case SYS_rmdir: return {what::remove, "rmdir", AT_FDCWD, a[0], 0, 0, AT_REMOVEDIR, 0, 0};
#endif
  default: return c;
  }
}

} // namespace

struct supervisor::state {
  explicit state(setting s)
      : how{std::move(s)}, folders{how.guards}, sockets{how.network, !how.on_host,
                                                        how.local_binding, folders, how.report} {}

  setting how;
  file_descriptor listener;
  guarded_folders folders;
  local_sockets sockets;
  int flags_left = 20; ///< a command in a loop must not fill the report

  void blocked(const char* call, const std::string& path, const std::string& entry) {
    sandbox_event event;
    event.kind = sandbox_event_kind::blocked;
    event.refusal = denial_kind::file_write;
    event.call = call;
    event.path = path;
    event.entry = entry;
    how.report(event);
  }

  answer refuse_call(const char* call, const char* entry) {
    sandbox_event event;
    event.kind = sandbox_event_kind::blocked;
    event.refusal = denial_kind::system_call;
    event.call = call;
    event.entry = entry;
    how.report(event);
    return answer::failure(EPERM);
  }

  /// errno to answer with when a guard forbids it, else 0. Where a mount stands the kernel answers.
  int guarded(const name_call& call, const place& at, guarded_operation operation) {
    return guarded(call, at, operation, at.object);
  }
  /// @param object what is there, when another way than the name `at` led to it
  int guarded(const name_call& call, const place& at, guarded_operation operation,
              const file_descriptor& object) {
    const auto* guard = folders.find(at, operation);
    if (!guard && !at.exists()) guard = folders.find_bare_repository(at);
    if (!guard) return 0;
    struct statvfs mounted {};
    if (guard->kind == guard_kind::closed &&
        fstatvfs((object ? object : at.folder).get(), &mounted) == 0 &&
        (mounted.f_flag & ST_RDONLY) != 0)
      return 0;
    blocked(call.name, at.path(), guard->why);
    return EACCES;
  }

  /// A protected name in a folder that the command made itself is its own affair (a clone, an
  /// unpacked archive), but people should look before they work there.
  void flag(const place& made) {
    const auto* guard = folders.find_waived(made, guarded_operation::make_directory);
    if (!guard || flags_left == 0 || !guard->path.ends_with("/" + made.name)) return;
    --flags_left;
    sandbox_event event;
    event.kind = sandbox_event_kind::warning;
    event.message = "the command made `" + made.path() +
                    "`, which other programs obey: look at it before you work in that folder";
    how.report(event);
  }

  [[nodiscard]] bool may_change(const std::string& folder) const {
    const auto deepest = [&](const std::vector<std::string>& places) {
      std::size_t longest = 0;
      for (const auto& place : places)
        if (policy::is_at_or_below(folder, place)) longest = std::max(longest, place.size());
      return longest;
    };
    return deepest(how.write_paths) > deepest(how.read_only_paths);
  }

  answer open_file(const caller& who, const name_call& call, const std::string& path);
  answer make(const caller& who, const name_call& call, const std::string& path);
  answer link_or_rename(const caller& who, const name_call& call, const std::string& path);
  answer remove(const caller& who, const name_call& call, const std::string& path);
  answer truncate(const caller& who, const name_call& call, const std::string& path);
  [[nodiscard]] std::optional<place> named(const caller& who, const place& at) const;
  [[nodiscard]] bool is_reachable(const place& at, const place& shown) const;
  answer decide(const seccomp_notif& request);
};

answer supervisor::state::open_file(const caller& who, const name_call& call,
                                    const std::string& path) {
  const int flags = static_cast<int>(call.flags);
  // Only a handle, whatever it leads to when the kernel looks; and it cannot be handed over.
  if ((flags & O_PATH) != 0) {
    answer a;
    a.let_through = true;
    return a;
  }
  const bool follow = (flags & (O_NOFOLLOW | O_EXCL)) == 0;
  const place at = who.locate(call.dirfd, path, follow);
  if (at.error != 0) return answer::failure(at.error);
  const auto mode = [&] { return call.mode & ~who.file_mode_mask(); };
  if (at.exists()) {
    const auto real = named(who, at);
    const place& shown = real ? *real : at;
    // Opened by us, a file of /proc could say more than its caller may know.
    if (is_process_information(at)) return answer::failure(refusal_of(at));
    if (is_nameless_open(flags)) {
      if (!is_reachable(at, shown)) return answer::failure(refusal_of(at));
      const auto granted = mode();
      return who.still_waits() ? open_nameless(at, flags, granted) : answer::failure(EINTR);
    }
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
    if (writes)
      if (const int no = guarded(call, shown, guarded_operation::change, at.object))
        return answer::failure(no);
    if (!who.still_waits()) return answer::failure(EINTR);
    if (!is_controlling_terminal(at))
      return open_existing(at, flags, !writes || is_reachable(at, shown));
    const auto terminal = who.terminal(how.own_terminal);
    return terminal ? open_existing(*terminal, flags, true) : answer::failure(ENXIO);
  }
  if ((flags & O_CREAT) == 0) return answer::failure(ENOENT);
  if (at.trailing_slash) return answer::failure(EISDIR);
  if (const int no = guarded(call, at, guarded_operation::create_file)) return answer::failure(no);
  if (!may_change(at.folder_path)) return answer::failure(refusal_of(at));
  const auto granted = mode();
  return who.still_waits() ? open_new(at, flags, granted) : answer::failure(EINTR);
}

/// What a link of /proc leads to, by its own name, if it has one.
std::optional<place> supervisor::state::named(const caller& who, const place& at) const {
  if (!at.folder_path.starts_with("/proc/")) return std::nullopt;
  place real = who.locate(AT_FDCWD, path_on_host(at.object), false);
  struct stat wanted {
  }, found{};
  const bool same = real.error == 0 && real.exists() && fstat(at.object.get(), &wanted) == 0 &&
                    fstat(real.object.get(), &found) == 0 && wanted.st_dev == found.st_dev &&
                    wanted.st_ino == found.st_ino;
  return same ? std::optional{std::move(real)} : std::nullopt;
}

/// Does the second wall let the caller change what stands there? Without a name (a memory file,
/// one that was removed) only the mounts speak.
bool supervisor::state::is_reachable(const place& at, const place& shown) const {
  struct stat st {};
  return may_change(how.on_host ? path_on_host(at.object) : shown.path()) || is_own_stream(at) ||
         (fstat(at.object.get(), &st) == 0 && st.st_nlink == 0 && !S_ISDIR(st.st_mode));
}

answer supervisor::state::truncate(const caller& who, const name_call& call,
                                   const std::string& path) {
  const place at = who.locate(call.dirfd, path, true);
  if (at.error != 0) return answer::failure(at.error);
  if (!at.exists()) return answer::failure(ENOENT);
  if (S_ISDIR(at.object_mode)) return answer::failure(EISDIR);
  if (!S_ISREG(at.object_mode)) return answer::failure(EINVAL);
  if (is_process_information(at)) return answer::failure(refusal_of(at));
  const auto real = named(who, at);
  const place& shown = real ? *real : at;
  if (const int no = guarded(call, shown, guarded_operation::change, at.object))
    return answer::failure(no);
  if (!is_reachable(at, shown)) return answer::failure(refusal_of(at));
  if (!who.still_waits()) return answer::failure(EINTR);
  return set_length(at, static_cast<off_t>(call.flags));
}

answer supervisor::state::make(const caller& who, const name_call& call, const std::string& path) {
  const place at = who.locate(call.dirfd, path, false);
  if (at.error != 0) return answer::failure(at.error);
  if (at.exists()) return answer::failure(EEXIST);
  const bool folder = call.kind == name_call::what::mkdir;
  if (at.trailing_slash && !folder) return answer::failure(ENOENT);
  const auto operation = folder                                  ? guarded_operation::make_directory
                         : call.kind == name_call::what::symlink ? guarded_operation::place
                                                                 : guarded_operation::create_file;
  if (const int no = guarded(call, at, operation)) return answer::failure(no);
  if (!may_change(at.folder_path)) return answer::failure(refusal_of(at));
  std::string text;
  if (call.kind == name_call::what::symlink) {
    int failure = 0;
    auto read = who.read_text(call.other_path, failure);
    if (!read) return answer::failure(failure);
    text = *std::move(read);
  }
  const mode_t mode = call.mode & ~who.file_mode_mask();
  if (!who.still_waits()) return answer::failure(EINTR);
  if (folder) {
    auto made = make_folder(at, mode);
    if (made.error == 0) folders.add_own(at);
    if (made.error == 0) flag(at);
    return made;
  }
  return call.kind == name_call::what::mknod ? make_node(at, mode, call.device)
                                             : make_link_text(at, text);
}

answer supervisor::state::link_or_rename(const caller& who, const name_call& call,
                                         const std::string& path) {
  int failure = 0;
  const auto new_path = who.read_text(call.other_path, failure);
  if (!new_path) return answer::failure(failure);
  const bool is_link = call.kind == name_call::what::link;
  const bool follow = is_link && (call.flags & AT_SYMLINK_FOLLOW) != 0;
  // An open file without a name is given one (AT_EMPTY_PATH): it needs a capability that no command
  // here has.
  if (is_link && (call.flags & ~std::uint64_t{AT_SYMLINK_FOLLOW}) != 0)
    return answer::failure(ENOENT);
  const place from = who.locate(call.dirfd, path, follow);
  if (from.error != 0) return answer::failure(from.error);
  const place to = who.locate(call.other_dirfd, *new_path, false);
  if (to.error != 0) return answer::failure(to.error);
  if (!from.exists()) return answer::failure(ENOENT);
  if (!who.still_waits()) return answer::failure(EINTR);
  // A hard link is made to what is pinned; a rename goes by name, and what it moves may be another.
  const bool plain = is_link && !S_ISLNK(from.object_mode);
  if (const int no =
          guarded(call, to, plain ? guarded_operation::create_file : guarded_operation::place))
    return answer::failure(no);
  if (is_link) {
    // Under its new name the file could be changed.
    const auto real = named(who, from);
    if (const int no = guarded(call, real ? *real : from, guarded_operation::change, from.object))
      return answer::failure(no);
    if (!may_change(to.folder_path)) return answer::failure(refusal_of(to));
    // Between mounts there are no hard links; without mounts a link would be a second, writable
    // name.
    if (how.on_host && !may_change(path_on_host(from.object))) return answer::failure(EXDEV);
    return make_hard_link(from, to);
  }
  constexpr std::uint64_t exchange = 2; // RENAME_EXCHANGE
  if (const int no = guarded(call, from, guarded_operation::remove)) return answer::failure(no);
  if ((call.flags & exchange) != 0) {
    if (const int no = guarded(call, from, guarded_operation::place)) return answer::failure(no);
    if (const int no = guarded(call, to, guarded_operation::remove)) return answer::failure(no);
  }
  for (const place* side : {&from, &to})
    if (!may_change(side->folder_path)) return answer::failure(refusal_of(*side));
  return rename_entry(from, to, static_cast<unsigned>(call.flags));
}

answer supervisor::state::remove(const caller& who, const name_call& call,
                                 const std::string& path) {
  const place at = who.locate(call.dirfd, path, false);
  if (at.error != 0) return answer::failure(at.error);
  if (!at.exists()) return answer::failure(ENOENT);
  if (!who.still_waits()) return answer::failure(EINTR);
  // A socket is nobody's settings, whatever its name.
  if (!S_ISSOCK(at.object_mode))
    if (const int no = guarded(call, at, guarded_operation::remove)) return answer::failure(no);
  if (!may_change(at.folder_path)) return answer::failure(refusal_of(at));
  auto removed = remove_entry(at, static_cast<int>(call.flags));
  if (removed.error == 0) folders.forget_own(at);
  return removed;
}

answer supervisor::state::decide(const seccomp_notif& request) {
  const caller who{static_cast<pid_t>(request.pid), listener.get(), request.id};
  switch (request.data.nr) {
  case SYS_ptrace: return refuse_call("ptrace", no_tracing);
  case SYS_perf_event_open: return refuse_call("perf_event_open", no_measuring);
  case SYS_socket: return sockets.refuse_family(request.data);
  case SYS_connect: return sockets.connect(who, request.data);
  case SYS_bind: return sockets.bind(who, request.data);
  case SYS_listen: return sockets.listen(who, request.data);
  default: break;
  }
  if (is_attribute_call(request.data))
    return change_attributes(who, request.data,
                             [this](const std::string& path) { return may_change(path); });
  const name_call call = decode(request.data);
  if (call.kind == name_call::what::none) return answer::failure(EPERM);
  int failure = 0;
  const auto path = who.read_text(call.path, failure);
  if (!path) return answer::failure(failure);
  switch (call.kind) {
  case name_call::what::open: return open_file(who, call, *path);
  case name_call::what::mkdir:
  case name_call::what::mknod:
  case name_call::what::symlink: return make(who, call, *path);
  case name_call::what::link:
  case name_call::what::rename: return link_or_rename(who, call, *path);
  case name_call::what::remove: return remove(who, call, *path);
  case name_call::what::truncate: return truncate(who, call, *path);
  case name_call::what::none: break;
  }
  return answer::failure(EPERM);
}

supervisor::supervisor(setting s) : state_{std::make_unique<state>(std::move(s))} {}
supervisor::~supervisor() = default;

void supervisor::adopt(int listener) {
  state_->listener.reset(listener);
  // Without a listener every supervised call fails.
  if (!give_up_capabilities()) state_->listener.reset();
  // From here on this process makes files only for the command, whose own mask is applied.
  umask(0);
}

int supervisor::listener() const noexcept {
  return state_->listener.get();
}

bool supervisor::serve() {
  seccomp_notif request{};
  if (ioctl(state_->listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) {
    if (errno == EINTR || errno == ENOENT) return true; // the caller died or was interrupted
    state_->listener.reset();
    return false;
  }
  auto decided = state_->decide(request);
  deliver(state_->listener.get(), static_cast<pid_t>(request.pid), request.id, std::move(decided));
  return true;
}

} // namespace gatehouse::sandbox
