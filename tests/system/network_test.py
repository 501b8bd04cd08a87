"""§66 §80 §82 §101-§117 §143 §147 §149 The managed network: real sockets, the real sandbox, real clients.

Runs itself in a network and mount namespace of its own, where public addresses live on the loopback and
/etc/hosts names them: nothing reaches or needs the internet.
"""
import array
import json
import os
import pty
import select
import shutil
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import http.server

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]
GATEHOUSE = os.path.join(BUILD, "gatehouse")
MARK = "GATEHOUSE_NETWORK_TEST_INSIDE"
PUBLIC, OTHER, V6 = "93.184.216.34", "93.184.216.35", "2606:2800:220:1::34"
HOSTS = f"""127.0.0.1 localhost
::1 localhost
{PUBLIC} ok.test www.ok.test
{OTHER} new.test denied.test
127.0.0.1 rebind.test
10.1.2.3 inner.test
{V6} six.test
{PUBLIC} both.test
100::1 both.test
"""


def enter_namespaces():
    """Executes this file again where the network is ours."""
    script = ("set -e; ip link set lo up; "
              f"for a in {PUBLIC} {OTHER} 10.1.2.3; do ip addr add $a/32 dev lo; done; "
              f"ip -6 addr add {V6}/128 dev lo nodad 2>/dev/null || true; "
              "mount --bind \"$1\" /etc/hosts; shift; exec \"$@\"")
    hosts = tempfile.NamedTemporaryFile("w", prefix="gatehouse-hosts-", delete=False)
    hosts.write(HOSTS)
    hosts.close()
    os.chmod(hosts.name, 0o644)
    os.environ[MARK] = hosts.name
    unshare = ["unshare", "--net", "--mount"] + ([] if os.getuid() == 0 else ["--user", "--map-root-user"])
    os.execvp("unshare", unshare + ["sh", "-c", script, "sh", hosts.name, sys.executable, "-B",
                                    os.path.abspath(__file__)] + sys.argv[1:])


def serve(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Threading6(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = []

    def do_GET(self):
        Page.seen.append((self.command, self.headers.get("Host"), self.path))
        body = b"page of " + self.headers.get("Host", "").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Page.seen.append((self.command, self.headers.get("Host"), data))
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *given):
        pass


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *given):
        pass


