#include "policy/address_kind.hpp"
#include "policy/domain_policy.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <utility>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

domain_policy policy_of(std::initializer_list<std::pair<const char*, decision>> rules) {
  domain_policy policy;
  for (const auto& [text, verdict] : rules) {
    auto pattern = parse_domain_pattern(text);
    REQUIRE(pattern);
    policy.rules.push_back({*pattern, verdict, std::nullopt, text});
  }
  return policy;
}

connection_wish wish(std::string host, std::uint16_t port = 443,
                     network_protocol protocol = network_protocol::https) {
  connection_wish w;
  w.protocol = protocol;
  w.host = std::move(host);
  w.port = port;
  return w;
}

connection_wish request(std::string method, std::string host, std::string host_header = {}) {
  auto w = wish(std::move(host), 80, network_protocol::http);
  w.method = std::move(method);
  if (!host_header.empty()) w.also_named.push_back(std::move(host_header));
  return w;
}

std::vector<ip_address> addresses(std::initializer_list<const char*> texts) {
  std::vector<ip_address> out;
  for (const auto* text : texts) {
    const auto address = parse_ip_address(text);
    REQUIRE_MESSAGE(address.has_value(), text);
    out.push_back(*address);
  }
  return out;
}

constexpr auto allow = decision::allow;
constexpr auto deny = decision::forbidden;

} // namespace

