"""§48a §D9 The automatic reviewer behind an OpenAI-compatible server, over real HTTP and TLS: behaving well, slowly,
wrongly and not at all. Whatever goes wrong is no verdict, and without a person nothing runs.
"""
import http.server
import json
import os
import socket
import ssl
import subprocess
import threading
import time
import unittest

from run_case import DANGEROUS, RunCase

ALLOW = {"outcome": "allow", "risk_level": "low", "user_authorization": "high", "rationale": "asked for"}


def completion(content, **more):
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}, **more}]}


class Server(http.server.ThreadingHTTPServer):
    """Answers what `reply(handler, count)` makes of each request, and keeps the requests."""
    daemon_threads = True

    def __init__(self, reply, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply, self.seen, self.tls = reply, [], certificate is not None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, host="127.0.0.1"):
        return f"{'https' if self.tls else 'http'}://{host}:{self.server_port}/v1/chat/completions"

    def handle_error(self, request, client_address):
        pass  # a client that gives up is part of the test


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, dict(self.headers), json.loads(body)))
        self.server.reply(self, len(self.server.seen))

    def send(self, status, text, length=None):
        data = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def says(answer, status=200, **more):
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return lambda handler, _: handler.send(status, json.dumps(completion(text, **more)))


class GuardianHttp(RunCase):
    def serve(self, reply, certificate=None):
        server = Server(reply, certificate)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def review_by(self, url, timeout_ms=20000, more=""):
        self.configure(f"""approvals_reviewer = "auto_review"
[auto_review]
url = "{url}"
model = "reviewer-1"
timeout_ms = {timeout_ms}
{more}
""")
        doc, status = self.document("--justification", "tidy", "--", *DANGEROUS)
        return doc["reviews"][0], status, doc

    def refused(self, url, **more):
        start = time.monotonic()
        review, status, doc = self.review_by(url, **more)
        self.assertEqual((status, review["reviewer"]), (125, "none"), doc)
        self.assertIn(review["decision"], ("denied", "timed_out"))
        self.assertIn("says nothing about the action", doc["message"])
        self.assertEqual(doc["attempts"], [])
        return time.monotonic() - start

    def test_an_allow_runs_the_action_that_the_model_was_shown(self):
        server = self.serve(says(ALLOW))
        self.write("key", "secret-key\n")
        review, status, _ = self.review_by(server.url(), more=f'key_file = "{self.home}/key"')
        self.assertEqual((status, review["reviewer"], review["decision"]), (0, "guardian", "approved"))
        [(path, headers, body)] = server.seen
        self.assertEqual((path, headers["Authorization"]), ("/v1/chat/completions", "Bearer secret-key"))
        self.assertEqual((body["model"], body["response_format"]["type"]), ("reviewer-1", "json_schema"))
        action = json.JSONDecoder().raw_decode(body["messages"][-1]["content"].split("Planned action JSON:\n")[1])[0]
        self.assertEqual((action["command"], action["cwd"], action["justification"]), (DANGEROUS, self.ws, "tidy"))

    def test_the_key_may_stand_in_the_environment(self):
        server = self.serve(says(ALLOW))
        self.env["REVIEW_KEY"] = "from-env"
        self.review_by(server.url(), more='key_env = "REVIEW_KEY"')
        self.assertEqual(server.seen[0][1]["Authorization"], "Bearer from-env")
        del self.env["REVIEW_KEY"]
        done = self.run_it("--", *DANGEROUS)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"REVIEW_KEY", done.stderr)

    def test_a_denial_is_a_refusal_with_its_rationale(self):
        review, status, doc = self.review_by(self.serve(says({"outcome": "deny", "rationale": "not asked for"})).url())
        self.assertEqual((status, review["reviewer"], review["decision"]), (125, "guardian", "denied"))
        self.assertIn("not asked for", doc["message"])

    def test_an_allow_that_is_too_bold_is_a_refusal(self):
        review, status, _ = self.review_by(self.serve(says(dict(ALLOW, risk_level="critical"))).url())
        self.assertEqual((status, review["reviewer"], review["decision"]), (125, "guardian", "denied"))

    def test_an_answer_that_is_none_is_asked_for_three_times_and_never_a_yes(self):
        allow = json.dumps(ALLOW)
        wrong = {
            "no JSON": lambda h, _: h.send(200, "<html>yes</html>"),
            "no choice": lambda h, _: h.send(200, '{"choices":[]}'),
            "text around the verdict": says("Sure: " + allow),
            "a field too many": says(dict(ALLOW, approve=True)),
            "cut off": says(ALLOW, finish_reason="length"),
            "a server error": says(ALLOW, status=500),
            "too many requests": says(ALLOW, status=429),
        }
        for name, reply in wrong.items():
            with self.subTest(name):
                server = self.serve(reply)
                self.refused(server.url())
                self.assertEqual(len(server.seen), 3)

    def test_a_status_that_will_not_change_is_not_asked_again(self):
        for status in (301, 400, 401, 404):
            with self.subTest(status):
                server = self.serve(says(ALLOW, status=status))
                self.refused(server.url())
                self.assertEqual(len(server.seen), 1)

    def test_a_passing_failure_is_asked_again(self):
        server = self.serve(lambda h, count: says(ALLOW, status=503 if count < 3 else 200)(h, count))
        review, status, _ = self.review_by(server.url())
        self.assertEqual((status, review["decision"], len(server.seen)), (0, "approved", 3))

    def test_an_answer_after_the_limit_is_too_late(self):
        def late(handler, count):
            time.sleep(3)
            says(ALLOW)(handler, count)

        def dripping(handler, _):
            handler.send(200, b"{", length=100000)
            for _ in range(30):
                time.sleep(0.1)
                handler.wfile.write(b" ")
        for reply in (late, dripping):
            self.refused(self.serve(reply).url(), timeout_ms=500)

    def test_an_answer_without_end_is_cut(self):
        def endless(handler, _):
            handler.send_response(200)
            handler.end_headers()
            while True:
                handler.wfile.write(b" " * 65536)
        self.refused(self.serve(endless).url())

    def test_a_server_that_is_not_there_or_says_nothing(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            self.refused(f"http://127.0.0.1:{nobody.getsockname()[1]}/")
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            self.refused(f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout_ms=500)

    def certificate(self, name):
        made = [f"{self.base}/{name}.pem", f"{self.base}/{name}.key"]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                        "-addext", f"subjectAltName=DNS:{name}", "-out", made[0], "-keyout", made[1]],
                       check=True, capture_output=True)
        return made

    def test_tls_needs_a_certificate_that_is_trusted_and_names_the_host(self):
        own, other = self.certificate("localhost"), self.certificate("elsewhere.example")
        trusted = self.serve(says(ALLOW), own)
        review, status, _ = self.review_by(trusted.url("localhost"), more=f'ca_file = "{own[0]}"')
        self.assertEqual((status, review["decision"]), (0, "approved"))
        self.refused(trusted.url("localhost"))  # not trusted by the system
        wrong_name = self.serve(says(ALLOW), other)
        self.refused(wrong_name.url("localhost"), more=f'ca_file = "{other[0]}"')
        self.assertEqual(wrong_name.seen, [])

    def test_a_key_is_never_sent_in_the_clear_to_another_machine(self):
        for url in ("http://example.org/v1", "ftp://localhost/", "https://user:pw@localhost/", "https://", "localhost"):
            with self.subTest(url):
                self.configure(f'approvals_reviewer = "auto_review"\n[auto_review]\nurl = "{url}"\nmodel = "m"\n')
                done = self.run_it("--", "touch", "made")
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"auto_review.url", done.stderr)
                self.assertEqual(os.listdir(self.ws), [])


if __name__ == "__main__":
    unittest.main()
