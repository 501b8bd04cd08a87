#include "sandbox/launch.hpp"

#include "protocol/profile_json.hpp"

namespace gatehouse::sandbox {

std::vector<std::string> launch_argv(const launch_request& request) {
  std::vector<std::string> argv{request.helper,
                                "--sandbox-policy-cwd",
                                request.policy_cwd,
                                "--command-cwd",
                                request.command_cwd,
                                "--permission-profile",
                                encode_profile(request.profile),
                                "--tmpdir",
                                request.tmpdir};
  const auto add_each = [&](const char* option, const std::vector<std::string>& values) {
    for (const auto& value : values)
      argv.insert(argv.end(), {option, value});
  };
  add_each("--workspace-root", request.workspace_roots);
  add_each("--protected-name", request.protected_names);
  add_each("--protected-path", request.protected_paths);
  if (request.report_fd >= 0)
    argv.insert(argv.end(), {"--report-fd", std::to_string(request.report_fd)});
  argv.emplace_back("--");
  argv.insert(argv.end(), request.command.begin(), request.command.end());
  return argv;
}

std::vector<sandbox_event> report_reader::feed(std::string_view bytes) {
  constexpr std::size_t longest_line = 64 * 1024;
  std::vector<sandbox_event> events;
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    if (!skipping_) pending_ += bytes.substr(0, end);
    if (pending_.size() > longest_line) {
      pending_.clear();
      skipping_ = true;
    }
    if (end == std::string_view::npos) break;
    auto event = skipping_ ? result<sandbox_event>{error{errc::too_large, {}, {}}}
                           : sandbox_event_from_json(pending_);
    if (event)
      events.push_back(*std::move(event));
    else
      ++not_understood_;
    pending_.clear();
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
  return events;
}

} // namespace gatehouse::sandbox
