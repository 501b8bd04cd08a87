#include "sandbox/seccomp_filter.hpp"

#include <cstdio>
#include <vector>

#include <linux/filter.h>

/// Writes the filters as a header for `gatehouse-sandbox-init`: one array per kind of network and
/// of supervision, and the function that chooses. Runs at build time.
int main(int argc, char** argv) {
  using namespace gatehouse::sandbox;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s HEADER\n", argv[0]);
    return 2;
  }
  std::FILE* out = std::fopen(argv[1], "w");
  if (!out) {
    std::perror(argv[1]);
    return 1;
  }
  std::fprintf(out, "#pragma once\n\n#include <linux/filter.h>\n\n"
                    "namespace gatehouse::sandbox::init {\n\n");
  constexpr const char* names[] = {"full", "isolated", "proxy_only"};
  constexpr const char* kinds[] = {"plain", "guarded", "on_host"};
  for (unsigned network = 0; network < 3; ++network) {
    for (int kind = 0; kind < 3; ++kind) {
      const auto program =
          build_filter(static_cast<init::network_kind>(network), kind > 0, kind == 2);
      if (program.empty()) {
        std::fprintf(stderr, "the %s filter for %s cannot be built\n", kinds[kind], names[network]);
        return 1;
      }
      std::fprintf(out, "inline constexpr sock_filter %s_%s[] = {\n", names[network], kinds[kind]);
      for (const auto& one : program)
        std::fprintf(out, "{0x%x,%u,%u,0x%xu},", one.code, one.jt, one.jf, one.k);
      std::fprintf(out, "};\n");
    }
  }
  std::fprintf(out, "\ninline sock_fprog choose_filter(unsigned network, bool guarded, "
                    "bool on_host) {\n  const int kind = on_host ? 2 : guarded ? 1 : 0;\n");
  for (unsigned network = 0; network < 3; ++network)
    for (int kind = 0; kind < 3; ++kind)
      std::fprintf(out,
                   "  if (network == %u && kind == %d)\n    return {sizeof %s_%s / "
                   "sizeof(sock_filter), const_cast<sock_filter*>(%s_%s)};\n",
                   network, kind, names[network], kinds[kind], names[network], kinds[kind]);
  std::fprintf(out, "  return {0, nullptr};\n}\n\n} // namespace gatehouse::sandbox::init\n");
  return std::fclose(out) == 0 ? 0 : 1;
}
