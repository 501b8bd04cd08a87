#include "cli/batch_input.hpp"

#include "actors/sha256.hpp"
#include "protocol/hex.hpp"
#include "protocol/rpc/batch_types.hpp"

#include <algorithm>
#include <unordered_set>

namespace gatehouse::cli {
namespace {

constexpr std::size_t most_told = 10;

result<batch_item> read_item(std::string_view line, const json_source& source, std::size_t number) {
  const auto tree = parse_json(line, source);
  if (!tree) return tree.error();
  const auto read = rpc::codec<rpc::batch::item_line>::decode(json_node{*tree, source});
  if (!read) return read.error();
  const auto tool = read->tool.value_or("shell_command");
  auto json = rpc::to_json(read->arguments);
  auto arguments = decode_tool_arguments(tool, json);
  if (!arguments)
    return error{arguments.error().code, source.what + ": " + arguments.error().message,
                 arguments.error().remedy};
  return batch_item{read->call_id.value_or("item-" + std::to_string(number)), *std::move(arguments),
                    tool, std::move(json)};
}

} // namespace

result<batch_input> read_batch_input(std::string_view text, const std::string& name) {
  batch_input input;
  input.fingerprint = "sha256:" + to_hex(actors::sha256_of(text));
  std::unordered_set<std::string> ids;
  std::string wrong;
  std::size_t wrong_lines = 0;
  std::size_t number = 0;
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF"; // some editors begin a file with it
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const json_source source{name + ":" + std::to_string(line_number), errc::invalid_request, "",
                             std::size_t{16} << 20U};
    auto item = read_item(line, source, ++number);
    if (item && !ids.insert(item->call_id).second)
      item = error{errc::invalid_request,
                   source.what + ": the call id `" + item->call_id + "` stands twice",
                   {}};
    if (item) {
      input.items.push_back(*std::move(item));
    } else if (++wrong_lines <= most_told) {
      wrong += (wrong.empty() ? "" : "\n") + item.error().message;
    }
  }
  if (wrong_lines > most_told)
    wrong += "\nand " + std::to_string(wrong_lines - most_told) + " further lines";
  if (wrong_lines > 0)
    return error{errc::invalid_request, std::move(wrong), "Nothing was run. Correct these lines."};
  return input;
}

} // namespace gatehouse::cli
