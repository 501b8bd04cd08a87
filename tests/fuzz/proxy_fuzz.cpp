// What a client of the managed proxy may send first: no bytes crash a reader, make it take more
// than it was given, or give another meaning when they arrive in other pieces.
#include "policy/domain_policy.hpp"
#include "reactor/proxy_client_hello.hpp"
#include "reactor/proxy_http_head.hpp"
#include "reactor/proxy_socks5.hpp"
#include "reactor/proxy_tunnel_request.hpp"
#include "tests/fuzz/fuzz_support.hpp"

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::tests;

namespace {

struct head_reading {
  http_head_reader reader;
  http_head_reader::state how = http_head_reader::state::more;
  std::size_t taken = 0;
};

head_reading read_head(std::string_view text, std::size_t step) {
  head_reading r;
  while (r.how == http_head_reader::state::more && r.taken < text.size()) {
    std::size_t taken = 0;
    const auto part = text.substr(r.taken, step);
    r.how = r.reader.feed(part, taken);
    must(taken <= part.size(), "a head takes only what it was given");
    r.taken += taken;
  }
  return r;
}

void judge(const std::string& host, std::uint16_t port) {
  policy::connection_wish wish;
  wish.host = host;
  wish.port = port;
  policy::domain_policy open;
  open.rules.push_back({{policy::domain_match::any, {}, 0}, decision::allow, std::nullopt, "*"});
  const auto decided = policy::judge_host(open, wish);
  if (decided.verdict == policy::host_verdict::allow) {
    must(!decided.host.empty(), "an allowed host is known");
    must(policy::same_host(decided.host, decided.host), "a canonical host is its own spelling");
    must(decided.host.find_first_of("/@\\%? \r\n") == std::string::npos, "a host is only a host");
  }
}

void http(std::string_view text) {
  const auto whole = read_head(text, std::string_view::npos);
  const auto pieces = read_head(text, 1);
  if (whole.how != http_head_reader::state::done) {
    must(pieces.how != http_head_reader::state::done, "pieces do not make a bad head good");
    return;
  }
  must(pieces.how == http_head_reader::state::done && pieces.taken == whole.taken,
       "a head is the same in pieces");
  const auto& head = whole.reader.head();
  must(!head.host.empty() && head.port != 0, "a good head names a server");
  const auto sent = head_for_server(head, "server.test");
  must(sent.find("\r\n\r\n") == sent.size() - 4, "what is sent on is one head");
  // The request, 128 fields at most, Host, Connection, and the empty line.
  must(std::count(sent.begin(), sent.end(), '\n') <= 132, "and hardly longer than what came");
  judge(head.host, head.port);
  const auto rest = text.substr(whole.taken);
  http_body_reader at_once{head};
  const auto used = at_once.feed(rest);
  must(used <= rest.size(), "a body takes only what it was given");
  http_body_reader slowly{head};
  std::size_t slow = 0;
  while (slow < rest.size() && !slowly.done() && !slowly.bad()) {
    const auto n = slowly.feed(rest.substr(slow, 1));
    slow += n;
    if (n == 0) break;
  }
  must(slow == used && slowly.done() == at_once.done() && slowly.bad() == at_once.bad(),
       "a body is the same in pieces");
}

void socks(std::string_view text) {
  socks5_reader reader;
  while (!text.empty()) {
    std::size_t taken = 0;
    const auto how = reader.feed(text, taken);
    must(taken <= text.size(), "SOCKS takes only what it was given");
    text.remove_prefix(taken);
    if (how == socks5_reader::state::done) {
      must(!reader.host().empty() && reader.port() != 0, "a good request names a server");
      return judge(reader.host(), reader.port());
    }
    if (how == socks5_reader::state::bad) {
      must(!reader.refusal().empty(), "a refusal says something");
      return;
    }
  }
}

void hello(std::string_view text) {
  client_hello_reader first;
  if (first.look(text) != client_hello_reader::state::done) return;
  if (first.hello().server_name)
    must(!first.hello().server_name->empty(), "a server name is not empty");
  must(first.taken() <= text.size(), "a hello takes only what it was given");
  text.remove_prefix(first.taken());
  later_hello_reader later{first.hello()};
  for (;;) {
    std::size_t taken = 0;
    const auto how = later.look(text, taken);
    must(taken <= text.size(), "what follows a hello takes only what it was given");
    text.remove_prefix(taken);
    if (how != later_hello_reader::state::hello) break;
  }
}

void request(std::string_view text) {
  tunnel_request_reader whole, pieces;
  const auto how = whole.feed(text);
  auto slowly = tunnel_request_reader::state::more;
  for (std::size_t at = 0; at < text.size() && slowly == tunnel_request_reader::state::more; ++at)
    slowly = pieces.feed(text.substr(at, 1));
  must(how == slowly && whole.named() == pieces.named(), "a request is the same in pieces");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  http(text);
  socks(text);
  hello(text);
  request(text);
  (void)policy::parse_domain_pattern(text);
  return 0;
}
