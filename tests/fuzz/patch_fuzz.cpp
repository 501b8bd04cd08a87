// Patches from anybody: no text crashes the parser or the matcher, a patch fits the file that it
// was made for, and a command is a patch or a near miss, never both.
#include "policy/shell/patch_script.hpp"
#include "protocol/patch.hpp"
#include "tests/fuzz/fuzz_support.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::tests;

namespace {

/// The old lines of all chunks, one after the other.
std::string file_for(const patch_operation& operation) {
  std::string file;
  for (const auto& chunk : operation.chunks)
    for (const auto& line : chunk.lines)
      if (line.what != patch_line::kind::added) file += line.text + "\n";
  return file;
}

bool is_only_context(const patch_operation& operation) {
  return std::all_of(operation.chunks.begin(), operation.chunks.end(), [](const auto& chunk) {
    return std::all_of(chunk.lines.begin(), chunk.lines.end(), [](const patch_line& line) {
      return line.what == patch_line::kind::context;
    });
  });
}

void update(const patch_operation& operation, std::string_view other_file) {
  (void)apply_chunks(other_file, operation.chunks, operation.path);
  const bool simple =
      std::all_of(operation.chunks.begin(), operation.chunks.end(), [](const patch_chunk& chunk) {
        return !chunk.anchor && !chunk.at_end_of_file && !chunk.lines.empty();
      });
  if (!simple) return;
  const auto file = file_for(operation);
  const auto patched = apply_chunks(file, operation.chunks, operation.path);
  must(patched.has_value(), "a patch fits the file that it was made for");
  if (is_only_context(operation)) must(patched->content == file, "context changes nothing");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  // What stands before the first form feed is a file, the rest a patch.
  const auto cut = std::min(text.find('\f'), text.size());
  const auto file = text.substr(0, cut);
  const auto parsed = parse_patch(cut == text.size() ? text : text.substr(cut + 1));
  if (parsed) {
    must(!parsed->operations.empty(), "a patch changes something");
    for (const auto& operation : parsed->operations) {
      must(!operation.path.empty(), "every operation names a file");
      if (operation.what == patch_operation::kind::update) update(operation, file);
    }
  }
  for (const auto& argv :
       {std::vector<std::string>{"bash", "-lc", std::string{text}},
        std::vector<std::string>{"sh", "-c", "cd d && apply_patch <<'E'\n" + std::string{text}}}) {
    const auto read = policy::read_patch_command(argv);
    must(!read.patch || read.refusal.empty(), "a patch or a near miss");
  }
  return 0;
}
