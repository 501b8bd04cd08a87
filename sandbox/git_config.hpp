#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// One `name = value` of a configuration of git.
struct git_setting {
  std::string section;    ///< lower case
  std::string subsection; ///< as written: `x` of `[remote "x"]`; empty when there is none
  std::string name;       ///< lower case
  std::string value;      ///< unquoted; empty for a name that stands alone

  bool operator==(const git_setting&) const = default;
};

/// Reads what `git help config` describes under "Syntax": sections, comments, quotes, escapes,
/// continued lines, a byte order mark. Pure, never fails: git obeys nothing of a file with a bad
/// line, but somebody may mend it, so that the lines after it are read all the same. Where versions
/// of git differ (white space inside a value) both readings are given.
std::vector<git_setting> read_git_config(std::string_view text);

} // namespace gatehouse::sandbox
