#pragma once

#include "protocol/path_uri.hpp"
#include "protocol/result.hpp"

#include <string>
#include <string_view>

namespace gatehouse::policy {

/// `text` as a folder of a machine whose paths follow `paths`, rooted (protocol/path_uri.hpp) and
/// normal: absolute in that machine's way, a file URI, or below `base`. invalid_request: it follows
/// another convention (§8). @pre base is rooted
result<std::string> folder_below(path_convention paths, std::string_view base,
                                 std::string_view text);

} // namespace gatehouse::policy
