#include "cli/output.hpp"

#include "protocol/call_report_json.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/visible_text.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

failure_document documents = failure_document::none;

/// What reads reports of calls gets one of a call that never was.
std::string report_of(const error& why, int status) {
  call_report report;
  report.ending = call_ending::failed;
  report.evaluation.requirement.reason = why.message;
  report.evaluation.requirement.refused_by = refused_by::handler;
  report.message = failure_message(why);
  report.failure = why;
  return encode_call_report(report, status);
}

void print_document(const error& why, int status) {
  switch (documents) {
  case failure_document::none: return;
  case failure_document::failure:
    print("{\"failure\":" + encode_error(why) + ",\"exit_status\":" + std::to_string(status) +
          "}\n");
    return;
  case failure_document::report: print(report_of(why, status) + "\n"); return;
  }
}

bool write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

} // namespace

bool print_error(std::string_view text) noexcept {
  return write_all(STDERR_FILENO, text);
}

bool print(std::string_view text) noexcept {
  if (write_all(STDOUT_FILENO, text)) return true;
  static bool told = false;
  if (errno != EPIPE && !std::exchange(told, true)) // who closes a pipe has read enough
    complain({errc::io, std::string{"standard output cannot be written: "} + std::strerror(errno),
              "Write it where there is room."});
  return false;
}

bool print_for_people(std::string_view text) {
  return print(visible_text(text));
}

void complain(const error& failure) {
  print_error("gatehouse: " + visible_error(failure) + "\n");
}

void warn(const error& what) {
  complain({what.code, "warning: " + what.message, what.remedy});
}

void warn(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings)
    warn(error{errc::internal, warning, {}});
}

void tell_failures_as(failure_document form) noexcept {
  documents = form;
}

int fail(const error& why, int status) {
  print_document(why, status);
  complain(why);
  return status;
}

int wrong_usage(const error& what, std::string_view example) {
  auto remedy = what.remedy;
  if (remedy.empty()) {
    remedy = "For example: " + std::string{example};
    for (auto at = remedy.find("\n  "); at != std::string::npos; at = remedy.find("\n  ", at))
      remedy.replace(at, 3, "; ");
  }
  print_document({what.code, what.message, std::move(remedy)}, exit_wrong_usage);
  complain(what);
  print_error("  for example: " + std::string{example} + "\n");
  return exit_wrong_usage;
}

} // namespace gatehouse::cli
