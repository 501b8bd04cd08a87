#include "sandbox/seatbelt/base_policy.hpp"

namespace gatehouse::sandbox {

std::string_view seatbelt_base_policy() noexcept {
  return R"((version 1)
(deny default)

; processes
(allow process-exec)
(allow process-fork)
(allow file-map-executable)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))

; standard devices
(allow file-read* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random")
  (literal "/dev/urandom"))
(allow file-write-data (require-all (literal "/dev/null") (vnode-type CHARACTER-DEVICE)))
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* (require-all (regex "^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-ioctl (regex "^/dev/ttys[0-9]+$"))
(allow pseudo-tty)

; questions about the machine
(allow sysctl-read
  (sysctl-name "hw.activecpu") (sysctl-name "hw.byteorder") (sysctl-name "hw.cacheconfig")
  (sysctl-name "hw.cachelinesize_compat") (sysctl-name "hw.cpufamily") (sysctl-name "hw.cputype")
  (sysctl-name "hw.logicalcpu") (sysctl-name "hw.logicalcpu_max") (sysctl-name "hw.machine")
  (sysctl-name "hw.memsize") (sysctl-name "hw.model") (sysctl-name "hw.ncpu")
  (sysctl-name "hw.nperflevels") (sysctl-name "hw.packages") (sysctl-name "hw.pagesize")
  (sysctl-name "hw.pagesize_compat") (sysctl-name "hw.physicalcpu")
  (sysctl-name "hw.physicalcpu_max") (sysctl-name "hw.vectorunit")
  (sysctl-name-prefix "hw.optional.arm.") (sysctl-name-prefix "hw.optional.armv8_")
  (sysctl-name-prefix "hw.perflevel")
  (sysctl-name "machdep.cpu.brand_string")
  (sysctl-name "kern.argmax") (sysctl-name "kern.hostname") (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.maxproc") (sysctl-name "kern.osproductversion") (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype") (sysctl-name "kern.osversion") (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version") (sysctl-name-prefix "kern.proc.pgrp.")
  (sysctl-name-prefix "kern.proc.pid.") (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "vm.loadavg"))
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.PowerManagement.control"))
(allow ipc-posix-sem)
)";
}

std::string_view seatbelt_minimal_policy() noexcept {
  return R"(
; what :minimal means here beside its paths
(allow file-read*
  (subpath "/System/Library") (subpath "/System/Volumes/Preboot/Cryptexes/OS")
  (subpath "/Library/Apple") (subpath "/private/etc") (subpath "/private/var/db/timezone")
  (subpath "/private/var/db/dyld"))
)";
}

std::string_view seatbelt_network_services() noexcept {
  return R"((allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.networkd")
  (global-name "com.apple.ocspd")
  (global-name "com.apple.trustd.agent")
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.SystemConfiguration.configd"))
(allow sysctl-read (sysctl-name-prefix "net.routetable"))
)";
}

} // namespace gatehouse::sandbox
