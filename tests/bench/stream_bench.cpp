// bench_stream text|binary PORT: standard input to a loopback port, in blocks of at most 64 KiB, as
// base64 or as it is behind a head, and nothing else: what a server of such messages cannot do
// without. In binary each block is kept for a while, as a server does that may have to say it
// again.
#include "protocol/base64.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count != 3) return 2;
  const bool text = std::string_view{words[1]} == "text";
  const int line = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(words[2])));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(line, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    std::perror("bench_stream: connect");
    return 1;
  }
  constexpr std::size_t head_bytes = 64, block_bytes = std::size_t{64} * 1024;
  std::array<std::vector<char>, 16> kept;
  for (auto& block : kept)
    block.resize(head_bytes + block_bytes);
  std::string encoded;
  for (std::size_t turn = 0;; ++turn) {
    auto& block = kept[turn % kept.size()];
    const auto read = ::read(STDIN_FILENO, block.data() + head_bytes, block_bytes);
    if (read <= 0) return read == 0 ? 0 : 1;
    std::string_view left{block.data(), head_bytes + static_cast<std::size_t>(read)};
    if (text) {
      encoded.clear();
      gatehouse::append_base64(encoded, left.substr(head_bytes));
      left = encoded;
    }
    while (!left.empty()) {
      const auto sent = ::send(line, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) return 1;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
}