def make_certificates(folder):
    """A CA of our own, and a certificate for the names of this test."""
    def run(*argv, **more):
        subprocess.run(argv, check=True, cwd=folder, capture_output=True, **more)
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA")
    run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
        "key.pem", "-out", "req.pem", "-subj", "/CN=ok.test")
    with open(os.path.join(folder, "ext"), "w") as file:
        file.write("subjectAltName=DNS:ok.test,DNS:www.ok.test,DNS:new.test,DNS:six.test,DNS:both.test,DNS:localhost")
    run("openssl", "x509", "-req", "-in", "req.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
        "-out", "cert.pem", "-days", "2", "-extfile", "ext")


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="gatehouse-net-", dir="/var/tmp")
        cls.files = os.path.join(cls.base, "www")
        os.mkdir(cls.files)
        make_certificates(cls.base)
        cls.ca = os.path.join(cls.base, "ca.pem")
        cls.servers = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(cls.base, "cert.pem"), os.path.join(cls.base, "key.pem"))

        def handler(*given):
            return Files(*given, directory=cls.files)
        for address in (PUBLIC, OTHER, "127.0.0.1"):
            cls.servers.append(serve(http.server.ThreadingHTTPServer((address, 80), Page)))
        tls = http.server.ThreadingHTTPServer((PUBLIC, 443), handler)
        tls.socket = context.wrap_socket(tls.socket, server_side=True)
        cls.servers.append(serve(tls))
        other = http.server.ThreadingHTTPServer((OTHER, 443), Page)
        other.socket = context.wrap_socket(other.socket, server_side=True)
        cls.servers.append(serve(other))
        cls.servers.append(serve(http.server.ThreadingHTTPServer(("127.0.0.1", 18998), Page)))
        try:
            cls.servers.append(serve(Threading6((V6, 80), Page)))
            cls.has_v6 = True
        except OSError:
            cls.has_v6 = False

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.shutdown()
        shutil.rmtree(cls.base, ignore_errors=True)

    def setUp(self):
        Page.seen.clear()
        self.home = tempfile.mkdtemp(prefix="home-", dir=self.base)
        self.ws = tempfile.mkdtemp(prefix="ws-", dir=self.base)
        self.configure()

    def configure(self, domains=None, more="", ask="on-request"):
        domains = domains or {"ok.test": "allow", "*.ok.test": "allow", "denied.test": "deny",
                              "localhost:18998": "allow", "rebind.test": "allow", "six.test": "allow",
                              "both.test": "allow"}
        table = ", ".join(f'"{name}" = "{word}"' for name, word in domains.items())
        with open(os.path.join(self.home, "config.toml"), "w") as file:
            file.write(f'approval_policy = "{ask}"\ndefault_permissions = "net"\n[permissions.net]\n'
                       'extends = "workspace-write"\n[permissions.net.network]\nenabled = true\n'
                       f'domains = {{ {table} }}\n{more}\n')

    def environment(self):
        # The machine's own certificates and indexes would get between the clients and this test's.
        kept = {name: value for name, value in os.environ.items()
                if not any(word in name for word in ("CERT", "CA_BUNDLE", "CAINFO", "SSL", "PIP_", "NPM_", "npm_", "PROXY",
                                                     "proxy", "NODE_", "CARGO_", "RUSTUP_"))}
        return dict(kept, RUSTUP_HOME=os.path.expanduser("~/.rustup"), GATEHOUSE_HOME=self.home, HOME=self.home, XDG_STATE_HOME=self.home + "/state",
                    CA=self.ca, http_proxy="http://127.0.0.1:9", NO_PROXY="*")

    def run_it(self, script, *options, timeout_ms=60000):
        done = subprocess.run([GATEHOUSE, "run", "--json", "--timeout-ms", str(timeout_ms), *options, "--cwd",
                               self.ws, "--shell", script], env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=150)
        self.assertIn("{", done.stdout, done.stderr)
        return json.loads(done.stdout)

    def at_terminal(self, script, answers, *options):
        """Runs at a pseudo-terminal; `answers` are typed, one at each question."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(GATEHOUSE, [GATEHOUSE, "run", *options, "--cwd", self.ws, "--shell", script],
                      self.environment())
        text, waiting, questions = b"", list(answers), 0
        end = time.monotonic() + 100
        while time.monotonic() < end:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    part = os.read(fd, 65536)
                except OSError:
                    break
                if not part:
                    break
                text += part
            if text.count(b"gatehouse: approval needed") > questions and text.endswith(b"> ") and waiting:
                questions += 1
                time.sleep(0.05)
                os.write(fd, waiting.pop(0).encode() + b"\n")
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        return os.waitstatus_to_exitcode(status), text.decode(errors="replace")

    def blocked(self, report):
        return [(b["reason"], b["protocol"], b["host"], b["port"])
                for a in report["attempts"] for b in a.get("blocked_connections", [])]

    # --- what passes, what does not ------------------------------------------------------------------

    def test_66_143_allowed_hosts_pass_and_others_do_not(self):
        r = self.run_it('curl -sS http://ok.test/a; echo; curl -sS -x socks5h://127.0.0.1:3128 http://ok.test/b; echo;'
                        'curl -s http://denied.test/; exit 7')
        self.assertIn("page of ok.test\npage of ok.test\n", r["stdout"])
        self.assertIn("not a fault of the network", r["stdout"])
        self.assertEqual(self.blocked(r), [("denied_by_rule", "http", "denied.test", 80)])
        self.assertEqual(r["attempts"][0]["network"], "proxy_only")
        self.assertEqual(r["attempts"][0]["denied"]["kind"], "network")
        self.assertEqual({path for _, _, path in Page.seen}, {"/a", "/b"})

    def test_142_enabled_under_a_managed_proxy_is_no_direct_connection(self):
        r = self.run_it(f'curl -sS -m 5 --noproxy "*" http://{PUBLIC}/; echo $?; exit 1')
        self.assertEqual(Page.seen, [])
        self.assertIn(f"{PUBLIC}:80", json.dumps(r["attempts"][0]["denied"]))

    def test_143_BR080_local_addresses_need_their_own_grant_in_every_spelling(self):
        script = "".join(f"curl -s -o /dev/null -w '%{{http_code}} ' -x $http_proxy 'http://{host}/'; " for host in (
            "127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "localhost", "rebind.test", "169.254.169.254",
            "10.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "inner.test"))
        r = self.run_it(script)
        self.assertEqual(set(r["stdout"].split()), {"403"}, r["stdout"])
        self.assertEqual(Page.seen, [])
        r = self.run_it("curl -s --noproxy '*' http://127.0.0.1/; echo $?")
        self.assertEqual(r["stdout"].strip(), "7")
        self.assertEqual(Page.seen, [])

    def test_81_BR081_a_granted_local_service_is_reached_in_every_way(self):
        r = self.run_it('curl -sS http://localhost:18998/; echo; curl -sS --noproxy "*" http://127.0.0.1:18998/; echo;'
                        'python3 -c \'import urllib.request as u;print(u.urlopen("http://127.0.0.1:18998").status)\'')
        self.assertEqual(r["stdout"].split("\n")[:3], ["page of localhost:18998", "page of 127.0.0.1:18998", "200"])

    def test_143_BR083_six_and_a_dead_family(self):
        if not self.has_v6:
            self.skipTest("this kernel has no IPv6")
        begin = time.monotonic()
        r = self.run_it("curl -sS http://six.test/; echo; curl -sS http://both.test/")
        self.assertEqual(r["stdout"], "page of six.test\npage of both.test")
        self.assertLess(time.monotonic() - begin, 30)

    def test_143_the_tls_server_name_must_agree(self):
        r = self.run_it("curl -sS --cacert $CA --connect-to evil.test:443:ok.test:443 https://evil.test/; exit 1")
        self.assertEqual(self.blocked(r)[0][:3], ("names_disagree", "https", "ok.test"))

    def test_143_limited_mode(self):
        self.configure({"ok.test": "allow"}, 'mode = "limited"')
        r = self.run_it("curl -s -o /dev/null -w '%{http_code} ' http://ok.test/; curl -s -o /dev/null -w '%{http_code} '"
                        " -d x http://ok.test/; curl -s -o /dev/null -w '%{http_connect} ' --cacert $CA https://ok.test/")
        self.assertEqual(r["stdout"].split(), ["200", "403", "403"])
        self.assertEqual([s[0] for s in Page.seen], ["GET"])

    def test_82_nothing_else_gets_out(self):
        outside = socket.socket(socket.AF_UNIX)
        outside.bind("\0gatehouse-network-test")
        outside.listen()
        path = os.path.join(self.ws, "host.sock")
        by_path = socket.socket(socket.AF_UNIX)
        by_path.bind(path)
        by_path.listen()
        dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        dns.bind((PUBLIC, 53))
        dns.settimeout(0.2)
        probe = r'''
import socket, os
def attempt(name, act):
    try:
        act(); print(name, "OPEN")
    except OSError as e:
        print(name, "closed")
S = socket.socket
attempt("raw", lambda: S(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("raw6", lambda: S(socket.AF_INET6, socket.SOCK_RAW, 58))
attempt("packet", lambda: S(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt("udp", lambda: S(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("%(public)s", 53)))
attempt("udp6", lambda: S(socket.AF_INET6, socket.SOCK_DGRAM))
attempt("mptcp", lambda: S(socket.AF_INET, socket.SOCK_STREAM, 262))
attempt("sctp", lambda: S(socket.AF_INET, socket.SOCK_STREAM, 132))
attempt("vsock", lambda: S(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt("netlink", lambda: S(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("dns", lambda: socket.getaddrinfo("exfil.%%d.test" %% os.getpid(), 80))
attempt("v4", lambda: S().connect(("%(public)s", 80)))
attempt("v6", lambda: S(socket.AF_INET6).connect(("%(v6)s", 80)))
attempt("abstract", lambda: S(socket.AF_UNIX).connect("\0gatehouse-network-test"))
attempt("path", lambda: S(socket.AF_UNIX).connect("%(path)s"))
attempt("datagram", lambda: S(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("listen", lambda: (lambda s: (s.bind(("127.0.0.1", 0)), s.listen()))(S()))
attempt("proxy port", lambda: S().bind(("127.0.0.1", 3128)))
''' % {"public": PUBLIC, "v6": V6, "path": path}
        with open(os.path.join(self.ws, "probe.py"), "w") as file:
            file.write(probe)
        r = self.run_it("python3 probe.py")
        self.assertIn("raw closed", r["stdout"], r["stderr"])
        self.assertNotIn("OPEN", r["stdout"])
        with self.assertRaises(OSError):
            dns.recv(100)
        for s in (outside, by_path, dns):
            s.close()

    def test_143_BR077_no_name_is_looked_up_before_its_yes(self):
        # Every look-up would read /etc/hosts first: a name that stands there gives itself away by its answer.
        self.configure({"ok.test": "allow"}, ask="never")
        r = self.run_it("for h in rebind.test inner.test nowhere.test; do curl -s -o /dev/null -w '%{http_code} ' "
                        "http://$h/; done; getent hosts nowhere.test; exit 4")
        self.assertEqual(r["stdout"].split(), ["403"] * 3)
        self.assertEqual({b[0] for b in self.blocked(r)}, {"not_listed"})

    def test_86_BR076_BR082_local_binding_by_grant(self):
        server = ("python3 -m http.server 5999 --bind 127.0.0.1 >/dev/null 2>&1 & "
                  "for i in 1 2 3 4 5 6 7 8 9 10; do curl -s -o /dev/null http://127.0.0.1:5999/ && break; sleep 0.3; done; "
                  "curl -s -o /dev/null -w '%{http_code}' http://localhost:5999/; kill %1")
        self.assertEqual(self.run_it(server)["stdout"], "403")
        self.configure({"ok.test": "allow"}, "allow_local_binding = true")
        r = self.run_it(server + f"; curl -s -m 3 --noproxy '*' http://{PUBLIC}/; getent hosts k.invalid.test; echo $?")
        self.assertTrue(r["stdout"].startswith("200"), r["stdout"])
        self.assertEqual(Page.seen, [])

    # --- questions ------------------------------------------------------------------------------------

    def test_110_112_113_a_host_is_asked_about_once_and_the_command_goes_on(self):
        status, text = self.at_terminal("curl -sS http://new.test/1; curl -sS http://new.test/2; echo; echo end", "y",
                                        "--timeout-ms", "3000")
        self.assertEqual(status, 0, text)
        self.assertEqual(text.count("gatehouse: approval needed"), 1, text)
        self.assertIn("http://new.test:80", text)
        self.assertEqual([s[2] for s in Page.seen], ["/1", "/2"])

    def test_95_a_person_may_take_longer_than_the_command(self):
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(GATEHOUSE, [GATEHOUSE, "run", "--timeout-ms", "2500", "--cwd", self.ws, "--shell",
                                  "curl -sS http://new.test/slow"], self.environment())
        text, asked = b"", None
        while True:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    text += os.read(fd, 65536)
                except OSError:
                    break
            if asked is None and text.endswith(b"> "):
                asked = time.monotonic()
            if asked and time.monotonic() - asked > 4:
                os.write(fd, b"y\n")
                asked = float("inf")
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0, text)
        self.assertEqual(len(Page.seen), 1)

    def test_116_a_no_ends_the_process_and_says_why(self):
        status, text = self.at_terminal("curl -sS http://new.test/; sleep 60; echo never", "n")
        self.assertEqual(status, 125, text)
        self.assertNotIn("\nnever", text)
        self.assertIn("a reviewer refused this host", text)
        self.assertEqual(Page.seen, [])

    def test_113_BR092_always_is_kept_for_the_next_run(self):
        status, text = self.at_terminal("curl -sS http://new.test/", "r")
        self.assertEqual(status, 0, text)
        with open(os.path.join(self.home, "rules", "default.rules")) as file:
            self.assertIn('network_rule(host="new.test:80", protocol="http", decision="allow")', file.read())
        r = self.run_it("curl -sS http://new.test/; curl -s -o /dev/null -w '%{http_code}' http://new.test:8080/")
        self.assertEqual(r["stdout"], "page of new.test403")
        status, text = self.at_terminal("curl -sS --cacert $CA https://new.test/", "d")
        self.assertEqual(status, 125, text)
        r = self.run_it("curl -sS --cacert $CA https://new.test/; exit 1")
        self.assertEqual(self.blocked(r), [("denied_by_rule", "https", "new.test", 443)])

    def test_112_never_asks_nobody(self):
        self.configure(ask="never")
        status, text = self.at_terminal("curl -s http://new.test/; exit 5", "")
        self.assertEqual(status, 5, text)
        self.assertNotIn("gatehouse: approval needed", text)
        self.assertIn("the approval policy is never", text)

    def test_102_105_a_host_left_open_is_asked_about_for_a_second_attempt(self):
        status, text = self.at_terminal("curl -sS -m 2 http://new.test/again || exit 9", ["", "y"])
        self.assertEqual(status, 0, text)
        self.assertEqual([s[2] for s in Page.seen], ["/again"])

    def test_108_two_calls_at_once_are_told_apart(self):
        reports = {}

        def call(name, host):
            reports[name] = self.run_it(f"curl -s http://{host}/; curl -s http://ok.test/{name}; exit 3")
        threads = [threading.Thread(target=call, args=pair) for pair in
                   (("one", "denied.test"), ("two", "rebind.test"), ("three", "denied.test"))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(self.blocked(reports["one"]), [("denied_by_rule", "http", "denied.test", 80)])
        self.assertEqual(self.blocked(reports["two"]), [("local_address", "http", "rebind.test", 80)])
        self.assertEqual(self.blocked(reports["three"]), self.blocked(reports["one"]))
        ids = {b["call_id"] for r in reports.values() for a in r["attempts"] for b in a["blocked_connections"]}
        self.assertEqual(len(ids), 3)

    # --- clients --------------------------------------------------------------------------------------

    def need(self, program):
        found = shutil.which(program)
        if not found:
            self.skipTest(f"{program} is not installed")
        return found

    def page(self):
        with open(os.path.join(self.files, "f.txt"), "w") as file:
            file.write("by tls")

    def test_84_curl_and_wget(self):
        self.page()
        r = self.run_it("curl -sS --cacert $CA https://ok.test/f.txt; echo")
        self.assertEqual(r["stdout"], "by tls\n", r["stderr"])
        self.need("wget")
        r = self.run_it("wget -q --ca-certificate=$CA -O - https://ok.test/f.txt; wget -O - https://denied.test/; exit 1")
        self.assertEqual(r["stdout"], "by tls", r["stderr"])
        self.assertIn("Blocked by Gatehouse", r["stderr"])

    def test_84_git(self):
        self.need("git")
        repository = os.path.join(self.files, "repo")
        shutil.rmtree(repository, ignore_errors=True)
        run = lambda *a: subprocess.run(a, check=True, capture_output=True, env=dict(
            os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b"))
        run("git", "init", "-q", repository)
        run("git", "-C", repository, "commit", "-q", "--allow-empty", "-m", "first")
        run("git", "-C", repository, "update-server-info")
        r = self.run_it("git -c http.sslCAInfo=$CA clone -q https://ok.test/repo/.git out && git -C out log --oneline")
        self.assertIn("first", r["stdout"], r["stderr"])

    def test_84_python_and_pip(self):
        self.page()
        r = self.run_it("SSL_CERT_FILE=$CA python3 -c 'import urllib.request as u;"
                        "print(u.urlopen(\"https://ok.test/f.txt\").read().decode())'")
        self.assertEqual(r["stdout"], "by tls\n", r["stderr"])
        if subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True).returncode != 0:
            self.skipTest("pip is not installed")
        index = os.path.join(self.files, "simple", "tiny")
        os.makedirs(index, exist_ok=True)
        wheel = "tiny-1.0-py3-none-any.whl"
        import zipfile
        with zipfile.ZipFile(os.path.join(index, wheel), "w") as z:
            z.writestr("tiny.py", "x = 1\n")
            z.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
            z.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            z.writestr("tiny-1.0.dist-info/RECORD", "")
        with open(os.path.join(index, "index.html"), "w") as file:
            file.write(f'<a href="{wheel}">{wheel}</a>')
        r = self.run_it("python3 -m pip install -q --disable-pip-version-check --no-cache-dir --cert $CA "
                        "--index-url https://ok.test/simple/ --target out tiny && cat out/tiny.py")
        self.assertEqual(r["stdout"], "x = 1\n", r["stderr"])

    def test_84_npm(self):
        self.need("npm")
        folder = os.path.join(self.base, "package")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "package.json"), "w") as file:
            json.dump({"name": "tiny", "version": "1.0.0"}, file)
        subprocess.run(["tar", "-czf", os.path.join(self.files, "tiny.tgz"), "-C", self.base, "package"], check=True)
        r = self.run_it("npm install --cache ./c --no-audit --no-fund --no-update-notifier --cafile $CA "
                        "https://ok.test/tiny.tgz >/dev/null; cat node_modules/tiny/package.json")
        self.assertIn('"tiny"', r["stdout"], r["stderr"])

    def test_84_BR085_node(self):
        self.need("node")
        self.page()
        major = int(subprocess.run(["node", "--version"], capture_output=True, text=True).stdout[1:].split(".")[0])
        fetch = "node -e \"fetch('https://ok.test/f.txt').then(r=>r.text()).then(console.log,e=>{console.log(e.cause.code);process.exit(2)})\""
        r = self.run_it("NODE_EXTRA_CA_CERTS=$CA " + fetch)
        if major >= 24:
            self.assertEqual(r["stdout"], "by tls\n", r["stderr"])
        else:  # it reads no proxy variable: the denial says that it went past the proxy
            denied = r["attempts"][0]["denied"]
            self.assertEqual(denied["kind"], "network")
            self.assertIn("proxy", denied["entry"] + denied["remedy"])
            self.assertIn("NODE_USE_ENV_PROXY", denied["remedy"])

    def test_84_apt(self):
        self.need("apt-get")
        os.makedirs(os.path.join(self.base, "deb"), exist_ok=True)
        script = ("mkdir -p l/partial c/partial && echo 'deb [trusted=yes] http://ok.test/deb ./' > s.list && "
                  "apt-get -o Dir::Etc::SourceList=$PWD/s.list -o Dir::Etc::SourceParts=- -o Dir::State::Lists=$PWD/l "
                  "-o Dir::Cache=$PWD/c -o APT::Sandbox::User=root -o Acquire::Languages=none update")
        r = self.run_it(script)
        self.assertTrue(any(path.startswith("/deb/") for _, _, path in Page.seen), r["stderr"])

    def test_84_cargo(self):
        self.need("cargo")
        self.page()
        os.makedirs(os.path.join(self.files, "index"), exist_ok=True)
        with open(os.path.join(self.files, "index", "config.json"), "w") as file:
            file.write('{"dl":"https://ok.test/dl"}')
        with open(os.path.join(self.ws, "Cargo.toml"), "w") as file:
            file.write('[package]\nname="p"\nversion="0.1.0"\nedition="2021"\n[dependencies]\nnope={version="1",registry="r"}\n')
        os.makedirs(os.path.join(self.ws, "src"))
        open(os.path.join(self.ws, "src", "lib.rs"), "w").close()
        r = self.run_it("CARGO_HOME=$PWD/ch CARGO_HTTP_CAINFO=$CA CARGO_REGISTRIES_R_INDEX=sparse+https://ok.test/index/ "
                        "cargo generate-lockfile 2>&1; true")
        if "rustup" in r["stdout"]:
            self.skipTest("cargo has no toolchain here")
        # The index answered: the package is not in it.
        self.assertIn("no matching package", r["stdout"])

    def test_84_java(self):
        self.need("java")
        with open(os.path.join(self.ws, "Get.java"), "w") as file:
            file.write('import java.net.*; public class Get { public static void main(String[] a) throws Exception {'
                       'var c=(HttpURLConnection)new URL("http://ok.test/j").openConnection();'
                       'System.out.println(c.getResponseCode()); } }')
        r = self.run_it("java Get.java")
        if "compiler" in r["stderr"] and "not" in r["stderr"]:
            self.skipTest("java has no compiler here")
        self.assertIn("200", r["stdout"], r["stderr"])

    def test_143_BR090_a_server_that_speaks_first(self):
        self.configure({"ok.test:2222": "allow"})
        banner = socket.create_server((PUBLIC, 2222))

        def talk():
            c, _ = banner.accept()
            c.sendall(b"SSH-2.0-test\r\n")
            heard = b""
            while part := c.recv(100):
                heard += part
            c.sendall(b"heard " + heard)
            c.close()
        threading.Thread(target=talk, daemon=True).start()
        with open(os.path.join(self.ws, "t.py"), "w") as file:
            file.write('''import socket
s = socket.create_connection(("127.0.0.1", 3128))
s.sendall(b"CONNECT ok.test:2222 HTTP/1.1\\r\\nHost: ok.test:2222\\r\\n\\r\\n")
f = s.makefile("rb")
while f.readline() != b"\\r\\n": pass
print(f.readline())
s.sendall(b"hi"); s.shutdown(socket.SHUT_WR)
print(f.read())
''')
        r = self.run_it("python3 t.py")
        self.assertEqual(r["stdout"], "b'SSH-2.0-test\\r\\n'\nb'heard hi'\n", r["stderr"])
        banner.close()

    def test_82_gatehouse_sandbox_has_no_proxy_and_so_no_network(self):
        done = subprocess.run([GATEHOUSE, "sandbox", "--cwd", self.ws, "--", "curl", "-s", "-m", "5", "http://ok.test/"],
                              env=self.environment(), capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("managed", done.stderr)
        self.assertEqual(Page.seen, [])


if __name__ == "__main__":
    if MARK not in os.environ:
        if not shutil.which("unshare") or not shutil.which("ip"):
            print("skipped: needs unshare (util-linux) and ip (iproute2)")
            sys.exit(77)
        enter_namespaces()
    try:
        unittest.main()
    finally:
        os.unlink(os.environ[MARK])
