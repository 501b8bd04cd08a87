#include "protocol/approval_key.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/utf8.hpp"

namespace gatehouse {
namespace {

/// Writes an object and notes whether every text in it survives as JSON.
class key_writer {
public:
  explicit key_writer(std::string_view kind) {
    json_.open('{');
    text("kind", kind);
  }

  void text(std::string_view name, std::string_view value) {
    check(value);
    json_.field(name, value);
  }
  void boolean(std::string_view name, bool value) {
    json_.key(name);
    json_.boolean(value);
  }
  void words(std::string_view name, const std::vector<std::string>& list) {
    json_.key(name);
    json_.open('[');
    for (const auto& word : list) {
      check(word);
      json_.item();
      json_.text(word);
    }
    json_.close(']');
  }
  void overlay(std::string_view name, const additional_permissions& value) {
    for (const auto& entry : value.entries)
      check(describe(entry.path));
    if (!exact_) return; // the profile encoder takes UTF-8 only
    json_.key(name);
    json_.raw(encode_additional_permissions(value));
  }

  std::optional<std::string> finish() && {
    json_.close('}');
    if (!exact_) return std::nullopt;
    return std::move(json_).take();
  }

private:
  void check(std::string_view value) { exact_ = exact_ && !find_invalid_utf8(value); }

  json_writer json_;
  bool exact_ = true;
};

} // namespace

std::optional<std::string> encode_approval_key(const command_key& key) {
  key_writer out{"command"};
  out.text("environment", key.environment_id);
  if (const auto* words = std::get_if<std::vector<std::string>>(&key.command)) {
    out.words("words", *words);
  } else {
    const auto& script = std::get<shell_script>(key.command);
    out.words("script", {script.shell, script.flag, script.text});
  }
  out.text("cwd", key.cwd);
  out.text("folder", key.folder);
  out.boolean("login", key.login);
  out.text("sandbox_permissions", to_string(key.sandbox_permissions));
  if (key.additional_permissions)
    out.overlay("additional_permissions", *key.additional_permissions);
  if (key.tty) out.boolean("tty", *key.tty);
  out.boolean("without_sandbox", key.without_sandbox);
  out.text("policy", key.policy);
  return std::move(out).finish();
}

std::optional<std::string> encode_approval_key(const patch_file_key& key) {
  key_writer out{"patch"};
  out.text("environment", key.environment_id);
  out.text("path", key.path);
  out.boolean("without_sandbox", key.without_sandbox);
  out.text("policy", key.policy);
  return std::move(out).finish();
}

std::string policy_stamp(const permission_profile& profile, const approval_policy& approval,
                         std::uint64_t rules_generation) {
  return "rules " + std::to_string(rules_generation) + ", " + describe(approval) + ", " +
         encode_profile(profile);
}

} // namespace gatehouse
