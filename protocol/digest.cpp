#include "protocol/digest.hpp"

namespace gatehouse {
namespace {

class field_writer {
public:
  void text(std::string_view value) {
    out_ += std::to_string(value.size());
    out_ += ':';
    out_ += value;
  }
  void number(std::uint64_t value) { text(std::to_string(value)); }

  void path(const profile_path& p) {
    number(p.index());
    if (const auto* literal = std::get_if<literal_path>(&p)) {
      text(literal->path);
    } else if (const auto* glob = std::get_if<glob_path>(&p)) {
      text(glob->pattern);
    } else {
      const auto& special = std::get<special_path>(p);
      number(static_cast<std::uint64_t>(special.kind));
      text(special.subpath);
      text(special.name);
    }
  }

  std::string take() && { return std::move(out_); }

private:
  std::string out_;
};

void write(field_writer& out, const additional_permissions& overlay) {
  out.number(overlay.network_enabled ? 1 + (*overlay.network_enabled ? 1 : 0) : 0);
  out.number(overlay.glob_scan_max_depth ? 1 + std::uint64_t{*overlay.glob_scan_max_depth} : 0);
  out.number(overlay.entries.size());
  for (const auto& entry : overlay.entries) {
    out.path(entry.path);
    out.number(static_cast<std::uint64_t>(entry.access));
    out.number(entry.skip_missing ? 1 : 0);
  }
}

void write(field_writer& out, const patch_call& patch) {
  out.text(patch.cwd);
  out.text(patch.text);
  out.number(patch.changes.size());
  for (const auto& change : patch.changes) {
    out.number(static_cast<std::uint64_t>(change.what));
    out.text(change.path);
    out.text(change.from);
    out.text(change.shown);
  }
}

} // namespace

std::string digest_of(const proposal& what, const digest_terms& terms) {
  field_writer out;
  out.text("gatehouse-action-1");
  out.number(what.argv.size());
  for (const auto& word : what.argv)
    out.text(word);
  out.text(what.cwd);
  out.text(what.environment_id);
  out.number(what.tty ? 1 : 0);
  out.number(what.timeout ? 1 + static_cast<std::uint64_t>(what.timeout->count()) : 0);
  out.text(to_string(what.sandbox_permissions));
  out.number(what.additional_permissions ? 1 : 0);
  if (what.additional_permissions) write(out, *what.additional_permissions);
  out.number(what.patch ? 1 : 0);
  if (what.patch) write(out, *what.patch);
  out.number(static_cast<std::uint64_t>(terms.attempt));
  out.number(terms.without_sandbox ? 1 : 0);
  out.text(terms.network_host);
  return std::move(out).take();
}

} // namespace gatehouse
