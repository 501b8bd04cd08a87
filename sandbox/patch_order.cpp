#include "sandbox/patch_order.hpp"

#include <charconv>

namespace gatehouse::sandbox {
namespace {

constexpr std::string_view magic = "gatehouse-patch-1";

void put(std::string& out, std::string_view field) {
  out += std::to_string(field.size());
  out += ':';
  out += field;
}

void put(std::string& out, std::size_t number) {
  put(out, std::to_string(number));
}

bool take_number(std::string_view& text, std::size_t& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

class reader {
public:
  explicit reader(std::string_view text) : rest_{text} {}

  std::string text() {
    std::size_t size = 0;
    if (!ok_ || !take_number(rest_, size) || !rest_.starts_with(':') || rest_.size() - 1 < size) {
      ok_ = false;
      return {};
    }
    std::string field{rest_.substr(1, size)};
    rest_.remove_prefix(1 + size);
    return field;
  }
  std::size_t number() {
    const auto field = text();
    std::string_view digits{field};
    std::size_t value = 0;
    ok_ = ok_ && take_number(digits, value) && digits.empty();
    return ok_ ? value : 0;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

private:
  std::string_view rest_;
  bool ok_ = true;
};

} // namespace

std::string encode_patch_order(const patch_order& order) {
  std::string out;
  put(out, magic);
  put(out, order.only_verify ? 1 : 0);
  put(out, order.done.operations);
  put(out, order.done.source_is_left ? 1 : 0);
  put(out, order.call.cwd);
  put(out, order.call.text);
  put(out, order.call.changes.size());
  for (const auto& change : order.call.changes) {
    put(out, static_cast<std::size_t>(change.what));
    put(out, change.path);
    put(out, change.from);
    put(out, change.shown);
  }
  return out;
}

result<patch_order> decode_patch_order(std::string_view text) {
  const error wrong{errc::invalid_request, "this is no order of gatehouse",
                    "use `gatehouse apply-patch`"};
  reader in{text};
  if (in.text() != magic) return wrong;
  patch_order order;
  order.only_verify = in.number() != 0;
  order.done.operations = in.number();
  order.done.source_is_left = in.number() != 0;
  order.call.cwd = in.text();
  order.call.text = in.text();
  const auto count = in.number();
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    file_change change;
    const auto kind = in.number();
    if (kind > static_cast<std::size_t>(change_kind::move)) return wrong;
    change.what = static_cast<change_kind>(kind);
    change.path = in.text();
    change.from = in.text();
    change.shown = in.text();
    order.call.changes.push_back(std::move(change));
  }
  if (!in.ok() || !in.at_end() || !order.call.cwd.starts_with('/')) return wrong;
  return order;
}

std::string encode_tolerance(std::size_t matches) {
  return "~" + std::to_string(matches) + "\n";
}

std::size_t tolerance_in(std::string_view printed) {
  std::size_t matches = 0;
  if (!printed.starts_with('~')) return 0;
  printed.remove_prefix(1);
  return take_number(printed, matches) ? matches : 0;
}

std::string encode_progress(const patch_progress& progress) {
  return std::to_string(progress.operations) + (progress.source_is_left ? "+\n" : "\n");
}

patch_progress last_progress(std::string_view printed, const patch_progress& before) {
  const auto end = printed.rfind('\n');
  if (end == std::string_view::npos) return before;
  printed = printed.substr(0, end);
  const auto start = printed.rfind('\n');
  auto line = start == std::string_view::npos ? printed : printed.substr(start + 1);
  patch_progress progress;
  if (!take_number(line, progress.operations)) return before;
  progress.source_is_left = line == "+";
  return progress;
}

} // namespace gatehouse::sandbox
