#pragma once

#include "protocol/patch_call.hpp"
#include "protocol/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::sandbox {

/// What `gatehouse-sandbox-patch` reads on standard input: one patch, the files that were checked
/// for it, and where to begin.
struct patch_order {
  patch_call call;
  patch_progress done;
  bool only_verify = false;

  bool operator==(const patch_order&) const = default;
};

/// Every byte of every field arrives as it is.
std::string encode_patch_order(const patch_order& order);
/// @return errc::invalid_request
result<patch_order> decode_patch_order(std::string_view text);

/// A first line on standard output: how many chunks matched only where white space or typographic
/// characters were ignored.
std::string encode_tolerance(std::size_t matches);
std::size_t tolerance_in(std::string_view printed);

/// One line on standard output for each step that is on disk.
std::string encode_progress(const patch_progress& progress);
/// The last whole line of what the program printed, or `before` when it printed none.
patch_progress last_progress(std::string_view printed, const patch_progress& before);

} // namespace gatehouse::sandbox
