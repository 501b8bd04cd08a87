"""A managed network to test: a network and mount namespace of its own, where public addresses live on the
loopback and /etc/hosts names them. Nothing reaches or needs the internet.
"""
import json
import os
import pty
import select
import shutil
import socket
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
    """Executes the running test again where the network is ours."""
    script = ("set -e; ip link set lo up; "
              f"for a in {PUBLIC} {OTHER} 10.1.2.3; do ip addr add $a/32 dev lo; done; "
              f"ip -6 addr add {V6}/128 dev lo nodad 2>/dev/null || true; "
              # A minimal system has no such files to mount over.
              "[ -e /etc/hosts ] && [ -e /etc/resolv.conf ] || { mount -t tmpfs t /mnt; cp -a /etc/. /mnt; "
              "touch /mnt/hosts /mnt/resolv.conf; mount --bind /mnt /etc; umount /mnt; }; "
              "mount --bind \"$1\" /etc/hosts; mount --bind \"$2\" /etc/resolv.conf; shift 2; exec \"$@\"")
    files = []
    # Nobody answers on that address, unless a test does.
    for text in (HOSTS, "nameserver 10.1.2.3\n"):
        file = tempfile.NamedTemporaryFile("w", prefix="gatehouse-etc-", delete=False)
        file.write(text)
        file.close()
        os.chmod(file.name, 0o644)
        files.append(file.name)
    os.environ[MARK] = ":".join(files)
    unshare = ["unshare", "--net", "--mount"] + ([] if os.getuid() == 0 else ["--user", "--map-root-user"])
    os.execvp("unshare", unshare + ["sh", "-c", script, "sh", *files, sys.executable, "-B",
                                    os.path.abspath(sys.argv[0])] + sys.argv[1:])


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

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass  # the client has gone


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

    def at_terminal(self, script, answers, *options, ready=lambda: True):
        """Runs at a pseudo-terminal; `answers` are typed, one at each question, when `ready` says so."""
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
            if text.count(b"gatehouse: approval needed") > questions and text.endswith(b"> ") and waiting and ready():
                questions += 1
                time.sleep(0.05)
                os.write(fd, waiting.pop(0).encode() + b"\n")
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        return os.waitstatus_to_exitcode(status), text.decode(errors="replace")

    def blocked(self, report):
        return [(b["reason"], b["protocol"], b["host"], b["port"])
                for a in report["attempts"] for b in a.get("blocked_connections", [])]

    def need(self, program):
        found = shutil.which(program)
        if not found:
            self.skipTest(f"{program} is not installed")
        return found

    def page(self):
        with open(os.path.join(self.files, "f.txt"), "w") as file:
            file.write("by tls")


def main():
    """What each file of these tests runs: itself again inside the namespaces, then its tests."""
    if MARK not in os.environ:
        if not shutil.which("unshare") or not shutil.which("ip"):
            print("skipped: needs unshare (util-linux) and ip (iproute2)")
            sys.exit(77)
        enter_namespaces()
    try:
        unittest.main()
    finally:
        for name in os.environ[MARK].split(":"):
            os.unlink(name)
