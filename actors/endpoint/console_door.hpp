#pragma once

#include "actors/endpoint/admission.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gatehouse::actors {

/// One file of the console's page, built into the program.
struct console_asset {
  std::string_view path; ///< below the page's folder, "" for the page itself
  std::string_view type; ///< content type
  std::string_view bytes;
};

struct console_terms {
  std::string folder;                    ///< names the page's address; nobody guesses it
  std::string cookie;                    ///< whoever shows it is the reviewer
  std::string key;                       ///< traded for the cookie, once
  std::span<const console_asset> assets; ///< outlive the door
};

/// Who may see the console and speak as its reviewer (§D13).
///
/// The printed link carries a key in its fragment, which the page trades for a cookie: HttpOnly,
/// SameSite=Strict, and for the page's own folder only. A browser sends a cookie to every port of
/// a host, so also to a server that an agent runs; it sends this one only to a path that such a
/// server cannot know. With the cookie, and only then, this server's own origin may connect.
class console_door {
public:
  explicit console_door(console_terms terms) : terms_{std::move(terms)} {}

  /// "/console/FOLDER/#KEY", behind scheme, host and port.
  [[nodiscard]] std::string link() const;
  /// Judges a request for the console; unset: the request is another's.
  std::optional<admission> consider(const reactor::http_request& request);

private:
  admission enter(const reactor::http_request& request);
  [[nodiscard]] admission show(const reactor::http_request& request, std::string_view file) const;
  [[nodiscard]] bool has_cookie(const reactor::http_request& request) const;
  [[nodiscard]] std::string folder() const { return "/console/" + terms_.folder + "/"; }

  console_terms terms_;
};

} // namespace gatehouse::actors
