#include "protocol/rpc/app_changes.hpp"

#include "protocol/patch.hpp"

#include <filesystem>

namespace gatehouse::rpc::app {
namespace {

/// The chunks of an update as the patch spells them.
std::string diff_of(const patch_operation& operation) {
  std::string diff;
  for (const auto& chunk : operation.chunks) {
    diff += "@@";
    if (chunk.anchor) diff += " " + *chunk.anchor;
    diff += '\n';
    for (const auto& line : chunk.lines) {
      diff += line.what == patch_line::kind::added     ? '+'
              : line.what == patch_line::kind::removed ? '-'
                                                       : ' ';
      diff += line.text + '\n';
    }
  }
  return diff;
}

} // namespace

std::vector<file_update> changes_of(std::string_view patch_text, std::string_view folder) {
  std::vector<file_update> changes;
  const auto read = parse_patch(patch_text);
  if (!read) return changes;
  const auto place = [&](const std::string& path) {
    return (std::filesystem::path{folder} / path).lexically_normal().string();
  };
  for (const auto& operation : read->operations) {
    file_update change;
    change.path = place(operation.path);
    switch (operation.what) {
    case patch_operation::kind::add:
      change.kind.type = update_type::add;
      change.diff = operation.content;
      break;
    case patch_operation::kind::remove: change.kind.type = update_type::remove; break;
    case patch_operation::kind::update:
      change.kind.type = update_type::update;
      if (operation.move_to) change.kind.move_path = place(*operation.move_to);
      change.diff = diff_of(operation);
      break;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

} // namespace gatehouse::rpc::app