TEST_SUITE("policy.domain_policy") {
  TEST_CASE("§143 BR-091 every spelling of a domain rule is put right or refused with the fix") {
    struct row {
      const char* text;
      domain_match match;
      const char* host;
      std::uint16_t port;
    };
    const row good[] = {
        {"ok.test", domain_match::exact, "ok.test", 0},
        {"ok.test:443", domain_match::exact, "ok.test", 443},
        {"https://ok.test", domain_match::exact, "ok.test", 443},
        {"http://ok.test", domain_match::exact, "ok.test", 80},
        {"HTTPS://ok.test:8443/", domain_match::exact, "ok.test", 8443},
        {"ok.test/", domain_match::exact, "ok.test", 0},
        {"OK.test", domain_match::exact, "ok.test", 0},
        {"ok.test.", domain_match::exact, "ok.test", 0},
        {"*.ok.test:8443", domain_match::below, "ok.test", 8443},
        {"**.Ok.Test", domain_match::at_or_below, "ok.test", 0},
        {"[::1]:80", domain_match::exact, "::1", 80},
        {"[::FFFF:127.0.0.1]", domain_match::exact, "127.0.0.1", 0},
        {"::1", domain_match::exact, "::1", 0},
        {"10.1.2.3:22", domain_match::exact, "10.1.2.3", 22},
        {"bücher.example", domain_match::exact, "xn--bcher-kva.example", 0},
        {"*.BÜCHER.example", domain_match::below, "xn--bcher-kva.example", 0},
        {"*", domain_match::any, "", 0},
        {"*:443", domain_match::any, "", 443},
    };
    for (const auto& r : good) {
      CAPTURE(r.text);
      const auto parsed = parse_domain_pattern(r.text);
      REQUIRE(parsed.has_value());
      CHECK(*parsed == domain_pattern{r.match, r.host, r.port});
    }
    for (const char* bad : {"",
                            "**",
                            "a*.test",
                            "p?b.test",
                            "*pub.test",
                            "ok.test/path",
                            "10.0.0.0/8",
                            "{a,b}.test",
                            "ftp://ok.test",
                            "ok.test:0",
                            "ok.test:99999",
                            "ok.test:https",
                            "*.10.0.0.1",
                            "*.",
                            "127.1",
                            "0x7f.0.0.1",
                            "0177.0.0.1",
                            "2130706433",
                            "fe80::1%eth0",
                            "[::1",
                            "a..b",
                            "user@ok.test",
                            "*:0",
                            "*:",
                            "*.[::1]",
                            "*.*.test",
                            "http://"}) {
      CAPTURE(bad);
      const auto parsed = parse_domain_pattern(bad);
      REQUIRE_FALSE(parsed.has_value());
      CHECK(parsed.error().message.find(bad) != std::string::npos);
      CHECK_FALSE(parsed.error().remedy.empty());
    }
  }

  TEST_CASE("§143 which hosts a pattern stands for") {
    struct row {
      const char* pattern;
      const char* host;
      std::uint16_t port;
      bool is;
    };
    const row table[] = {
        {"ok.test", "ok.test", 443, true},
        {"ok.test", "OK.TEST.", 443, true},
        {"ok.test", "a.ok.test", 443, false},
        {"ok.test", "notok.test", 443, false},
        {"ok.test:443", "ok.test", 443, true},
        {"ok.test:443", "ok.test", 8443, false},
        {"*.ok.test", "a.ok.test", 443, true},
        {"*.ok.test", "a.b.ok.test", 443, true},
        {"*.ok.test", "ok.test", 443, false},
        {"*.ok.test", "evilok.test", 443, false},
        {"*.ok.test", ".ok.test", 443, false},
        {"*.ok.test", "ok.test.evil.test", 443, false},
        {"**.ok.test", "ok.test", 443, true},
        {"**.ok.test", "a.b.ok.test", 443, true},
        {"**.ok.test", "evilok.test", 443, false},
        {"*", "anything.example", 1, true},
        {"*:443", "anything.example", 80, false},
        {"bücher.example", "xn--bcher-kva.example", 443, true},
        {"bücher.example", "BÜCHER.example", 443, true},
        {"xn--bcher-kva.example", "bücher.example", 443, true},
        {"bucher.example", "bücher.example", 443, false},
        {"93.184.216.34", "93.184.216.34", 443, true},
        {"2606:2800:220:1::1", "2606:2800:0220:0001:0000::0001", 443, true},
        {"*", "8.8.8.8", 443, true},
        {"localhost:18998", "127.0.0.1", 18998, true},
        {"localhost:18998", "::1", 18998, true},
        {"localhost:18998", "localhost", 18999, false},
        {"localhost", "127.0.0.2", 80, false},
    };
    for (const auto& r : table) {
      CAPTURE(r.pattern);
      CAPTURE(r.host);
      const auto verdict =
          judge_host(policy_of({{r.pattern, allow}}), wish(r.host, r.port)).verdict;
      CHECK((verdict == host_verdict::allow) == r.is);
    }
  }

  TEST_CASE("§143 a denial wins over every allow, whatever their order and width") {
    for (const auto& policy : {policy_of({{"*", allow}, {"bad.ok.test", deny}}),
                               policy_of({{"bad.ok.test", deny}, {"*.ok.test", allow}}),
                               policy_of({{"bad.ok.test:443", allow}, {"**.bad.ok.test", deny}})}) {
      const auto d = judge_host(policy, wish("BAD.ok.test"));
      CHECK(d.verdict == host_verdict::deny);
      CHECK(d.reason == network_refusal::denied_by_rule);
      CHECK_FALSE(d.rule.empty());
      CHECK(d.host == "bad.ok.test");
    }
  }

  TEST_CASE("§113 a network_rule is about its protocol, and a denial also about its disguises") {
    std::vector<network_rule> rules(1);
    rules[0].host = "h.test";
    rules[0].protocol = network_protocol::https;
    rules[0].decision = decision::allow;
    domain_policy policy;
    policy.rules = domain_rules_of(rules);
    CHECK(judge_host(policy, wish("h.test")).verdict == host_verdict::allow);
    CHECK(judge_host(policy, request("GET", "h.test")).verdict == host_verdict::ask);
    CHECK(judge_host(policy, wish("h.test", 443, network_protocol::socks5_tcp)).verdict ==
          host_verdict::ask);

    rules[0].decision = decision::forbidden;
    policy.rules = domain_rules_of(rules);
    CHECK(judge_host(policy, wish("h.test", 443, network_protocol::socks5_tcp)).verdict ==
          host_verdict::deny);
    CHECK(judge_host(policy, request("GET", "h.test")).verdict == host_verdict::ask);

    rules[0].protocol = network_protocol::http;
    policy.rules = domain_rules_of(rules);
    CHECK(judge_host(policy, request("GET", "h.test")).verdict == host_verdict::deny);
    CHECK(judge_host(policy, wish("h.test", 80)).verdict == host_verdict::deny);
    CHECK(judge_host(policy, wish("h.test", 443)).verdict == host_verdict::ask);

    rules[0].decision = decision::prompt;
    policy.rules = domain_rules_of(rules);
    policy.rules.push_back({*parse_domain_pattern("*"), allow, std::nullopt, "*"});
    CHECK(judge_host(policy, request("GET", "h.test")).verdict == host_verdict::ask);
    CHECK(judge_host(policy, wish("h.test")).verdict == host_verdict::allow);
  }

  TEST_CASE("§143 BR-080 local addresses need a grant of their own, however they are written") {
    const auto open = policy_of({{"*", allow}});
    for (const char* host : {"127.0.0.1",
                             "127.8.9.10",
                             "localhost",
                             "LOCALHOST.",
                             "10.1.2.3",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.168.1.1",
                             "100.64.0.1",
                             "100.127.255.255",
                             "169.254.1.1",
                             "169.254.169.254",
                             "100.100.100.200",
                             "168.63.129.16",
                             "0.0.0.0",
                             "224.0.0.1",
                             "255.255.255.255",
                             "198.18.0.1",
                             "192.0.2.1",
                             "203.0.113.9",
                             "::1",
                             "::",
                             "fe80::1",
                             "fc00::1",
                             "fd00:ec2::254",
                             "fec0::1",
                             "ff02::1",
                             "::ffff:127.0.0.1",
                             "::ffff:a00:1",
                             "::127.0.0.1",
                             "64:ff9b::7f00:1",
                             "64:ff9b::a9fe:a9fe",
                             "2002:7f00:1::",
                             "2001::1",
                             "2001:db8::1",
                             "100::1",
                             "metadata.google.internal"}) {
      CAPTURE(host);
      const auto d = judge_host(open, wish(host));
      CHECK(d.verdict == host_verdict::deny);
      CHECK(d.reason == network_refusal::local_address);
      CHECK(d.detail.find("= \"allow\"") != std::string::npos);
    }
    for (const char* host :
         {"0177.0.0.1",   "0x7f.0.0.1", "0x7f000001", "2130706433",   "127.1",
          "127.0.1",      "0",          "127.0.0.1.", "1.2.3.4.5",    "1.2.3.256",
          "fe80::1%eth0", "[::1]",      "::1%lo",     "127.0.0.1:80", "a b",
          "a/b",          "",           ".",          "a..b",         "a\tb",
          "ok.test:443",  "[ok.test]"}) {
      CAPTURE(host);
      const auto d = judge_host(open, wish(host));
      CHECK(d.verdict == host_verdict::deny);
      if (std::string{host} == "127.0.0.1.") continue; // the dot is taken off
      CHECK(d.reason == network_refusal::malformed_host);
    }
    const auto granted = policy_of({{"10.1.2.3:5432", allow}, {"localhost:8080", allow}});
    CHECK(judge_host(granted, wish("10.1.2.3", 5432)).verdict == host_verdict::allow);
    CHECK(judge_host(granted, wish("::ffff:10.1.2.3", 5432)).verdict == host_verdict::allow);
    CHECK(judge_host(granted, wish("10.1.2.3", 5433)).verdict == host_verdict::deny);
    CHECK(judge_host(granted, wish("localhost", 8080)).verdict == host_verdict::allow);
    CHECK(judge_host(granted, wish("127.0.0.1", 8080)).verdict == host_verdict::allow);
    CHECK(judge_host(granted, wish("127.0.0.2", 8080)).verdict == host_verdict::deny);
    CHECK(judge_host(policy_of({{"*", allow}, {"localhost:8080", allow}, {"localhost", deny}}),
                     wish("127.9.9.9", 8080))
              .reason == network_refusal::denied_by_rule);
  }

  TEST_CASE("§143 a rule that asks about a local address asks, and opens it to no name that leads "
            "there") {
    const auto asking = policy_of({{"localhost:8080", decision::prompt},
                                   {"10.1.2.3", decision::prompt},
                                   {"inner.test", allow}});
    CHECK(judge_host(asking, wish("localhost", 8080)).verdict == host_verdict::ask);
    CHECK(judge_host(asking, wish("10.1.2.3", 80)).verdict == host_verdict::ask);
    CHECK(judge_host(asking, wish("localhost", 8081)).verdict == host_verdict::deny);
    CHECK(judge_addresses(asking, "localhost", 8080, addresses({"127.0.0.1", "::1"}))
              .allowed.size() == 2);
    CHECK(judge_addresses(asking, "10.1.2.3", 80, addresses({"10.1.2.3"})).allowed.size() == 1);
    CHECK(judge_addresses(asking, "inner.test", 80, addresses({"10.1.2.3"})).allowed.empty());
    CHECK(judge_addresses(asking, "inner.test", 8080, addresses({"127.0.0.1"})).allowed.empty());
  }

  TEST_CASE("§143 every public address stays public") {
    for (const char* text :
         {"8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1",
          "192.0.1.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808", "3ffe::1"}) {
      CAPTURE(text);
      CHECK(classify(*parse_ip_address(text)) == address_kind::global);
    }
  }

  TEST_CASE("§143 an address has one value, whatever wrote it") {
    CHECK(parse_ip_address("::ffff:1.2.3.4") == parse_ip_address("1.2.3.4"));
    CHECK(to_string(*parse_ip_address("2001:0DB8:0:0::1")) == "2001:db8::1");
    for (const char* no : {"", "1.2.3", "01.2.3.4", "0x1.2.3.4", "1.2.3.4 ", "::1%1", "[::1]",
                           "1.2.3.4.5", "::ffff:1.2.3.256"}) {
      CAPTURE(no);
      CHECK_FALSE(parse_ip_address(no).has_value());
    }
    CHECK_FALSE(parse_ip_address(std::string_view{"1.2.3.4\0", 8}).has_value());
  }

  TEST_CASE("§143 BR-080 a name that resolves to a local address is not dialled (DNS rebinding)") {
    const auto open = policy_of({{"*", allow}, {"rebind.test", allow}});
    auto d = judge_addresses(open, "rebind.test", 80, addresses({"127.0.0.1"}));
    CHECK(d.allowed.empty());
    CHECK(d.refused.find("127.0.0.1") != std::string::npos);
    // Of several only the public ones are dialled.
    d = judge_addresses(open, "rebind.test", 80,
                        addresses({"10.0.0.1", "8.8.8.8", "::ffff:169.254.169.254", "fe80::1"}));
    CHECK(d.allowed == addresses({"8.8.8.8"}));
    // The rule for the name is no grant for the address behind it; one for the address is.
    const auto inner = policy_of({{"git.corp.test", allow}, {"10.0.0.1:443", allow}});
    CHECK(judge_addresses(inner, "git.corp.test", 443, addresses({"10.0.0.1"})).allowed.size() ==
          1);
    CHECK(judge_addresses(inner, "git.corp.test", 80, addresses({"10.0.0.1"})).allowed.empty());
    CHECK(judge_addresses(open, "none.test", 80, {}).refused == "The name has no address.");
    // A denied address stays denied under any name.
    const auto denied = policy_of({{"*", allow}, {"8.8.8.8", deny}});
    d = judge_addresses(denied, "dns.test", 443, addresses({"8.8.8.8"}));
    CHECK(d.allowed.empty());
    CHECK(d.rule == "8.8.8.8");
  }

  TEST_CASE("§143 the host asked for, the Host header and the TLS server name must agree") {
    const auto open = policy_of({{"*", allow}});
    CHECK(judge_host(open, request("GET", "ok.test", "ok.test")).verdict == host_verdict::allow);
    CHECK(judge_host(open, request("GET", "ok.test", "OK.TEST:80")).verdict == host_verdict::allow);
    CHECK(judge_host(open, request("GET", "8.8.8.8", "8.8.8.8")).verdict == host_verdict::allow);
    for (const char* other : {"evil.test", "ok.test:81", "ok.test.evil.test", "", " ", "a, b"}) {
      CAPTURE(other);
      auto w = request("GET", "ok.test");
      w.also_named = {"ok.test", other};
      CHECK(judge_host(open, w).reason == network_refusal::names_disagree);
      CHECK(judge_host(open, w).verdict == host_verdict::deny);
    }
    CHECK(same_host("ok.test", "OK.test"));
    CHECK(same_host("ok.test", "ok.test."));
    CHECK(same_host("xn--bcher-kva.example", "BÜCHER.example"));
    CHECK_FALSE(same_host("ok.test", "evil.test"));
    CHECK_FALSE(same_host("ok.test", "ok.test:443"));
    CHECK_FALSE(same_host("8.8.8.8", "ok.test"));
    CHECK(same_host("::1", "::1"));
  }

  TEST_CASE("§143 limited mode lets only plain requests through that change nothing") {
    auto limited = policy_of({{"ok.test", allow}});
    limited.limited = true;
    for (const char* method : {"GET", "HEAD", "OPTIONS"})
      CHECK(judge_host(limited, request(method, "ok.test")).verdict == host_verdict::allow);
    for (const char* method : {"get", "POST", "PUT", "DELETE", "PATCH", "TRACE", "", "GET "}) {
      CAPTURE(method);
      CHECK(judge_host(limited, request(method, "ok.test")).reason == network_refusal::method);
    }
    for (const auto tunnel : {network_protocol::https, network_protocol::socks5_tcp})
      CHECK(judge_host(limited, wish("ok.test", 443, tunnel)).reason == network_refusal::tunnel);
    // Nobody can be asked to lift the mode.
    CHECK(judge_host(limited, request("POST", "other.test")).verdict == host_verdict::deny);
  }

  TEST_CASE("§143 what no rule names is asked about, and UDP never is") {
    CHECK(judge_host({}, wish("new.test")).verdict == host_verdict::ask);
    CHECK(judge_host({}, wish("new.test", 53, network_protocol::socks5_udp)).verdict ==
          host_verdict::deny);
    CHECK(judge_host({}, wish("new.test", 0)).verdict == host_verdict::deny);
  }
}
