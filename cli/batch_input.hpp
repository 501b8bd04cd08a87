#pragma once

#include "protocol/result.hpp"
#include "protocol/tool_request.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::cli {

/// One call of a batch, in the order of the input.
struct batch_item {
  std::string call_id;
  tool_arguments arguments;
  std::string tool;
  std::string json; ///< the arguments as they were given
};

struct batch_input {
  std::vector<batch_item> items;
  std::string fingerprint; ///< SHA-256 of the text: tells whether a journal belongs to it
};

/// Reads all lines before any of them runs; empty lines are skipped. The error names every line
/// that is wrong, the first ten in full.
/// @param name of the file, for messages
result<batch_input> read_batch_input(std::string_view text, const std::string& name);

} // namespace gatehouse::cli
