"""§82 §143 What a hostile command tries to get around the managed network. Each test is named after what would be wrong."""
import json
import os
import resource
import socket
import subprocess
import threading
import time

from network_support import GATEHOUSE, PUBLIC, Network, Page, main

# Runs inside the sandbox. Each request goes out as it stands; the answer is its first line or reply.
RAW = r'''
import json, socket, struct, sys
def talk(data, wait=5):
    s = socket.create_connection(("127.0.0.1", 3128))
    s.settimeout(wait)
    out = b""
    try:
        s.sendall(data)
        while len(out) < 65536:
            part = s.recv(65536)
            if not part: break
            out += part
    except OSError as e:
        out += b"!" + type(e).__name__.encode()
    s.close()
    return out
def connect(host, port=80):
    target = host + b":%d" % port
    return b"CONNECT " + target + b" HTTP/1.1\r\nHost: " + target + b"\r\n\r\nGET /through HTTP/1.0\r\n\r\n"
def get(host):
    return b"GET http://" + host + b"/through HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"
def socks(kind, host, port=80):
    address = bytes([len(host)]) + host if kind == 3 else host
    return b"\x05\x01\x00\x05\x01\x00" + bytes([kind]) + address + struct.pack(">H", port) + b"GET /through HTTP/1.0\r\n\r\n"
'''


