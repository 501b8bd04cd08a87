"""§66 §80 §82 §101-§117 §143 §147 §149 The managed network: real sockets, the real sandbox, real questions."""
import json
import os
import pty
import select
import socket
import subprocess
import threading
import time
import unittest

from network_support import GATEHOUSE, PUBLIC, V6, Network, Page, main
from run_case import GRACE_S


class ManagedNetwork(Network):
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

    def test_81_BR081_a_port_granted_by_its_address_is_reached_directly_and_named_as_asked(self):
        direct = 'curl -sS -m 5 --noproxy "*" http://127.0.0.1:18998/ http://localhost:18998/; echo; exit 3'
        self.configure({"127.0.0.1:18998": "allow"})
        r = self.run_it(direct)
        self.assertEqual(r["stdout"].strip(), "page of 127.0.0.1:18998page of localhost:18998")
        self.configure({"[::1]:18998": "allow"})
        r = self.run_it(direct)  # nothing of this machine listens there
        self.assertEqual((r["stdout"].strip(), self.blocked(r)), ("", []))
        self.configure({"127.0.0.1:18998": "prompt"}, ask="never")
        self.assertEqual({b[2:] for b in self.blocked(self.run_it(direct))}, {("127.0.0.1", 18998)})

    def test_143_an_upload_of_any_size_passes_and_a_half_closed_client_gets_its_answer(self):
        r = self.run_it("head -c 1000000 /dev/zero > z; curl -sS -o /dev/null -w '%{http_code} %{size_upload} ' "
                        "--data-binary @z http://ok.test/; curl -sS -p -x http://127.0.0.1:3128 -o /dev/null "
                        "-w '%{http_code} ' --data-binary @z http://ok.test/; python3 -c \"import socket; "
                        "s = socket.create_connection(('127.0.0.1', 3128)); "
                        "s.sendall(b'GET http://ok.test/h HTTP/1.1\\r\\nHost: ok.test\\r\\n\\r\\n'); "
                        "s.shutdown(1); print(s.makefile().read().split()[1])\"")
        self.assertEqual(r["stdout"].split(), ["200", "1000000", "200", "200"], r["stderr"])

    def test_143_a_request_inside_a_tunnel_must_name_the_host_that_was_asked_for(self):
        r = self.run_it("for p in 'http -p' socks5h; do curl -s -x ${p%% *}://127.0.0.1:3128 "
                        "$(echo $p | grep -o -e -p) -H 'Host: denied.test' -o /dev/null -w '%{http_code} ' "
                        "http://ok.test/; done; exit 1")
        self.assertEqual(r["stdout"].split(), ["403", "403"])
        self.assertEqual([b[0] for b in self.blocked(r)], ["names_disagree"] * 2)
        self.assertEqual(Page.seen, [])

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

    def test_143_BR092_a_session_follows_the_rules_about_hosts_and_says_what_was_refused(self):
        self.configure({"ok.test": "allow"}, ask="never")
        server = subprocess.Popen([GATEHOUSE, "mcp", "--cwd", self.ws], env=self.environment(), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)

        def ask(number, method, **params):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())["result"]
        ask(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        said = []
        for number, rule in enumerate(("", 'network_rule(host="ok.test", protocol="http", decision="deny")\n', "")):
            os.makedirs(os.path.join(self.home, "rules"), exist_ok=True)
            with open(os.path.join(self.home, "rules", "hand.rules"), "w") as file:
                file.write(rule)
            said.append(json.dumps(ask(2 + number, "tools/call", name="shell_command",
                                       arguments={"command": "curl -s http://ok.test/ | tail -c 20; true"})))
        server.stdin.close()
        self.assertEqual(server.wait(30), 0)
        self.assertEqual([("page of ok.test" in s, "refused connections" in s and "http://ok.test:80" in s) for s in said],
                         [(True, False), (False, True), (True, False)], said)

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

    def test_205_a_refused_connection_was_missing_in_the_audit(self):
        self.run_it("curl -sS http://denied.test/; true")
        done = subprocess.run([GATEHOUSE, "audit", "export", "--kind", "denial"], env=self.environment(),
                              capture_output=True, text=True, timeout=GRACE_S, check=True)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(e["body"]["kind"], e["body"]["connection"]["host"], e["attempt"]) for e in told],
                         [("network", "denied.test", 1)])
        self.assertEqual(told[0]["call"], told[0]["body"]["connection"]["call_id"])  # so that `audit show CALL` has it

    def test_205_a_client_that_went_past_the_proxy_and_hid_it_left_no_trace(self):
        direct = "python3 -c 'import socket; socket.create_connection((\"%s\", 80))' 2>/dev/null; exit %d"
        r = self.run_it(direct % (PUBLIC, 0))
        self.assertEqual(r["attempts"][0]["exit_code"], 0)
        self.assertIn(f"tried to connect to {PUBLIC}:80 past the proxy", r["attempts"][0]["warnings"][-1])
        done = subprocess.run([GATEHOUSE, "audit", "export", "--kind", "attempt_end"], env=self.environment(),
                              capture_output=True, text=True, timeout=GRACE_S, check=True)
        self.assertIn(f"tried to connect to {PUBLIC}:80 past the proxy", done.stdout)
        self.assertEqual(Page.seen, [])
        # The one that fails is told so as always, and whoever takes the proxy is told nothing.
        self.assertNotIn("warnings", self.run_it(direct % (PUBLIC, 3))["attempts"][0])
        self.assertNotIn("warnings", self.run_it("curl -sS http://ok.test/; curl -sS http://localhost:18999/")["attempts"][0])

    def test_205_a_request_that_is_not_carried_named_no_host(self):
        with open(os.path.join(self.ws, "ask.py"), "w") as file:
            file.write("""
import socket
for parts in ([b"\\x04\\x01\\0P\\0\\0\\0\\x01me\\0old.test\\0"], [b"\\x05\\x01\\0", b"\\x05\\x02\\0\\x03\\x09bind.test\\0\\x15"],
              [b"\\x05\\x01\\0", b"\\x05\\x03\\0\\x03\\x08udp.test\\0\\x35"], [b"\\x05\\x01\\0", b"\\x05\\x03\\0\\x01\\0\\0\\0\\0\\0\\0"],
              [b"GET ftp://me:secret@ftp.test/x HTTP/1.1\\r\\nHost: ftp.test\\r\\n\\r\\n"]):
    s = socket.create_connection(("127.0.0.1", 3128))
    for part in parts:
        s.sendall(part)
        s.recv(4096)
    while s.recv(4096): pass
""")
        r = self.run_it("python3 ask.py")
        self.assertEqual(r["attempts"][0]["exit_code"], 0, r)
        told = [(b["protocol"], b["host"], b["port"], b["reason"]) for b in r["attempts"][0]["blocked_connections"]]
        self.assertEqual(told, [("socks5_tcp", "old.test", 80, "not_carried"), ("socks5_tcp", "bind.test", 21, "not_carried"),
                                ("socks5_udp", "udp.test", 53, "not_carried"), ("socks5_udp", "", 0, "not_carried"),
                                ("http", "ftp.test", 21, "not_carried")])
        for part in ("socks5_tcp://old.test:80: the proxy does not carry this kind of request. SOCKS4 is not carried: use SOCKS5",
                     "socks5_tcp://bind.test:21: the proxy does not carry this kind of request. SOCKS5: only CONNECT is carried.",
                     "socks5_udp://udp.test:53: ", "a request that names no host (socks5_udp): ",
                     "http://ftp.test:21: the proxy does not carry this kind of request. HTTP: only http:// URLs are forwarded; "
                     "ask for others with CONNECT host:port. Ask the proxy for it by HTTP, CONNECT or SOCKS5 CONNECT"):
            self.assertIn(part, r["message"])
        done = subprocess.run([GATEHOUSE, "audit", "export", "--kind", "denial"], env=self.environment(),
                              capture_output=True, text=True, timeout=GRACE_S, check=True)
        self.assertEqual([json.loads(line)["body"]["connection"]["host"] for line in done.stdout.splitlines()],
                         ["old.test", "bind.test", "udp.test", "", "ftp.test"])
        self.assertNotIn("secret", done.stdout + json.dumps(r["attempts"]))

    def test_204_205_a_host_that_is_none_forged_lines_of_ours(self):
        with open(os.path.join(self.ws, "ask.py"), "w") as file:
            file.write("""
import socket
name = b"x\\ngatehouse approved by user\\x1b[2J"
for parts in ([b"GET / HTTP/1.1\\r\\nHost: " + name + b"\\r\\n\\r\\n"], [b"\\x04\\x01\\0P\\0\\0\\0\\x01me\\0" + name + b"\\0"],
              *([b"\\x05\\x01\\0", b"\\x05" + what + b"\\0\\x03" + bytes([len(name)]) + name + b"\\x01\\xbb"]
                for what in (b"\\x01", b"\\x02", b"\\x03")),
              [b"GET / HTTP/1.1\\r\\nHost: " + b"\\x01" * 60000 + b"\\r\\n\\r\\n"]):
    s = socket.create_connection(("127.0.0.1", 3128))
    for part in parts:
        s.sendall(part)
        s.recv(4096)
    while s.recv(4096): pass
raise SystemExit(3)
""")
        r = self.run_it("python3 ask.py")
        hosts = [b["host"] for b in r["attempts"][0]["blocked_connections"]]
        self.assertEqual(hosts[:5], ["x\\x0agatehouse approved by user\\x1b[2J"] * 5)
        self.assertLessEqual(len(hosts[5].encode()), 255)
        self.assertNotIn("\ngatehouse", r["message"])
        self.assertNotIn("\x1b", r["message"])
        done = subprocess.run([GATEHOUSE, "run", "--cwd", self.ws, "--shell", "python3 ask.py"], env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150, check=False)
        self.assertNotIn("\ngatehouse approved by user", done.stderr)
        self.assertNotIn("\x1b", done.stderr)
        told = subprocess.run([GATEHOUSE, "audit", "export", "--kind", "denial"], env=self.environment(),
                              capture_output=True, text=True, timeout=GRACE_S, check=True).stdout
        self.assertLess(max(map(len, told.splitlines())), 4096)

    def test_204_a_running_command_drew_another_question_over_the_one_that_stands(self):
        script = "curl -sS http://new.test/ & sleep 0.5; printf '\\033[2J\\033[Hdrawn'; touch said; wait"
        said = os.path.join(self.ws, "said")
        status, text = self.at_terminal(script, "y", ready=lambda: os.path.exists(said))
        self.assertEqual(status, 0, text)
        self.assertLess(text.index("> y"), text.rindex("drawn"))  # it stands in the question, too

    def test_50_that_a_question_was_withdrawn_was_said_only_after_the_answer_to_the_next_one(self):
        # A tunnel's client is seen to leave at once; nobody waits then, and two seconds later nothing is asked.
        script = "curl -s -p -m 1 http://new.test/1; sleep 5; curl -s -p http://other.test/2; echo never"
        status, text = self.at_terminal(script, ["", "n"])
        self.assertEqual(status, 125, text)
        first, second = text.index("https://new.test:80"), text.index("https://other.test:80")
        self.assertLess(first, text.index("this question was withdrawn"), text)
        self.assertLess(text.index("this question was withdrawn"), second, text)
        self.assertEqual(Page.seen, [])

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

    def test_111_BR092_what_one_session_may_reach_is_unknown_to_the_one_beside_it(self):
        seen = []
        script = ("curl -sS http://new.test/1; while [ ! -e go-on ]; do sleep 0.1; done; curl -sS http://new.test/2; "
                  "curl -sS http://new.test/3")
        first = threading.Thread(target=lambda: seen.append(self.at_terminal(script, "y", "--timeout-ms", "90000")))
        first.start()
        end = time.monotonic() + 60
        while not Page.seen and time.monotonic() < end:
            time.sleep(0.05)
        beside = self.run_it("curl -s -o /dev/null -w '%{http_code}' http://new.test/beside; exit 1")
        with open(os.path.join(self.ws, "go-on"), "w"):
            pass
        first.join()
        status, text = seen[0]
        self.assertEqual((status, text.count("gatehouse: approval needed")), (0, 1), text)
        self.assertEqual(beside["stdout"], "403")
        self.assertEqual([s[2] for s in Page.seen], ["/1", "/2", "/3"])
        self.assertFalse(os.path.exists(os.path.join(self.home, "rules", "default.rules")))

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

    def test_115_a_terminal_session_of_a_thread_keeps_its_network_after_its_call(self):
        server = subprocess.Popen([GATEHOUSE, "mcp", "--cwd", self.ws], env=self.environment(), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)

        def ask(number, method, **params):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            while (said := json.loads(server.stdout.readline())).get("id") != number:
                pass
            return said["result"]

        def tool(number, name, **arguments):
            return ask(number, "tools/call", name=name, arguments=arguments)["structuredContent"]
        ask(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        script = ("sleep 1; curl -sS http://ok.test/a; echo; curl -s -o /dev/null -w '%{http_code}\n' http://denied.test/;"
                  "curl -s -m 5 --noproxy '*' http://" + PUBLIC + "/ || echo closed; exit 5")
        began = tool(2, "exec_command", cmd=script, yield_time_ms=250)
        self.assertIn("sessionId", began)
        over = tool(3, "write_stdin", session_id=began["sessionId"], yield_time_ms=60000)
        self.assertEqual(began["output"] + over["output"], "page of ok.test\n403\nclosed\n", over)
        self.assertEqual((over["exitCode"], over["sandboxDenied"], "sessionId" in over), (5, True, False), over)
        self.assertEqual({path for _, _, path in Page.seen}, {"/a"})
        server.stdin.close()
        self.assertEqual(server.wait(30), 0)
        server.stdout.close()

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
    main()
