#include "protocol/profile_json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;

namespace {

std::string restricted(const std::string& entries) {
  return R"({"type":"managed","file_system":{"type":"restricted","entries":[)" + entries +
         R"(]},"network":"restricted"})";
}

std::string message_of(const std::string& text) {
  const auto decoded = decode_profile(text);
  return decoded ? "" : decoded.error().message;
}

} // namespace

TEST_SUITE("protocol.profile_json") {
  TEST_CASE("§60 §61 every kind of profile and entry survives a round trip") {
    permission_profile p = workspace_write_profile();
    auto& fs = p.file_system;
    fs.entries.push_back({literal_path{"/srv/\"x\" ä"}, access::deny, false});
    fs.entries.push_back({glob_path{"**/*.env"}, access::deny, false});
    fs.entries.push_back({special_path{special_kind::minimal, {}, {}}, access::read, false});
    fs.entries.push_back(
        {special_path{special_kind::project_roots, ".git/hooks", {}}, access::read, true});
    fs.entries.push_back({special_path{special_kind::unknown, "a", ":later"}, access::read, false});
    fs.glob_scan_max_depth = 3;
    p.network = network_policy::enabled;
    const auto back = decode_profile(encode_profile(p));
    REQUIRE(back.has_value());
    CHECK(*back == p);
    for (const auto& built_in : {read_only_profile(), danger_full_access_profile()}) {
      const auto same = decode_profile(encode_profile(built_in));
      REQUIRE(same.has_value());
      CHECK(*same == built_in);
    }
    const auto external = decode_profile(R"({"type":"external","network":"enabled"})");
    REQUIRE(external.has_value());
    CHECK(external->kind == profile_kind::external);
    CHECK(external->network == network_policy::enabled);
    CHECK(encode_profile(*external) == R"({"type":"external","network":"enabled"})");
  }

  TEST_CASE("§60 the output is the canonical form, optional fields left out") {
    CHECK(encode_profile(read_only_profile()) ==
          restricted(R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"})"));
    CHECK(encode_profile(danger_full_access_profile()) == R"({"type":"disabled"})");
  }

  TEST_CASE("§61 older words are read and written back as the newer ones") {
    const auto p = decode_profile(restricted(
        R"({"path":{"type":"special","value":{"kind":"current_working_directory"}},"access":"none"})"));
    REQUIRE(p.has_value());
    CHECK(encode_profile(*p) ==
          restricted(
              R"({"path":{"type":"special","value":{"kind":"project_roots"}},"access":"deny"})"));
  }

  TEST_CASE("§60 a profile without a type is managed and restricted") {
    auto p = decode_profile(
        R"({"network":{"enabled":true},"file_system":{"read":["/a"],"write":["/b"]}})");
    REQUIRE(p.has_value());
    CHECK(p->kind == profile_kind::managed);
    CHECK(p->network == network_policy::enabled);
    CHECK(p->file_system.entries ==
          std::vector<profile_entry>{{literal_path{"/a"}, access::read, false},
                                     {literal_path{"/b"}, access::write, false}});
    p = decode_profile("{}");
    REQUIRE(p.has_value());
    CHECK(p->file_system.restricted);
    CHECK(p->file_system.entries.empty());
    CHECK(p->network == network_policy::restricted);
    p = decode_profile(R"({"network":{"enabled":false}})");
    REQUIRE(p.has_value());
    CHECK(p->network == network_policy::restricted);
  }

  TEST_CASE("§8 a path of another platform is kept, never re-read as native") {
    const auto p = decode_profile(
        restricted(R"({"path":{"type":"path","path":"C:\\repo"},"access":"write"})"));
    REQUIRE(p.has_value());
    CHECK(std::get<literal_path>(p->file_system.entries[0].path).path == "C:\\repo");
  }

  TEST_CASE("§60 whatever is not understood is an error that says where") {
    const auto entry = [](const std::string& path, const std::string& rest = R"("access":"read")") {
      return restricted(R"({"path":)" + path + "," + rest + "}");
    };
    const std::string ok = R"({"type":"path","path":"/a"})";
    const std::string first = "/file_system/entries/0";
    struct row {
      std::string json, pointer;
    };
    const row rows[] = {
        {R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"restricted","x":1})",
         "`/x`"},
        {R"({"type":"managed","network":"restricted"})", "`file_system` is missing"},
        {R"({"type":"managed","file_system":{"type":"unrestricted"}})", "`network` is missing"},
        {R"({"type":"managed","file_system":{"type":"unrestricted","entries":[]},"network":"enabled"})",
         "`/file_system/entries`"},
        {R"({"type":"managed","file_system":{"type":"open"},"network":"enabled"})",
         "`/file_system`"},
        {R"({"type":"managed","file_system":{"type":"restricted"},"network":"enabled"})",
         "`entries` is missing"},
        {R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"on"})",
         "`/network`"},
        {R"({"type":"managed","file_system":{"type":"unrestricted"},"network":true})",
         "`/network`"},
        {R"({"type":"disabled","network":"enabled"})", "`/network`"},
        {R"({"type":"external"})", "`network` is missing"},
        {R"({"type":"open"})", "unknown type `open`"},
        {R"({"type":7})", "`type`"},
        {R"({"profile":"x"})", "`/profile`"},
        {R"("read-only")", "expected an object"},
        {"[]", "expected an object"},
        {entry(ok, R"("access":"execute")"), first + "/access"},
        {entry(ok, R"("access":1)"), first + "/access"},
        {entry(ok, R"("mode":"read")"), first + "/mode"},
        {entry(ok, R"("access":"read","missing_path_behavior":"create")"),
         first + "/missing_path_behavior"},
        {entry(R"({"type":"path","path":"a"})"), first + "/path/path"},
        {entry(R"({"type":"path","path":""})"), first + "/path/path"},
        {entry(R"({"type":"path","path":"/a\u0000b"})"), first + "/path/path"},
        {entry(R"({"type":"path"})"), first + "/path"},
        {entry(R"({"type":"uri","path":"/a"})"), "unknown type `uri`"},
        {entry(R"({"type":"glob_pattern","pattern":"/a/*"})"), "a glob may only deny"},
        {entry(R"({"type":"special","value":{"kind":"home"}})"), "unknown kind `home`"},
        {entry(R"({"type":"special","value":{"kind":"root","subpath":"a"}})"),
         first + "/path/value/subpath"},
        {entry(R"({"type":"special","value":{"kind":"project_roots","subpath":"../x"}})"),
         first + "/path/value/subpath"},
        {entry(R"({"type":"special","value":{"kind":"project_roots","subpath":"/x"}})"),
         first + "/path/value/subpath"},
        {entry(R"({"type":"special","value":{"kind":"unknown","path":"later"}})"),
         first + "/path/value/path"},
        {entry(R"("/a")"), first + "/path"},
    };
    for (const auto& r : rows) {
      CAPTURE(r.json);
      const auto message = message_of(r.json);
      CHECK_MESSAGE(message.find(r.pointer) != std::string::npos, message);
    }
  }

  TEST_CASE("§60 a name that stands twice is an error and not the last one") {
    for (
        const char* twice :
        {R"({"type":"managed","file_system":{"type":"unrestricted"},"network":"restricted","network":"enabled"})",
         R"({"type":"managed","file_system":{"type":"restricted","entries":[{"path":{"type":"path","path":"/a"},"access":"deny","access":"write"}]},"network":"restricted"})"}) {
      const auto message = message_of(twice);
      CHECK_MESSAGE(message.find("stands twice") != std::string::npos, message);
    }
    CHECK_FALSE(decode_additional_permissions(R"({"network":{},"network":{"enabled":true}})"));
  }

  TEST_CASE("§64 a URI is no deny glob that denies nothing") {
    CHECK(message_of(
              restricted(
                  R"({"path":{"type":"glob_pattern","pattern":"file:///w/s*"},"access":"deny"})"))
              .find("/file_system/entries/0/path/pattern") != std::string::npos);
  }

  TEST_CASE("§61 a scan depth is a whole number of at least one") {
    const auto with = [](const std::string& depth) {
      return R"({"type":"managed","file_system":{"type":"restricted","entries":[],"glob_scan_max_depth":)" +
             depth + R"(},"network":"restricted"})";
    };
    CHECK(decode_profile(with("4"))->file_system.glob_scan_max_depth == 4U);
    for (const char* bad : {"0", "-1", "1.5", "\"4\"", "null", "99999999999", "true"}) {
      CAPTURE(bad);
      CHECK(message_of(with(bad)).find("/file_system/glob_scan_max_depth") != std::string::npos);
    }
  }

  TEST_CASE("§60 text that is no JSON is an error with the byte offset") {
    CHECK(message_of("{\"type\":").find("at byte") != std::string::npos);
    CHECK(message_of("").find("at byte") != std::string::npos);
    CHECK(message_of(R"({"type":"disabled"} x)").find("at byte 2") != std::string::npos);
    CHECK(message_of(std::string(200, '[')).find("at byte") != std::string::npos);
    CHECK(decode_profile(" {\"type\":\"disabled\"} \n").has_value());
  }

  TEST_CASE("§12 an overlay is read in both shapes and written in the shorter one") {
    const std::string old =
        R"({"network":{"enabled":true},"file_system":{"read":["/a"],"write":["/b"]}})";
    const auto overlay = decode_additional_permissions(old);
    REQUIRE(overlay.has_value());
    CHECK(overlay->network_enabled == true);
    CHECK(overlay->entries.size() == 2);
    CHECK(encode_additional_permissions(*overlay) == old);

    const std::string canonical =
        R"({"file_system":{"entries":[{"path":{"type":"path","path":"/b"},"access":"write"},)"
        R"({"path":{"type":"path","path":"/a"},"access":"read"}]}})";
    const auto ordered = decode_additional_permissions(canonical);
    REQUIRE(ordered.has_value());
    CHECK(encode_additional_permissions(*ordered) == canonical);

    const auto denying = decode_additional_permissions(
        R"({"file_system":{"entries":[{"path":{"type":"glob_pattern","pattern":"/a/*"},"access":"deny"}],"glob_scan_max_depth":2}})");
    REQUIRE(denying.has_value());
    CHECK(*decode_additional_permissions(encode_additional_permissions(*denying)) == *denying);
  }

  TEST_CASE("§14 an overlay may be empty in the JSON: validation, not reading, refuses it") {
    for (const char* text : {"{}", R"({"network":{}})", R"({"file_system":{}})"}) {
      const auto overlay = decode_additional_permissions(text);
      REQUIRE(overlay.has_value());
      CHECK(overlay->empty());
    }
  }

  TEST_CASE("§14 an overlay with an unknown field or a relative path is refused with its place") {
    const auto wrong = [](const char* text) {
      return decode_additional_permissions(text).error().message;
    };
    CHECK(wrong(R"({"type":"managed"})").find("`/type`") != std::string::npos);
    CHECK(wrong(R"({"network":{"domains":[]}})").find("/network/domains") != std::string::npos);
    CHECK(wrong(R"({"network":{"enabled":"yes"}})").find("/network/enabled") != std::string::npos);
    CHECK(wrong(R"({"file_system":{"write":["a"]}})").find("/file_system/write/0") !=
          std::string::npos);
    CHECK(wrong(R"({"file_system":{"write":"/a"}})").find("/file_system/write") !=
          std::string::npos);
    CHECK(wrong(R"({"file_system":{"entries":[],"read":["/a"]}})").find("/file_system/read") !=
          std::string::npos);
  }
}
