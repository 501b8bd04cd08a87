// bench_stream PORT: standard input as base64 to a loopback port, in blocks of 64 KiB, and nothing
// else: what a server of text messages cannot do without.
#include "protocol/base64.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count != 2) return 2;
  const int line = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(words[1])));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(line, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    std::perror("bench_stream: connect");
    return 1;
  }
  std::vector<char> block(std::size_t{64} * 1024);
  std::string text;
  for (;;) {
    const auto read = ::read(STDIN_FILENO, block.data(), block.size());
    if (read <= 0) return read == 0 ? 0 : 1;
    text.clear();
    gatehouse::append_base64(text, {block.data(), static_cast<std::size_t>(read)});
    for (std::string_view left = text; !left.empty();) {
      const auto sent = ::send(line, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) return 1;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
}
