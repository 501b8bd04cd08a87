#include "protocol/rpc/codec.hpp"

namespace gatehouse::rpc {

std::string schema_book::refer(std::string_view name, const std::function<std::string()>& make) {
  // Entered before it is made: a type may mention itself.
  const auto [place, fresh] = types_.emplace(name, std::string{});
  if (fresh) {
    auto text = make();
    types_[std::string{name}] = std::move(text);
  }
  return R"({"$ref":"#/$defs/)" + std::string{name} + R"("})";
}

} // namespace gatehouse::rpc
