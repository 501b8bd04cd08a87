#include "sandbox/doctor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <functional>

using namespace gatehouse::sandbox;

namespace {

host_findings good_host() {
  host_findings f;
  f.kernel_release = "6.12.0-1-amd64";
  f.kernel_version_text = "Linux version 6.12.0-1-amd64 (debian)";
  f.bwrap_path = "/usr/bin/bwrap";
  f.bwrap_version = "bubblewrap 0.8.0";
  f.max_user_namespaces = 9000;
  f.landlock_abi = 7;
  f.ptrace_scope = 1;
  f.boundary = host_findings::trial::held;
  return f;
}

const doctor_check& check_of(const doctor_report& report, std::string_view name) {
  return *std::find_if(report.checks.begin(), report.checks.end(),
                       [&](const doctor_check& c) { return c.name == name; });
}

} // namespace

TEST_SUITE("sandbox.doctor") {
  TEST_CASE("§92c a host that lacks nothing gets no advice") {
    const auto report = diagnose(good_host());
    CHECK(report.enforced());
    for (const auto& check : report.checks) {
      CHECK_MESSAGE(check.state == check_state::ok, check.name);
      CHECK(check.remedy.empty());
    }
  }

  TEST_CASE("BR-074 Windows programs that WSL can start are named, and only on WSL") {
    auto host = good_host();
    host.wsl_interop = true;
    const auto report = diagnose(host);
    CHECK(check_of(report, "wsl_interop").state == check_state::warning);
    CHECK(check_of(report, "wsl_interop").remedy.find("/etc/wsl.conf") != std::string::npos);
    CHECK(report.enforced());
    host.wsl_interop = false;
    CHECK(check_of(diagnose(host), "wsl_interop").state == check_state::ok);
  }

  TEST_CASE("§92c §84 each gap is named and comes with its fix") {
    struct gap {
      const char* check;
      check_state state;
      const char* remedy;
      std::function<void(host_findings&)> make;
    };
    const auto failed = check_state::failed, warning = check_state::warning;
    const gap gaps[] = {
        {"kernel", failed, "wsl --set-version",
         [](auto& f) { f.kernel_version_text = "Linux version 4.4.0-19041-Microsoft"; }},
        {"kernel", failed, "5.14", [](auto& f) { f.kernel_release = "5.10.0"; }},
        {"bubblewrap", failed, "apt-get install bubblewrap",
         [](auto& f) { f.bwrap_path.clear(), f.bwrap_missing = "none"; }},
        {"bubblewrap", failed, "0.8", [](auto& f) { f.bwrap_version = "bubblewrap 0.4.1"; }},
        {"bubblewrap", warning, "chmod u-s /usr/bin/bwrap", [](auto& f) { f.bwrap_setuid = true; }},
        {"user_namespaces", failed, "user.max_user_namespaces=15000",
         [](auto& f) { f.user_namespace_error = ENOSPC, f.max_user_namespaces = 0; }},
        {"user_namespaces", failed, "unprivileged_userns_clone=1",
         [](auto& f) { f.user_namespace_error = EPERM, f.unprivileged_userns_clone = 0; }},
        {"user_namespaces", failed, "AppArmor",
         [](auto& f) { f.user_namespace_error = EACCES, f.apparmor_restricts_namespaces = 1; }},
        {"user_namespaces", failed, "container", [](auto& f) { f.user_namespace_error = EPERM; }},
        {"user_namespaces", warning, "AppArmor",
         [](auto& f) { f.is_root = true, f.apparmor_restricts_namespaces = 1; }},
        {"network_namespaces", failed, "user.max_net_namespaces",
         [](auto& f) { f.network_namespace_error = EPERM; }},
        {"view", failed, "systempaths=unconfined",
         [](auto& f) { f.view_complaint = "bwrap: Can't mount proc on /newroot/proc: "; }},
        {"filter", failed, "CONFIG_SECCOMP_FILTER", [](auto& f) { f.filter_error = EINVAL; }},
        {"landlock", warning, "lsm=", [](auto& f) { f.landlock_abi = 0; }},
        {"landlock", warning, "6.2", [](auto& f) { f.landlock_abi = 2; }},
        {"landlock", warning, "6.12", [](auto& f) { f.landlock_abi = 5; }},
        {"ptrace_scope", failed, "2 or less", [](auto& f) { f.ptrace_scope = 3; }},
        {"boundary", failed, "do not run commands here",
         [](auto& f) {
           f.boundary = host_findings::trial::broken;
           f.boundary_complaint = "wrote where it must not";
         }},
        {"boundary", failed, "mend what failed above",
         [](auto& f) { f.boundary = host_findings::trial::did_not_run; }},
    };
    for (const auto& one : gaps) {
      auto findings = good_host();
      one.make(findings);
      const auto report = diagnose(findings);
      const auto& check = check_of(report, one.check);
      CAPTURE(check.found);
      CHECK(check.state == one.state);
      CHECK(check.remedy.find(one.remedy) != std::string::npos);
      CHECK(report.enforced() == (one.state == warning));
    }
  }

  TEST_CASE("BR-050 a setuid bubblewrap that can be steered is named as such") {
    auto findings = good_host();
    findings.bwrap_setuid = true;
    for (const auto& [version, steerable] :
         {std::pair{"bubblewrap 0.10.9", false}, std::pair{"bubblewrap 0.11.0", true},
          std::pair{"bubblewrap 0.11.1", true}, std::pair{"bubblewrap 0.11.2", false}}) {
      findings.bwrap_version = version;
      const auto report = diagnose(findings);
      const auto& check = check_of(report, "bubblewrap");
      CAPTURE(findings.bwrap_version);
      CHECK((check.found.find("CVE-2026-41163") != std::string::npos) == steerable);
    }
  }

  TEST_CASE("§84 WSL 1 is told from WSL 2 by the generation, else by the kernel's name") {
    CHECK(is_wsl1("Linux version 4.4.0-22621-Microsoft (Microsoft@Microsoft.com)"));
    CHECK(is_wsl1("Linux version 4.4.0 WSL1"));
    CHECK_FALSE(is_wsl1("Linux version 5.15.90.1-microsoft-standard-WSL2"));
    CHECK_FALSE(is_wsl1("Linux version 5.15.90.1-microsoft-standard"));
    CHECK_FALSE(is_wsl1("Linux version 6.1.0-13-amd64 (debian-kernel@lists.debian.org)"));
    CHECK_FALSE(is_wsl1(""));
  }

  TEST_CASE("the JSON form is one line and survives words that are no UTF-8") {
    auto findings = good_host();
    findings.bwrap_version = "bubblewrap 0.8.0 \xff\"";
    const auto json = doctor_json(diagnose(findings));
    CHECK(json.starts_with(R"({"enforced":true,"checks":[{"name":"kernel","state":"ok")"));
    CHECK(json.find("0.8.0 \xef\xbf\xbd\\\"") != std::string::npos);
    CHECK(std::count(json.begin(), json.end(), '\n') == 1);
    CHECK(doctor_text(diagnose(findings)).find("can be sandboxed") != std::string::npos);
  }
}