class Attacks(Network):
    def python(self, body, *options, **more):
        with open(os.path.join(self.ws, "attack.py"), "w") as file:
            file.write(RAW + body)
        return self.run_it("python3 attack.py", *options, **more)

    def test_an_address_in_another_spelling_reaches_the_host(self):
        self.configure({"*": "allow", "localhost:18999": "allow"})
        r = self.python(r'''
names = [b"127.0.0.1", b"127.0.0.1.", b"127.0.0.01", b"127.1", b"127.0.1", b"0177.0.0.1", b"0x7f.1", b"0x7f000001",
         b"2130706433", b"017700000001", b"0", b"0.0.0.0", b"localhost", b"LocalHost.", b"rebind.test", b"10.1.2.3",
         b"inner.test", b"169.254.169.254", b"169.254.169.254.", b"metadata.google.internal", b"Metadata.Google.Internal.",
         "\uff11\uff12\uff17.0.0.1".encode(), "\u2460\u2461\u2466.0.0.1".encode(), "127\u30020\u30020\u30021".encode(),
         "loc\u00adalhost".encode(), b"[::1]", b"[::]", b"[::ffff:127.0.0.1]", b"[::ffff:7f00:1]", b"[::127.0.0.1]",
         b"[0:0:0:0:0:ffff:10.1.2.3]", b"[64:ff9b::7f00:1]", b"[64:ff9b::a9fe:a9fe]", b"[2002:7f00:1::]", b"[fe80::1]",
         b"[fe80::1%25lo]", b"[::ffff:0:127.0.0.1]", b"ok.test@127.0.0.1", b"127.0.0.1#ok.test", b"127.0.0.1%00.ok.test",
         b"127.0.0.1\\.ok.test", b"127.0.0.1?ok.test", b"localhost:18998"]
for name in names:
    for data in (connect(name), get(name)):
        if b"page" in talk(data): print("OPEN", name, data)
    bare = name.strip(b"[]")
    for host in (bare, b"127.0.0.1\0.ok.test", b" 127.0.0.1", b"::1%lo"):
        if b"page" in talk(socks(3, host)): print("OPEN socks", host)
for address in ("127.0.0.1", "0.0.0.0", "10.1.2.3", "169.254.169.254"):
    if b"page" in talk(socks(1, socket.inet_aton(address))): print("OPEN ip", address)
for address in ("::1", "::ffff:127.0.0.1", "::127.0.0.1", "::", "64:ff9b::7f00:1", "fe80::1"):
    if b"page" in talk(socks(4, socket.inet_pton(socket.AF_INET6, address))): print("OPEN ip6", address)
print("done")
''', timeout_ms=120000)
        self.assertEqual(r["stdout"], "done\n", r["stderr"])
        self.assertEqual([s for s in Page.seen if s[2] == "/through"], [])

    def test_a_name_that_only_looks_allowed_is_reached(self):
        self.configure({"ok.test": "allow", "*.ok.test": "allow"}, ask="never")
        r = self.python(r'''
for name in (b"new.test", b"evilok.test", b"ok.test.new.test", b"ok.test\0.new.test", b"new.test\0.ok.test", b"new.test#.ok.test",
             b"new.test/.ok.test", b"new.test\r\nX: .ok.test", b"new.test\n.ok.test", b".ok.test", b"*.ok.test", b"ok..test",
             "new.test\u2024ok.test".encode(), b"ok.test:443@new.test"):
    for data in (connect(name), get(name), socks(3, name)):
        if b"page" in talk(data): print("OPEN", name)
print("done")
''')
        self.assertEqual(r["stdout"], "done\n", r["stderr"])
        self.assertEqual(Page.seen, [])

    def test_a_second_request_is_smuggled_behind_an_allowed_one(self):
        self.configure({"ok.test": "allow", "denied.test": "deny"})
        r = self.python(r'''
evil = b"GET http://denied.test/evil HTTP/1.1\r\nHost: denied.test\r\n\r\n"
plain = b"GET /evil HTTP/1.1\r\nHost: denied.test\r\n\r\n"
def post(headers, body):
    return b"POST http://ok.test/p HTTP/1.1\r\nHost: ok.test\r\n" + headers + b"\r\n" + body
for data in (
    get(b"ok.test") + evil, get(b"ok.test") + plain,
    post(b"Content-Length: 0\r\n", plain), post(b"Content-Length: 4\r\n", b"body" + plain),
    post(b"Content-Length: 4\r\nContent-Length: 90\r\n", b"body" + plain),
    post(b"Content-Length: 90\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + plain),
    post(b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", b"0\r\n\r\n" + plain),
    post(b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n" + plain),
    post(b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n" + plain),
    post(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n" + plain),
    post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n" + plain),
    post(b"Transfer-Encoding: x\r\n Transfer-Encoding: chunked\r\n", b"0\r\n\r\n" + plain),
    post(b"Content-Length: +4\r\n", b"body" + plain), post(b"Content-Length: 0x4\r\n", b"body" + plain),
    post(b"Content-Length: 4, 4\r\n", b"body" + plain),
    post(b"Connection: content-length\r\nContent-Length: 4\r\n", b"body" + plain),
    post(b"Connection: close, transfer-encoding\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n" + plain),
    post(b"Transfer-Encoding: chunked\r\n", b"0;a\nb\r\n\r\n" + plain),
    post(b"Transfer-Encoding: chunked\r\n", b"0\n\n" + plain),
    post(b"Transfer-Encoding: chunked\r\n", b"ffffffffffffffff0\r\n\r\n" + plain),
    b"GET http://ok.test/ HTTP/1.1\nHost: ok.test\n\n" + plain,
    b"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: a\nGET /evil HTTP/1.1\r\n\r\n",
    b"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: a\rHost: denied.test\r\n\r\n",
    b"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: a\0b\r\n\r\n",
    b"GET http://ok.test/ HTTP/1.1\r\nHost: denied.test\r\n\r\n",
    b"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: denied.test\r\n\r\n",
    b"GET http://ok.test/ HTTP/1.1\r\n Host: denied.test\r\n\r\n",
    b"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test:8080\r\n\r\n",
    b"GET http://ok.test/\tevil HTTP/1.1\r\nHost: ok.test\r\n\r\n",
    b"GET http://ok.test/ HTTP/1.1 \r\nHost: ok.test\r\n\r\n", b"\r\n\r\n" + plain,
    b"GET http://ok.test/ HTTP/2.0\r\nHost: ok.test\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", plain,
    b"get http://denied.test/evil HTTP/1.1\r\nHost: denied.test\r\n\r\n",
    b"GET https://denied.test/evil HTTP/1.1\r\nHost: denied.test\r\n\r\n",
): talk(data, 3)
print("done")
''', timeout_ms=120000)
        self.assertEqual(r["stdout"], "done\n", r["stderr"])
        self.assertEqual({(host, str(path)) for _, host, path in Page.seen if host != "ok.test" or "evil" in str(path)}, set())

    def test_huge_and_endless_heads_stall_or_end_the_proxy(self):
        r = self.python(r'''
big = 1 << 22
for data in (b"GET http://ok.test/" + b"a" * big, b"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX: " + b"a" * big,
             b"GET http://ok.test/ HTTP/1.1\r\n" + b"X: y\r\n" * 200000, b"CONNECT " + b"a" * big, b"\x05" + b"\xff" * big,
             b"\x05\x01\x00" + b"\x05" * 300, b"\x16\x03\x01" + b"\xff" * big, b"\0" * big, b"\r\n" * big,
             b"POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"a" * big,
             connect(b"ok.test", 443) + b"\x16\x03\x01\x40\x00\x01\xff\xff\xff" + b"\0" * big):
    answer = talk(data)
    assert b"page" not in answer, answer[:100]
print(talk(get(b"ok.test"))[-15:])
''', timeout_ms=120000)
        self.assertEqual(r["stdout"], "b'page of ok.test'\n", r["stderr"])

    def test_a_host_that_is_no_text_breaks_the_report_or_the_terminal(self):
        self.configure({"ok.test": "allow"}, ask="never")
        body = r'''
for host in (b"\xff\xfe\x1b[31mred\x07", b"a\nfake: line", "\u202eevil".encode(), b"\0\0"):
    talk(socks(3, host)); talk(get(host)); talk(connect(host))
sys.exit(3)
'''
        r = self.python(body)
        self.assertGreaterEqual(len(r["attempts"][0]["blocked_connections"]), 4)
        status, text = self.at_terminal("python3 attack.py", "")
        self.assertEqual(status, 3, text)
        self.assertNotIn("\x1b[31m", text)
        self.assertNotIn("\nfake: line", text)

    def test_many_connections_take_the_descriptors_of_other_calls(self):
        # In one process: the first call opens all the tunnels that it can, then the second one must run and connect.
        self.configure({"ok.test": "allow"})
        with open(os.path.join(self.ws, "hog.py"), "w") as file:
            file.write(RAW + r'''
import os, time
held = []
end = time.monotonic() + 15
while time.monotonic() < end and len(held) < 140:
    s = socket.create_connection(("127.0.0.1", 3128))
    s.sendall(b"CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test:80\r\n\r\n")
    held.append(s)
for s in held:
    s.settimeout(0.05)
    try: s.recv(100)
    except OSError: pass
open("full", "w").close()
for i in range(300):
    if os.path.exists("seen"): break
    time.sleep(0.1)
print(len(held))
''')
        calls = [{"callId": "hog", "arguments": {"timeout_ms": 60000, "command": "python3 hog.py"}},
                 {"callId": "wait", "arguments": {"timeout_ms": 60000, "command": "while ! test -e full; do sleep 0.1; done"}},
                 {"callId": "late", "arguments": {"timeout_ms": 60000, "command": "curl -sS -m 20 http://ok.test/; touch seen"}}]
        done = subprocess.run([GATEHOUSE, "batch", "--jobs", "2", "--cwd", self.ws, "-"], env=self.environment(), text=True,
                              input="".join(json.dumps(c) + "\n" for c in calls), capture_output=True, timeout=120,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160)))
        answers = {a["callId"]: a for a in map(json.loads, done.stdout.splitlines())}
        self.assertIn("page of ok.test", json.dumps(answers["late"]), done.stderr)

    def test_the_sandbox_of_another_call_takes_connections_or_descriptors(self):
        # Two commands of one workspace: neither an abstract nor a file socket leads from one to the other, so that no
        # listener, tunnel or proxy connection can be handed over.
        with open(os.path.join(self.ws, "give.py"), "w") as file:
            file.write(r'''
import os, socket, time
a = socket.socket(socket.AF_UNIX); a.bind("give.sock"); a.listen()
b = socket.socket(socket.AF_UNIX); b.bind("\0gatehouse-give"); b.listen()
tunnel = socket.create_connection(("127.0.0.1", 3128))
a.settimeout(0.2); b.settimeout(0.2)
open("ready", "w").close()
got = False
for i in range(150):
    for s in (a, b):
        try:
            peer, _ = s.accept()
            socket.send_fds(peer, [b"x"], [tunnel.fileno()])
            got = True
        except OSError: pass
    if os.path.exists("tried"): break
print("gave" if got else "nobody came")
''')
        with open(os.path.join(self.ws, "take.py"), "w") as file:
            file.write(r'''
import os, socket, time
while not os.path.exists("ready"): time.sleep(0.05)
for name in ("give.sock", os.path.abspath("give.sock"), "\0gatehouse-give"):
    try:
        s = socket.socket(socket.AF_UNIX); s.connect(name); s.settimeout(2)
        print("OPEN", socket.recv_fds(s, 10, 1))
    except OSError as e: print("closed")
open("tried", "w").close()
''')
        reports = {}
        threads = [threading.Thread(target=lambda n=n: reports.update({n: self.run_it(f"python3 {n}.py")}))
                   for n in ("give", "take")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(reports["take"]["stdout"], "closed\n" * 3, reports["take"]["stderr"])
        self.assertEqual(reports["give"]["stdout"], "nobody came\n", reports["give"]["stderr"])

    def test_another_kind_of_socket_gets_out(self):
        r = self.python(r'''
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for family in range(0, 46):
    for kind in range(1, 11):
        for flags in (0, 0o2000000):
            fd = libc.socket(family, kind | flags, 0)
            if fd < 0: continue
            if (family, kind) not in ((1, 1), (2, 1), (10, 1)): print("OPEN", family, kind)
            os.close(fd)
for protocol in range(0, 263):
    for family in (2, 10):
        fd = libc.socket(family, 1, protocol)
        if fd >= 0:
            if protocol not in (0, 6): print("OPEN protocol", protocol)
            os.close(fd)
def attempt(name, act):
    try: act(); print("OPEN", name)
    except OSError: pass
S = socket.socket
attempt("fastopen", lambda: S().sendto(b"x", 0x20000000, ("%s", 80)))
attempt("direct", lambda: S().connect(("%s", 80)))
attempt("mapped", lambda: S(socket.AF_INET6).connect(("::ffff:%s", 80)))
attempt("gateway", lambda: S().connect(("169.254.1.1", 80)))
attempt("other local port", lambda: S().connect(("127.0.0.1", 80)))
attempt("other loopback", lambda: S().connect(("127.0.0.2", 80)))
attempt("device", lambda: S().setsockopt(socket.SOL_SOCKET, 25, b"eth0\0"))
attempt("pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("netns", lambda: open("/proc/1/ns/net") and libc.setns(os.open("/proc/1/ns/net", 0), 0) and (_ for _ in ()).throw(OSError()))
print("done")
''' % ((PUBLIC,) * 3))
        self.assertEqual(r["stdout"], "done\n", r["stderr"])
        self.assertEqual(Page.seen, [])

    def test_a_tls_name_that_hides_reaches_another_server(self):
        self.configure({"ok.test": "allow"})
        r = self.python(r'''
def counted(size, body): return len(body).to_bytes(size, "big") + body
def hello(names, extra=b"", record=16384, first=b"\x16\x03\x01"):
    entries = b"".join(b"\0" + counted(2, n) for n in names)
    ext = (b"\0\0" + counted(2, counted(2, entries))) + extra
    body = b"\x03\x03" + b"r\n" * 16 + b"\0" + counted(2, b"\x13\x01") + counted(1, b"\0") + counted(2, ext)
    message = b"\x01" + counted(3, body)
    return b"".join(first + counted(2, message[i:i + record]) for i in range(0, len(message), record))
twice = b"\0\0" + counted(2, counted(2, b"\0" + counted(2, b"evil.test")))
head = b"CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test:80\r\n\r\n"
bad = {"other": hello([b"evil.test"]), "pieces": hello([b"evil.test"], record=1), "two": hello([b"ok.test", b"evil.test"]),
       "twice": hello([b"ok.test"], twice), "nul": hello([b"ok.test\0.evil.test"]), "below": hello([b"ok.test.evil.test"]),
       "address": hello([b"93.184.216.35"]), "port": hello([b"ok.test:443"]), "empty": hello([b""])}
for name, data in bad.items():
    out = talk(head + data, 3)
    if b"Bad request" in out or b"400" in out: print("OPEN", name, out)
for data in (hello([b"OK.test."]), hello([b"ok.test"], record=1)):
    out = talk(head + data, 3)
    if b"400" not in out: print("CLOSED", out)
print("done")
''')
        # A plain server answers every ClientHello that reaches it with status 400.
        self.assertEqual(r["stdout"], "done\n", r["stderr"])

    def test_a_slow_client_keeps_others_of_its_command_waiting(self):
        r = self.python(r'''
import time
slow = []
for i in range(400):
    s = socket.create_connection(("127.0.0.1", 3128)); s.sendall(b"GET http://ok"[: i % 13]); slow.append(s)
begin = time.monotonic()
answer = talk(get(b"ok.test"))
print(answer[-15:], time.monotonic() - begin < 5)
time.sleep(max(0, 16.5 - (time.monotonic() - begin)))
over = 0
for s in slow:
    s.settimeout(1)
    try:
        data = s.recv(1000)
        over += data == b"" or b"408" in data
    except OSError as e: over += isinstance(e, ConnectionError)
print(over)
''', timeout_ms=60000)
        self.assertEqual(r["stdout"], "b'page of ok.test' True\n400\n", r["stderr"])

    def test_a_silent_name_server_keeps_other_names_or_the_end_of_the_call_waiting(self):
        self.configure({"*": "allow"})
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("10.1.2.3", 53))
            begin = time.monotonic()
            r = self.run_it("for i in 1 2 3 4 5 6 7 8 9; do curl -s -m 3 http://slow$i.test/ & done; sleep 0.5; "
                            "curl -sS -m 2.5 http://ok.test/; kill $(jobs -p); wait")
            self.assertEqual(r["stdout"], "page of ok.test", r["stderr"])
            self.assertLess(time.monotonic() - begin, 9)

    def test_half_closed_tunnels_stay_or_lose_bytes(self):
        self.configure({"ok.test": "allow"})
        with socket.create_server((PUBLIC, 7777)) as server:
            def answer():
                for _ in range(3):
                    peer, _ = server.accept()
                    heard = b""
                    while part := peer.recv(65536):
                        heard += part
                    peer.sendall(b"%d" % len(heard))
                    peer.close()
            threading.Thread(target=answer, daemon=True).start()
            r = self.python(r'''
for size in (0, 1, 3000000):
    s = socket.create_connection(("127.0.0.1", 3128))
    s.sendall(b"CONNECT ok.test:7777 HTTP/1.1\r\nHost: ok.test:7777\r\n\r\n")
    f = s.makefile("rb")
    while f.readline() != b"\r\n": pass
    s.sendall(b"x" * size)
    s.shutdown(socket.SHUT_WR)
    print(f.read().decode())
''')
        self.assertEqual(r["stdout"], "0\n1\n3000000\n", r["stderr"])


if __name__ == "__main__":
    main()
