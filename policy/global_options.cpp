#include "policy/global_options.hpp"

#include "policy/git_commands.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::policy {
namespace {

/// Global options whose value is the next word (attached values and flags need no entry).
struct program_globals {
  std::string_view programs; ///< names with a blank between them
  std::string_view values;   ///< options with a blank between them
  std::string_view groups{}; ///< first words that only sort subcommands
};
constexpr auto table = std::to_array<program_globals>({
    {"docker podman nerdctl docker-compose podman-compose",
     "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection "
     "--url --root --runroot --namespace -n --address -a -f --file -p --project-name "
     "--project-directory --profile --env-file",
     "container image compose"},
    {"npm pnpm yarn bun",
     "-w --workspace --prefix -C --dir --cwd --registry --userconfig --globalconfig --cache "
     "--loglevel -F --filter --config --otp --tag"},
    {"kubectl oc helm",
     "-n --namespace --context --kubeconfig --cluster --user -s --server --token --as --as-group "
     "--request-timeout -v --cache-dir --kube-context --kube-token --kube-apiserver "
     "--certificate-authority --client-certificate --client-key"},
    {"cargo", "--config -C -Z --color --manifest-path --target-dir"},
    {"go", "-C"},
    {"aws", "--profile --region --output --endpoint-url --query --ca-bundle --color "
            "--cli-read-timeout --cli-connect-timeout"},
    {"gcloud gsutil", "--project --account --configuration --format --verbosity "
                      "--impersonate-service-account -u -o --filter --flags-file"},
    {"az", "--subscription -o --output --query"},
    {"gh glab", "-R --repo --hostname"},
    {"hg", "-R --repository --cwd --config --encoding --encodingmode --color --pager"},
    {"make gmake", "-C --directory -f --file --makefile -I --include-dir -o -W -E --eval"},
    {"ninja", "-C -f -j -k -l -d -t -w"},
    {"systemctl journalctl loginctl", "-H --host -M --machine -t --type -p --property -n --lines "
                                      "-o --output --root --image --state"},
    {"apt apt-get aptitude", "-o --option -c --config-file -t --target-release --default-release"},
    {"pip pip3 uv poetry pdm",
     "--python --cache-dir --log --proxy --timeout --exists-action --cert "
     "-C --directory --project -p --config-file --index-url -i"},
    {"terraform tofu pulumi", "-C --cwd --color -s --stack"},
    {"vault consul nomad", "-address -namespace -token -region"},
    {"brew conda mamba", "-n --name -p --prefix"},
});

} // namespace

std::optional<std::vector<std::string>> without_global_options(words argv) {
  const auto name = program_name(argv[0]);
  if (name == "git" || name.starts_with("git-")) return without_git_globals(argv);
  const auto known = std::ranges::find_if(
      table, [&](const program_globals& entry) { return lists_word(entry.programs, name); });
  if (known == table.end()) return std::nullopt;
  std::size_t i = 1;
  bool grouped = false;
  for (; i < argv.size(); ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with('-') || word.starts_with('+')) {
      if (lists_word(known->values, word)) ++i;
    } else if (!grouped && lists_word(known->groups, word) && i + 1 < argv.size()) {
      grouped = true;
    } else {
      break;
    }
  }
  if (i <= 1 || i >= argv.size()) return std::nullopt;
  std::vector<std::string> shorter{argv[0]};
  shorter.insert(shorter.end(), argv.begin() + static_cast<std::ptrdiff_t>(i), argv.end());
  return shorter;
}

} // namespace gatehouse::policy
