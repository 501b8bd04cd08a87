#include "policy/rules/many_tools.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::policy {
namespace {

// Sorted.
constexpr std::array<std::string_view, 47> files = {"aqua-proxy",
                                                    "box",
                                                    "busybox",
                                                    "busybox.static",
                                                    "bzip2",
                                                    "ccache",
                                                    "coreutils",
                                                    "distcc",
                                                    "e2fsck",
                                                    "git",
                                                    "hostname",
                                                    "icecc",
                                                    "journalctl",
                                                    "killall5",
                                                    "kmod",
                                                    "lld",
                                                    "llvm-ar",
                                                    "llvm-objcopy",
                                                    "llvm-readobj",
                                                    "lvm",
                                                    "lz4",
                                                    "mise",
                                                    "mke2fs",
                                                    "mtools",
                                                    "newgrp",
                                                    "pg_wrapper",
                                                    "pgrep",
                                                    "pkgconf",
                                                    "proto",
                                                    "resolvectl",
                                                    "rustup",
                                                    "rustup-init",
                                                    "sccache",
                                                    "sestatus",
                                                    "snap",
                                                    "sudo",
                                                    "systemctl",
                                                    "tic",
                                                    "toybox",
                                                    "tset",
                                                    "tune2fs",
                                                    "unzip",
                                                    "volta-shim",
                                                    "xtables-legacy-multi",
                                                    "xtables-nft-multi",
                                                    "xz",
                                                    "zstd"};
static_assert(std::ranges::is_sorted(files));

} // namespace

bool is_many_tools(std::string_view file_name) noexcept {
  const auto version = file_name.find_last_not_of("0123456789.");
  const auto unversioned = version != std::string_view::npos && file_name[version] == '-'
                               ? file_name.substr(0, version)
                               : file_name;
  return std::ranges::binary_search(files, unversioned);
}

} // namespace gatehouse::policy
