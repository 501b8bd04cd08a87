#include "reactor/read_memory.hpp"

#include <utility>
#include <vector>

namespace gatehouse::reactor {
namespace {

constexpr std::size_t most_spare = 4; // blocks; one goes for each that comes
// A character that was cut is put before the bytes that complete it, in the same memory.
constexpr std::size_t room = 8;

struct memories {
  std::string current;
  std::vector<std::string> spare;
};

memories& mine() {
  thread_local memories all;
  return all;
}

} // namespace

std::string& read_memory() {
  auto& [current, spare] = mine();
  if (current.capacity() < read_block + room && !spare.empty()) {
    current = std::move(spare.back());
    spare.pop_back();
  }
  if (current.size() < read_block) {
    current.reserve(read_block + room);
    current.resize(read_block);
  }
  return current;
}

std::string take_read(std::string_view bytes) {
  auto& current = mine().current;
  if (bytes.data() != current.data() || bytes.size() > current.size() ||
      2 * bytes.size() < current.capacity())
    return std::string{bytes};
  auto taken = std::exchange(current, {});
  taken.resize(bytes.size());
  return taken;
}

void give_back(std::string memory) {
  auto& spare = mine().spare;
  if (memory.capacity() >= read_block + room && memory.capacity() < 2 * read_block &&
      spare.size() < most_spare)
    spare.push_back(std::move(memory));
}

} // namespace gatehouse::reactor
