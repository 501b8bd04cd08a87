#pragma once

#include "protocol/review.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// The keys of a question's action (§53, §54): one for a command. Empty: the answer can never be
/// remembered (a part is no UTF-8).
/// @param terminal_session the call opens a session (exec_command), so that `tty` counts
/// @param folder folder_key() of the call's folder; empty: it is on another machine
std::vector<std::string> approval_keys_of(const review_request& question, bool terminal_session,
                                          std::string_view folder, std::string_view policy);

/// The keys of a patch (§56): one for each path it touches, both ends of a move included. Empty as
/// above when any of them cannot be remembered.
/// @param paths absolute
std::vector<std::string> patch_keys_of(const review_request& question,
                                       std::span<const std::string> paths, std::string_view policy);

/// What a person has approved for the session, by exact key (§52). A value of one session; it ends
/// with it.
class approval_store {
public:
  struct entry {
    std::uint64_t id = 0; ///< for `revoke`; never reused
    std::string shown;    ///< the action, as people read it
  };

  explicit approval_store(std::size_t capacity = 4096) : capacity_{capacity} {}

  /// Every key is remembered. No keys: never (§56).
  [[nodiscard]] bool covers(std::span<const std::string> keys) const;

  /// Remembers each key when the decision is approved_for_session; any other is not remembered
  /// (§52). A full store remembers nothing new: it asks again.
  void remember(review_decision decision, std::span<const std::string> keys,
                std::string_view shown);

  /// Oldest first.
  [[nodiscard]] std::vector<entry> list() const;
  /// False when there is no such entry (any more).
  bool revoke(std::uint64_t id);
  void clear() { by_key_.clear(); }

private:
  std::size_t capacity_;
  std::uint64_t next_id_ = 1;
  std::map<std::string, entry, std::less<>> by_key_;
};

/// A person's yes to an action that the automatic reviewer refused (§48): final for that exact
/// action, once. Any other action is reviewed anew.
class user_overrides {
public:
  /// @param digest of the question that was refused
  void allow(std::string digest);
  /// True once for each `allow` of exactly this digest.
  bool take(std::string_view digest);

private:
  std::multiset<std::string, std::less<>> digests_;
};

} // namespace gatehouse::actors
