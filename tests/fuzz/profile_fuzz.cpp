// Profiles and overlays from JSON: no text crashes the reader; what was read is written and read
// again as the same value; what a profile denies stays denied; the strict form of every answer.
#include "policy/access.hpp"
#include "policy/glob.hpp"
#include "protocol/profile_json.hpp"
#include "tests/fuzz/fuzz_support.hpp"

#include <variant>

using namespace gatehouse;
using namespace gatehouse::tests;

namespace {

policy::access_context context() {
  policy::access_context c;
  c.cwd = "/w";
  c.project_roots = {"/w", "/x/y"};
  c.tmpdir = "/t";
  c.protected_names = {".git", ".github/hooks"};
  c.protected_paths = {"/w/state"};
  return c;
}

void check_profile(const permission_profile& profile) {
  const auto again = decode_profile(encode_profile(profile));
  must(again.has_value(), "a profile that was written can be read");
  must(*again == profile, "… and is the same");
  must(profile.kind == profile_kind::managed || profile.file_system.entries.empty(),
       "only a managed profile has entries");
  const auto c = context();
  const bool limited = profile.kind == profile_kind::managed && profile.file_system.restricted;
  for (const auto* path :
       {"/", "/w", "/w/.git/config", "/w/a.env", "/etc/passwd", "/x/y/.github/hooks/h"}) {
    const auto answer = policy::evaluate_access(profile, c, path);
    must(!answer.decided_by.empty(), "an answer says who decided");
    must(limited || answer.granted == access::write, "who does not limit grants");
    must(!answer.entry || *answer.entry < profile.file_system.entries.size(), "the entry exists");
  }
  if (!limited) return;
  for (const auto& entry : policy::resolve_entries(profile.file_system, c)) {
    must(entry.path.starts_with('/'), "entries are absolute");
    if (entry.access != access::deny) continue;
    must(policy::evaluate_access(profile, c, entry.path).granted == access::deny,
         "nothing beats a deny on its own path");
  }
  for (const auto& glob : policy::resolve_globs(profile.file_system, c)) {
    const auto compiled = policy::path_glob::compile(glob.pattern());
    if (compiled)
      (void)compiled->as_regex();
    else
      must(policy::evaluate_access(profile, c, "/etc").granted == access::deny,
           "a glob that cannot be read denies everything");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  if (const auto profile = decode_profile(text))
    check_profile(*profile);
  else
    must(profile.error().code == errc::invalid_profile && !profile.error().message.empty(),
         "a profile that cannot be read says why");
  if (const auto overlay = decode_additional_permissions(text)) {
    const auto again = decode_additional_permissions(encode_additional_permissions(*overlay));
    must(again && *again == *overlay, "an overlay survives being written and read");
  } else {
    must(!overlay.error().message.empty(), "an overlay that cannot be read says why");
  }
  return 0;
}
