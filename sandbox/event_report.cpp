#include "sandbox/event_report.hpp"

#include "protocol/visible_text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace gatehouse::sandbox {

bool inside_a_boundary() noexcept {
  const char* name = std::getenv("GATEHOUSE_SANDBOX");
  return name && *name && std::string_view{name} != "none";
}

error in_another_boundary(error why) {
  const char* const around = std::getenv("GATEHOUSE_SANDBOX");
  if (around == nullptr || !inside_a_boundary() ||
      (why.code != errc::boundary_failed && why.code != errc::boundary_unavailable))
    return why;
  why.message =
      "this runs inside a sandbox of Gatehouse already (GATEHOUSE_SANDBOX=" + std::string{around} +
      "), and none can be made inside another: " + why.message;
  why.remedy = "run the command as it is, for it is confined; or start Gatehouse outside";
  return why;
}

void event_report::send(const sandbox_event& event) {
  if (fd_ < 0) return;
  if (event.kind == sandbox_event_kind::blocked) {
    std::string key = event.call + '\0' + event.path + '\0' + event.family;
    if (seen_.size() >= most_refusals || !seen_.insert(std::move(key)).second) return;
  }
  if (event.kind == sandbox_event_kind::stopped || event.kind == sandbox_event_kind::continued) {
    if (stops_ >= most_refusals) return;
    ++stops_;
  }
  const std::string line = to_json_line(event);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t size = write(fd_, line.data() + done, line.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;
    done += static_cast<std::size_t>(size);
  }
}

void event_report::warn(const std::string& text) {
  if (fd_ < 0)
    std::fprintf(stderr, "gatehouse-sandbox: warning: %s\n", visible_lines(text, "    ").c_str());
  sandbox_event event;
  event.kind = sandbox_event_kind::warning;
  event.message = text;
  send(event);
}

void event_report::boundary_failed(const error& reason) {
  end(sandbox_event_kind::boundary_failed, in_another_boundary(reason));
}

void event_report::killed(const error& reason) {
  end(sandbox_event_kind::killed, reason);
}

void event_report::end(sandbox_event_kind kind, const error& why) {
  if (fd_ < 0) std::fprintf(stderr, "gatehouse-sandbox: %s\n", visible_error(why).c_str());
  sandbox_event event;
  event.kind = kind;
  event.message = why.message;
  event.remedy = why.remedy;
  send(event);
}

} // namespace gatehouse::sandbox
