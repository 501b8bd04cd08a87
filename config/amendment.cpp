#include "config/amendment.hpp"

#include "config/private_file.hpp"
#include "config/text_file.hpp"
#include "policy/amendment.hpp"
#include "policy/rules/rule_file.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::config {
namespace {

error not_saved(error why) {
  why.remedy = "The rule was not saved. Correct this and approve again.";
  return why;
}

error amendment_failure(const std::string& what, const std::string& path, int number = errno) {
  return not_saved({errc::io, "cannot " + what + " " + path + ": " + std::strerror(number), {}});
}

bool holds_line(std::string_view text, std::string_view line) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end) == line) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

} // namespace

result<std::string> prefix_rule_line(const std::vector<std::string>& prefix, bool keeps_sandbox) {
  if (prefix.empty())
    return error{errc::invalid_request, "an empty prefix cannot become a rule",
                 "Name at least the program."};
  std::string tokens;
  for (const auto& token : prefix) {
    if (token.find('\0') != std::string::npos || find_invalid_utf8(token))
      return error{errc::invalid_request,
                   "a word of the command is not UTF-8 text and cannot stand in a rule file",
                   "Approve it once instead."};
    tokens += (tokens.empty() ? "" : ", ") + json_quote(token);
  }
  const std::string exact = policy::needs_exact_rule(prefix) ? ", exact=True" : "";
  const std::string keep =
      keeps_sandbox || policy::keeps_sandbox(prefix) ? ", sandbox=\"keep\"" : "";
  return "prefix_rule(pattern=[" + tokens + "], decision=\"allow\"" + exact + keep + ")";
}

result<std::string> network_rule_line(const host_key& key, bool allow) {
  const bool v6 = key.host.find(':') != std::string::npos;
  const std::string host = (v6 ? "[" + key.host + "]" : key.host) + ":" + std::to_string(key.port);
  std::string line = "network_rule(host=" + json_quote(host) +
                     ", protocol=" + json_quote(to_string(key.protocol)) +
                     ", decision=" + (allow ? "\"allow\"" : "\"deny\"") + ")";
  const auto read = policy::read_rule_file(line, "amendment", {});
  if (read.problems.empty() && read.network.size() == 1) return line;
  return error{errc::invalid_request, "the host `" + key.host + "` cannot stand in a rule", {}};
}

result<amendment_outcome> append_rule(const std::string& gatehouse_home, std::string_view line) {
  const auto folder = gatehouse_home + "/rules";
  for (const auto& needed : {gatehouse_home, folder})
    if (const auto made = make_private_folder(needed); !made) return not_saved(made.error());

  const descriptor lock{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (lock.get() < 0) return amendment_failure("open", folder);
  while (::flock(lock.get(), LOCK_EX) != 0)
    if (errno != EINTR) return amendment_failure("lock", folder);

  auto path = folder + "/default.rules";
  struct stat about {};
  mode_t mode = 0600;
  if (::stat(path.c_str(), &about) == 0) {
    mode = about.st_mode & 0777;
    // A link (into a folder of dot files, say) stays a link: what it leads to is replaced.
    char resolved[PATH_MAX];
    if (!::realpath(path.c_str(), resolved)) return amendment_failure("resolve", path);
    path = resolved;
  } else if (errno != ENOENT) {
    return amendment_failure("examine", path);
  }
  const auto old = read_text_file(path, policy::largest_rule_file);
  if (!old) return old.error();
  std::string text = old->value_or("");
  if (find_invalid_utf8(text))
    return error{errc::io, path + " is not valid UTF-8, so no rule in it counts",
                 "The rule was not saved. Mend the file and approve again."};
  if (holds_line(text, line)) return amendment_outcome::already_there;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
  text += '\n';
  if (const auto replaced = write_whole_file(path, text, mode, existing_file::replace); !replaced)
    return not_saved(replaced.error());
  return amendment_outcome::added;
}

} // namespace gatehouse::config
