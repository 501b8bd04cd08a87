#pragma once

#include "protocol/result.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse {

/// One line of an update chunk, without its line ending.
struct patch_line {
  enum class kind { context, removed, added };
  kind what = kind::context;
  std::string text;

  bool operator==(const patch_line&) const = default;
};

/// A contiguous change of one file. `anchor` is the text behind `@@`: the change stands below the
/// first line equal to it.
struct patch_chunk {
  std::optional<std::string> anchor;
  std::vector<patch_line> lines;
  bool at_end_of_file = false; ///< `*** End of File`: the old lines are the last of the file
  int line = 0;                ///< where the chunk starts in the patch, 1-based

  bool operator==(const patch_chunk&) const = default;
};

struct patch_operation {
  enum class kind { add, remove, update };
  kind what = kind::add;
  std::string path; ///< as the patch spells it, trimmed; may be absolute or hold `..`
  std::optional<std::string> move_to; ///< update only
  std::string content;                ///< add only: the whole new file
  std::vector<patch_chunk> chunks;    ///< update only; never empty
  int line = 0;                       ///< of its header in the patch, 1-based

  bool operator==(const patch_operation&) const = default;
};

/// A patch in the `*** Begin Patch` format, as apply_patch takes it (§11).
struct patch {
  std::vector<patch_operation> operations; ///< never empty
  std::string environment_id;              ///< empty: not named

  bool operator==(const patch&) const = default;
};

/// Reads a patch; also one wrapped in `<<EOF`, `<<'EOF'` or `<<"EOF"`. The error names the line of
/// the patch, shows it, and says what would be right. Text only: NUL and bytes that are no UTF-8
/// are errc::invalid_request, too many bytes or files (protocol/patch_call.hpp) errc::too_large.
result<patch> parse_patch(std::string_view text);

/// What applying the chunks of one update to a file's bytes gives.
struct patched_text {
  std::string content;
  /// Chunks that matched only when white space or typographic characters were ignored.
  std::size_t tolerant_matches = 0;
};

/// Applies `chunks` to `original` (§D16): each chunk at the first match below the previous one,
/// exact before tolerant; context lines keep the file's own bytes, inserted lines take the line
/// ending of their neighbours, a byte order mark stays, a last line without line ending gets one.
/// Errors name the line of the patch and the lines that were looked for.
result<patched_text> apply_chunks(std::string_view original, const std::vector<patch_chunk>& chunks,
                                  std::string_view path);

} // namespace gatehouse
