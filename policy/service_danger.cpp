#include "policy/service_danger.hpp"

#include "protocol/ascii_text.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

/// Subcommand words; an empty one fits any.
struct destroying {
  std::string_view program, first, second;
};
constexpr destroying destroying_subcommands[] = {
    {"docker", "system", "prune"}, {"docker", "volume", "rm"}, {"docker", "volume", "prune"},
    {"podman", "system", "prune"}, {"podman", "volume", "rm"}, {"podman", "volume", "prune"},
    {"npm", "unpublish", {}},      {"rclone", "delete", {}},   {"rclone", "purge", {}},
};

bool is_cloud_client(std::string_view name) {
  return is_one_of(name,
                   {"aws", "az",     "doctl",  "firebase", "fly",       "flyctl",  "gcloud",
                    "gh",  "gsutil", "hcloud", "helm",     "heroku",    "kubectl", "linode-cli",
                    "oc",  "oci",    "pulumi", "s3cmd",    "terraform", "tofu",    "vagrant"});
}

/// `delete`, `delete-table`, `apps:destroy`, `rb`.
bool is_destroying_verb(std::string_view word) {
  if (is_one_of(word, {"rb", "rm", "uninstall", "del"})) return true;
  if (const auto colon = word.rfind(':'); colon != std::string_view::npos)
    word.remove_prefix(colon + 1);
  for (const std::string_view verb : {"delete", "destroy", "purge", "terminate"})
    if (word == verb || (word.starts_with(verb) && word[verb.size()] == '-')) return true;
  return false;
}

bool drops_data(std::string_view text) {
  const auto lower = to_lower_ascii(text);
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"drop database", "drop schema", "drop table",
                                              "truncate table", "dropdatabase(", "flushall",
                                              "flushdb"},
      [&](std::string_view statement) { return lower.find(statement) != std::string::npos; });
}

} // namespace

std::optional<std::string> find_service_danger(words argv) {
  const auto name = program_name(argv[0]);
  const auto args = argv.subspan(1);
  constexpr auto elsewhere = "it deletes things that other machines hold";
  auto spoken = operands(args);
  // The subcommand stands among the first operands; names of things come later.
  constexpr std::size_t subcommand_words = 3;
  if (is_cloud_client(name)) {
    const auto first = std::span{spoken}.first(std::min(spoken.size(), subcommand_words));
    if (std::ranges::any_of(first, is_destroying_verb)) return elsewhere;
  }
  spoken.resize(2);
  for (const auto& entry : destroying_subcommands)
    if (name == entry.program && spoken[0] == entry.first &&
        (entry.second.empty() || spoken[1] == entry.second))
      return elsewhere;
  if (is_one_of(name, {"dropdb", "dropuser"})) return "it drops a database or a user of one";
  if (is_one_of(name, {"psql", "mysql", "mariadb", "sqlite3", "redis-cli", "mongo", "mongosh",
                       "clickhouse-client", "sqlcmd"}) &&
      std::ranges::any_of(args, drops_data))
    return "it drops data of a database";
  return std::nullopt;
}

} // namespace gatehouse::policy
