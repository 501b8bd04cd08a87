#include "sandbox/classify_denial.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <set>
#include <string>

using namespace gatehouse;
using namespace gatehouse::sandbox;

namespace {

policy::access_context context() {
  policy::access_context c;
  c.cwd = "/w";
  c.project_roots = {"/w"};
  c.tmpdir = "/t";
  c.protected_names = policy::default_protected_names();
  return c;
}

permission_profile workspace(std::vector<profile_entry> more = {}) {
  auto p = workspace_write_profile();
  p.file_system.entries.insert(p.file_system.entries.end(), more.begin(), more.end());
  return p;
}

denial_evidence failed(std::string_view stderr_text, int exit_code = 1) {
  denial_evidence e;
  e.exit_code = exit_code;
  e.cwd = "/w";
  e.argv = {"bash", "-c", "./do"};
  e.stderr_tail = stderr_text;
  return e;
}

std::optional<denial> judge(const denial_evidence& e, const permission_profile& p = workspace()) {
  return classify_denial(p, context(), e);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_SUITE("sandbox.classify_denial") {
  TEST_CASE("§97 signal and time-out come first, success is never a denial") {
    const auto words = "touch: cannot touch '/usr/x': Read-only file system";
    CHECK(judge(failed(words)).has_value());
    auto e = failed(words);
    e.timed_out = true;
    CHECK_FALSE(judge(e).has_value());
    e = failed(words);
    e.signal = SIGKILL;
    CHECK_FALSE(judge(e).has_value());
    e = failed(words, 0);
    e.observed = {{denial_kind::file_write, "/w/.git", {}, "protected name `.git`", {}}};
    CHECK_FALSE(judge(e).has_value());
    CHECK_FALSE(judge(failed(words), danger_full_access_profile()).has_value());
  }

  TEST_CASE("§99 2, 126 and 127 alone are no denials, 128+SIGSYS is") {
    for (int code : {1, 2, 126, 127})
      CHECK_FALSE(judge(failed("", code)).has_value());
    CHECK_FALSE(judge(failed("bash: line 1: ./x: Permission denied", 126)).has_value());
    const auto d = judge(failed("", 128 + SIGSYS));
    REQUIRE(d.has_value());
    CHECK(d->kind == denial_kind::system_call);
    CHECK(has(d->remedy, "require_escalated"));
    const auto denying = workspace({{literal_path{"/w/k"}, access::deny, false}});
    CHECK_FALSE(has(judge(failed("", 128 + SIGSYS), denying)->remedy, "require_escalated"));
  }

  TEST_CASE("§98 §92b the words of real tools name the path that was refused") {
    struct row {
      const char* text;
      const char* path;
      int code = 1;
    };
    const row rows[] = {
        {"/bin/bash: line 1: /srv/newf: Read-only file system", "/srv/newf"},
        {"sh: 1: cannot create /srv/x: Read-only file system", "/srv/x", 2},
        {"mkdir: cannot create directory ‘/srv/d’: Read-only file system", "/srv/d"},
        {"touch: cannot touch '/usr/x': Read-only file system", "/usr/x"},
        {"cp: cannot create regular file '/usr/a b': Read-only file system", "/usr/a b"},
        {"tee: /etc/x: Read-only file system", "/etc/x"},
        {"mv: cannot move '.git' to '.git2': Device or resource busy", "/w/.git"},
        {"rm: cannot remove '/etc/hosts': Read-only file system", "/etc/hosts"},
        {"fatal: Unable to create '/w/.git/index.lock': Read-only file system",
         "/w/.git/index.lock", 128},
        {"error: could not lock config file .git/config: Read-only file system", "/w/.git/config"},
        {"PermissionError: [Errno 1] Operation not permitted: '/w/.codex'", "/w/.codex"},
        {"Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nOSError: "
         "[Errno "
         "30] Read-only file system: '/usr/lib/x.py'",
         "/usr/lib/x.py"},
        {"npm ERR! code EROFS\nnpm ERR! EROFS: read-only file system, mkdir "
         "'/usr/lib/node_modules/x'",
         "/usr/lib/node_modules/x"},
        {"open /etc/app.conf: read-only file system", "/etc/app.conf"},
        {"error: failed to write `/srv/Cargo.lock`\n\nCaused by:\n  Read-only file system (os "
         "error 30)",
         "/srv/Cargo.lock", 101},
        {"java.io.FileNotFoundException: /srv/out.log (Read-only file system)", "/srv/out.log"},
        {"/usr/bin/ld: cannot open output file ../a.out: Read-only file system", "/a.out"},
        {"tar: /srv/x: Cannot open: Read-only file system", "/srv/x", 2},
        {"tar: /srv/my file: Cannot mkdir: Read-only file system", "/srv/my file", 2},
        {"tar: .git/config: Cannot open: File exists", "/w/.git/config", 2},
        {"/srv/deep resides on a read-only file system.\ncurl: (23) Failed writing received data "
         "to "
         "disk/application",
         "/srv/deep", 23},
        {"sed: couldn't open temporary file /etc/sedAbC: Read-only file system", "/etc/sedAbC", 4},
        {"mktemp: failed to create file via template ‘/run/tmp.XXXXXXXXXX’: Read-only file system",
         "/run/tmp.XXXXXXXXXX"},
        {"make: *** [Makefile:2: all] Error 1\ntouch: cannot touch '../up': Read-only file system",
         "/up", 2},
    };
    for (const auto& r : rows) {
      CAPTURE(r.text);
      const auto d = judge(failed(r.text, r.code));
      REQUIRE(d.has_value());
      CHECK(d->kind == denial_kind::file_write);
      CHECK(d->path == r.path);
      CHECK_FALSE(d->entry.empty());
      CHECK(has(d->remedy, "with_additional_permissions"));
    }
  }

  TEST_CASE("§92b of a program that names no path, the place where it was to write is named") {
    struct row {
      std::vector<std::string> argv;
      const char* words;
      const char* path;
    };
    const char* curl = "curl: (23) Failure writing output to destination";
    const char* tar = "tar: f: Cannot open: Read-only file system";
    const std::vector<row> rows = {
        {{"curl", "-sS", "-o", "/srv/x", "https://h/y"}, curl, "/srv/x"},
        {{"curl", "-so/srv/x", "https://h/y"}, curl, "/srv/x"},
        {{"curl", "--output=/srv/x", "https://h/y"}, curl, "/srv/x"},
        {{"curl", "-o", ".git/hooks/pre-commit", "https://h/y"}, curl, "/w/.git/hooks/pre-commit"},
        {{"bash", "-c", "cd /srv && curl -sSO https://h/d/y.tgz?v=1"}, curl, "/srv/y.tgz"},
        {{"bash", "-c", "curl -o '/srv/x' https://h/y; exit 23"}, curl, "/srv/x"},
        {{"tar", "xf", "a.tar", "-C", "/srv"}, tar, "/srv/f"},
        {{"bash", "-c", "cd /srv; tar xf /w/a.tar"}, tar, "/srv/f"},
    };
    for (const auto& r : rows) {
      CAPTURE(r.argv.back());
      auto e = failed(r.words, 23);
      e.argv = r.argv;
      e.look = [](std::string_view path) {
        return path_fact{
            path == "/srv" ? path_kind::directory : path_kind::missing, std::string{path}, "/", {}};
      };
      const auto d = judge(e);
      REQUIRE(d.has_value());
      CHECK(d->path == r.path);
    }
    auto elsewhere = failed(curl, 23);
    elsewhere.argv = {"bash", "-c", "ls /srv; curl -o x https://h/y"};
    CHECK_FALSE(judge(elsewhere).has_value());
    elsewhere.argv = {"bash", "-c", "cat /srv/x; curl https://h/y | head -1"};
    CHECK_FALSE(judge(elsewhere).has_value());
  }

  TEST_CASE("§92b a denied read is attributed to the entry that denies, and cannot be asked away") {
    const auto p = workspace({{glob_path{"**/*.env"}, access::deny, false}});
    const auto d = judge(failed("cat: .env: Permission denied"), p);
    REQUIRE(d.has_value());
    CHECK(d->kind == denial_kind::file_read);
    CHECK(d->path == "/w/.env");
    CHECK(d->entry == "`**/*.env` deny");
    CHECK_FALSE(has(d->remedy, "additional_permissions"));
    CHECK(has(d->remedy, "no request"));
  }

  TEST_CASE("§92b §79 what an empty view hides is a denial where the host has it") {
    permission_profile p;
    p.file_system.entries = {{literal_path{"/w"}, access::write, false}};
    auto e = failed("cat: /srv/data: No such file or directory");
    CHECK_FALSE(judge(e, p).has_value());
    e.look = [](std::string_view path) {
      return path == "/srv/data" ? path_fact{path_kind::file, std::string{path}, {}, {}}
                                 : path_fact{path_kind::missing, std::string{path}, "/", {}};
    };
    const auto d = judge(e, p);
    REQUIRE(d.has_value());
    CHECK(d->kind == denial_kind::file_read);
    CHECK(d->entry == "no entry");
    CHECK(has(d->remedy, R"({"file_system":{"read":["/srv/data"]}})"));
    e.stderr_tail = "cat: /srv/none: No such file or directory";
    CHECK_FALSE(judge(e, p).has_value());
  }

  TEST_CASE("§D10 words about what the boundary allows are a failure of the command") {
    for (const char* text :
         {"sandbox", "permission denied", "Permission denied", "Read-only file system",
          "error: seccomp, landlock and sandbox tests failed",
          "cat: /etc/shadow: Permission denied", "/bin/bash: line 1: /w/f: Permission denied",
          "failed to write file", "chown: changing ownership of 'f': Operation not permitted",
          "ERROR: permission denied for relation users", "umount: /w/x: Device or resource busy",
          "git@host: Permission denied (publickey)."}) {
      CAPTURE(text);
      CHECK_FALSE(judge(failed(text)).has_value());
    }
  }

  TEST_CASE("§D10 words that the command itself was given to print prove nothing") {
    auto e = failed("/srv/x: Read-only file system");
    e.argv = {"bash", "-c", "echo '/srv/x: Read-only file system' >&2; exit 1"};
    CHECK_FALSE(judge(e).has_value());
    e = failed("touch: '/srv/x': Read-only file system");
    e.argv = {"grep", "Read-only file system", "log"};
    CHECK_FALSE(judge(e).has_value());
    e = failed("curl: (6) Could not resolve host: example.org", 6);
    e.argv = {"bash", "-c", "echo 'curl: (6) Could not resolve host: example.org' >&2; exit 6"};
    CHECK_FALSE(judge(e).has_value());
  }

  TEST_CASE("§92b words of a program that was called are a refusal, whatever else was printed") {
    auto e = failed("touch: /etc/fake: Read-only file system\n"
                    "touch: cannot touch '.git/q': Read-only file system");
    e.argv = {"sh", "-c", "echo 'touch: /etc/fake: Read-only file system' >&2; touch .git/q"};
    const auto d = judge(e);
    REQUIRE(d.has_value());
    CHECK(d->path == "/w/.git/q");
    e = failed("ln: failed to create hard link 'q' => '.git/config': Invalid cross-device link");
    CHECK(judge(e).has_value());
    e = failed("ln: failed to create hard link 'q' => '/etc/hosts': Invalid cross-device link");
    CHECK_FALSE(judge(e).has_value());
  }

  TEST_CASE("§D10 what was observed is proof without any words") {
    auto e = failed("");
    e.observed = {{denial_kind::file_write, "/w/.codex", {}, "protected name `.codex`", {}}};
    const auto d = judge(e);
    REQUIRE(d.has_value());
    CHECK(d->path == "/w/.codex");
    CHECK(d->entry == "protected name `.codex`");
    CHECK(has(d->remedy, R"({"file_system":{"write":["/w/.codex"]}})"));
    CHECK(has(d->remedy, "protected"));
  }

  TEST_CASE("§92b of several refusals the one that the command complains about is reported") {
    auto e = failed("boom: cannot make .vscode");
    e.observed = {{denial_kind::file_write, "/w/.vscode", {}, "a", {}},
                  {denial_kind::file_write, "/w/.codex", {}, "b", {}}};
    CHECK(judge(e)->path == "/w/.vscode");
    e.stderr_tail = "";
    CHECK(judge(e)->path == "/w/.codex");
  }

  TEST_CASE("§D10 a service that the C library asks in passing is not what failed") {
    auto e = failed("ls: cannot access 'x': No such file or directory", 2);
    e.observed = {{denial_kind::network, "/var/run/nscd/socket", {}, "unix sockets", {}}};
    CHECK_FALSE(judge(e).has_value());
    e.observed.push_back({denial_kind::network, "/run/docker.sock", {}, "unix sockets", {}});
    const auto d = judge(e);
    REQUIRE(d.has_value());
    CHECK(d->path == "/run/docker.sock");
    CHECK(has(d->remedy, R"({"write":["/run/docker.sock"]})"));
  }

  TEST_CASE("§92b a refused connection names its host") {
    struct row {
      const char* text;
      const char* host;
    };
    const row rows[] = {
        {"curl: (6) Could not resolve host: example.org", "example.org"},
        {"ssh: Could not resolve hostname github.com: Temporary failure in name resolution",
         "github.com"},
        {"wget: unable to resolve host address ‘mirror.example.net’", "mirror.example.net"},
        {"npm ERR! request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN "
         "registry.npmjs.org",
         "registry.npmjs.org"},
        {"dial tcp: lookup proxy.golang.org: Temporary failure in name resolution",
         "proxy.golang.org"},
        {"fatal: unable to access 'https://x.example/r.git/': Could not resolve host: X.example",
         "x.example"},
    };
    for (const auto& r : rows) {
      CAPTURE(r.text);
      const auto d = judge(failed(r.text));
      REQUIRE(d.has_value());
      CHECK(d->kind == denial_kind::network);
      CHECK(d->host == r.host);
      CHECK(d->entry == "network restricted");
      CHECK(has(d->remedy, R"({"network":{"enabled":true}})"));
    }
  }

  TEST_CASE("§92b where the words name no host the command line does") {
    auto e = failed("ping: socket: Operation not permitted", 2);
    e.argv = {"bash", "-lc", "curl -s https://u:p@Example.org:8443/x | jq ."};
    CHECK(judge(e)->host == "example.org:8443");
    e = failed("");
    e.argv = {"git", "clone", "git@github.com:a/b.git"};
    e.observed = {{denial_kind::network, {}, {}, {}, {}}};
    CHECK(judge(e)->host == "github.com");
  }

  TEST_CASE("§66 words about the network count only where the network is isolated") {
    auto e = failed("curl: (6) Could not resolve host: nowhere.invalid", 6);
    e.network = network_mode::full;
    CHECK_FALSE(judge(e).has_value());
    e.network = network_mode::proxy_only;
    CHECK_FALSE(judge(e).has_value());
    e.observed = {{denial_kind::network, {}, "evil.example:443", {}, {}}};
    const auto d = judge(e);
    REQUIRE(d.has_value());
    CHECK(d->host == "evil.example:443");
    CHECK_FALSE(has(d->remedy, "additional_permissions"));
  }

  TEST_CASE("§92b BR-116 for git's own files the request opens git, but not what it executes") {
    const auto d =
        judge(failed("fatal: Unable to create '/w/.git/index.lock': Read-only file system", 128));
    REQUIRE(d.has_value());
    CHECK(has(d->remedy, R"("write":["/w/.git"])"));
    for (const auto* kept : {"config", "hooks", "info", "commondir", "modules"})
      CHECK(has(d->remedy.substr(0, d->remedy.find("\"write\"")),
                "\"/w/.git/" + std::string{kept} + "\""));
  }

  TEST_CASE(
      "§92b BR-115 BR-208 the remedy names a folder that exists and what is writable already") {
    auto e = failed("touch: cannot touch '/srv/a/b/f': Read-only file system");
    e.look = [](std::string_view path) {
      return path_fact{path_kind::missing, std::string{path}, "/srv/a", {}};
    };
    const auto d = judge(e);
    REQUIRE(d.has_value());
    CHECK(d->path == "/srv/a/b/f");
    CHECK(has(d->remedy, R"({"write":["/srv/a"]})"));
    CHECK(has(d->remedy, "/w, /t, /tmp"));
  }

  TEST_CASE("BR-045 a link is judged by what it leads to") {
    auto e = failed("/bin/bash: line 1: lnk/f: Read-only file system");
    CHECK_FALSE(judge(e).has_value());
    e.look = [](std::string_view path) {
      return path_fact{path_kind::file, path == "/w/lnk/f" ? "/srv/f" : std::string{path}, {}, {}};
    };
    CHECK(judge(e)->path == "/srv/f");
  }

  TEST_CASE("§83 without mounts a refused write has the words of a missing permission") {
    auto e = failed("tee: /etc/x: Permission denied");
    CHECK_FALSE(judge(e).has_value());
    e.backend = sandbox_backend::landlock;
    CHECK(judge(e)->kind == denial_kind::file_write);
    e.exit_code = 126;
    CHECK_FALSE(judge(e).has_value());
  }

  TEST_CASE("words on standard output count when standard error has none") {
    auto e = failed("");
    e.stdout_tail = "Error: EROFS: read-only file system, open '/opt/x'";
    CHECK(judge(e)->path == "/opt/x");
  }

  TEST_CASE("a flood of words ends, and the last ones are heard") {
    std::string flood;
    for (int i = 0; i < 20000; ++i)
      flood += "cat: /w/x: Permission denied '\"`‘\n";
    flood += std::string(100'000, '\'') + "\n";
    flood += "touch: cannot touch '/usr/x': Read-only file system\n";
    CHECK(judge(failed(flood))->path == "/usr/x");
  }
}
