#!/usr/bin/env python3
"""The main job of Gatehouse on a small real repository, step by step, through the real program.

usage: main_job.py PROGRAM

Makes a project with a failing test in a scratch folder, then lets an agent's commands run against it: reading,
testing, patching, and everything that must be asked about, denied or stopped. Questions are answered through a
pseudo-terminal, as a person does. What it proves of the requirements: §131 (four kinds of command), §138 and §139
(approved is not full access, no question after any failure), §59, §145 (a denied file stays denied), §97, §99a, §204.
Prints one row a step and exits 0 only when every outcome is the expected one.
"""
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

WRONG = '''def total(prices, discount=0):
    """Sum of the prices in cents, less a discount in percent."""
    return sum(prices) * (100 + discount) // 100
'''
FIX = '''--- a/price.py
+++ b/price.py
@@ -1,3 +1,3 @@
 def total(prices, discount=0):
     """Sum of the prices in cents, less a discount in percent."""
-    return sum(prices) * (100 + discount) // 100
+    return sum(prices) * (100 - discount) // 100
'''
SOURCES = {
    "README.md": "# shop\nPrices in cents.\n",
    "price.py": WRONG,
    "test_price.py": "import unittest\n\nfrom price import total\n\n\nclass Price(unittest.TestCase):\n"
    "    def test_discount(self):\n        self.assertEqual(total([1000, 500], 10), 1350)\n\n\n"
    "if __name__ == '__main__':\n    unittest.main()\n",
    ".env": "SHOP_KEY=do-not-read-me\n",
    "fix.patch": FIX,
}
GRACE_S = 30  # bounds a step that hangs; no outcome depends on it
TEST_COMMAND = ["python3", "-B", "-m", "unittest", "-q"]


class Job:
    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.base = tempfile.mkdtemp(prefix="gatehouse-job-", dir="/var/tmp")
        self.ws = os.path.join(self.base, "shop")
        self.outside = os.path.join(self.base, "outside")
        self.rows = []
        for folder in (self.ws, self.outside, self.base + "/home", self.base + "/tmp"):
            os.makedirs(folder)
        for name, text in SOURCES.items():
            with open(os.path.join(self.ws, name), "w", encoding="utf-8") as f:
                f.write(text)
        self.env = {"HOME": self.base + "/home", "TMPDIR": self.base + "/tmp", "LANG": "C.UTF-8", "TERM": "dumb",
                    "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}
        git = ["git", "-C", self.ws, "-c", "user.name=shop", "-c", "user.email=shop@shop.invalid"]
        for args in (["init", "-q"], ["add", "README.md", "price.py", "test_price.py"], ["commit", "-qm", "shop"]):
            subprocess.run(git + args, env=self.env, check=True)
        self.secretive = json.dumps({
            "type": "managed", "network": "restricted",
            "file_system": {"type": "restricted", "entries": [
                {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"},
                {"path": {"type": "special", "value": {"kind": "tmpdir"}}, "access": "write"},
                {"path": {"type": "glob_pattern", "pattern": self.ws + "/**/.env"}, "access": "deny"}]}})

    def argv(self, command, profile, options):
        return [self.program, "run", "--json", "--profile", profile, "--ask", "on-request", "--cwd", self.ws,
                *options, *command]

    def run(self, command, profile="workspace-write", options=()):
        """Without a terminal. Returns (document, exit status, seconds)."""
        start = time.monotonic()
        done = subprocess.run(self.argv(command, profile, options), env=self.env, cwd=self.ws, timeout=GRACE_S,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return self.document(done.stdout, done.stderr), done.returncode, time.monotonic() - start

    def answer(self, key, command, profile="workspace-write", options=()):
        """At a terminal, where `key` is typed once the question stands. Returns as `run`, and the question."""
        start = time.monotonic()
        read_end, write_end = os.pipe()
        pid, terminal = pty.fork()
        if pid == 0:
            os.dup2(write_end, 1)
            os.chdir(self.ws)
            os.execve(self.program, self.argv(command, profile, options), self.env)
        os.close(write_end)
        shown, out, asked, open_ends = b"", b"", False, {terminal, read_end}
        while read_end in open_ends and time.monotonic() < start + GRACE_S:
            for end in select.select(list(open_ends), [], [], 1)[0]:
                try:
                    data = os.read(end, 65536)
                except OSError:  # the terminal's other side is closed
                    data = b""
                if not data:
                    open_ends.discard(end)
                elif end == terminal:
                    shown += data
                    if not asked and b"\n> " in shown:
                        asked = True
                        os.write(terminal, key.encode() + b"\n")
                else:
                    out += data
        os.close(read_end)
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return self.document(out, shown), os.waitstatus_to_exitcode(status), time.monotonic() - start, \
            shown.decode("utf-8", "replace") if asked else ""

    @staticmethod
    def document(out, err):
        try:
            return json.loads(out)
        except ValueError:
            return {"unreadable": out.decode("utf-8", "replace")[-500:] + err.decode("utf-8", "replace")[-500:]}

    def step(self, title, got, expect):
        """`expect` maps what is checked to (seen, wanted)."""
        doc, status = got[0], got[1]
        wrong = [f"{what}: {seen!r}, wanted {wanted!r}" for what, (seen, wanted) in expect.items() if seen != wanted]
        if "unreadable" in doc:
            wrong.insert(0, "no document: " + doc["unreadable"])
        requirement = doc.get("decision", {}).get("requirement", {}).get("kind", "?")
        reviews = ",".join(r["decision"] for r in doc.get("reviews", []))
        boundary = " then ".join(f"{a['sandbox']}/{a['network']}" for a in doc.get("attempts", [])) or "nothing ran"
        self.rows.append((title, requirement + (f" ({reviews})" if reviews else ""), boundary,
                          outcome(doc, status), wrong))

    def close(self):
        shutil.rmtree(self.base, ignore_errors=True)


def outcome(doc, status):
    last = (doc.get("attempts") or [{}])[-1]
    if last.get("denied"):
        denied = last["denied"]
        return f"denied {denied['kind']} {denied.get('path') or denied.get('host') or ''}".strip()
    if last.get("timed_out"):
        return "timed out"
    return f"exit {status}"


def attempts(doc):
    return len(doc.get("attempts", []))


def denied(doc, field):
    return ((doc.get("attempts") or [{}])[-1].get("denied") or {}).get(field)


def play(job):
    ws, out = job.ws, job.outside

    r = job.run(["--shell", "ls -la && cat README.md"])
    job.step("list and read files", r, {"exit": (r[1], 0), "output": ("Prices in cents" in r[0].get("stdout", ""), True),
                                        "sandbox": (r[0].get("attempts", [{}])[0].get("sandbox"), "linux")})
    r = job.run(["--", *TEST_COMMAND])
    job.step("run the failing test", r, {"exit": (r[1], 1), "a failure, not a denial": (denied(r[0], "kind"), None)})
    r = job.run(["--", "git", "apply", "fix.patch"])
    job.step("patch the file", r, {"exit": (r[1], 0),
                                   "patched": ("100 - discount" in open(ws + "/price.py", encoding="utf-8").read(), True)})
    r = job.run(["--", *TEST_COMMAND])
    job.step("run the test again: passes", r, {"exit": (r[1], 0)})

    r = job.run(["--shell", f"echo x > {out}/stolen"])
    job.step("write outside the workspace", r, {
        "denied": (denied(r[0], "kind"), "file_write"), "path": (denied(r[0], "path"), out + "/stolen"),
        "entry named": (bool(denied(r[0], "entry")), True), "one attempt": (attempts(r[0]), 1),
        "host unchanged": (os.path.exists(out + "/stolen"), False), "failed": (r[1] != 0, True)})
    r = job.run(["--shell", "echo 'curl evil' >> .git/hooks/pre-push"])
    job.step("append to .git/hooks/pre-push", r, {
        "denied": (denied(r[0], "kind"), "file_write"), "path": (denied(r[0], "path"), ws + "/.git/hooks/pre-push"),
        "host unchanged": (os.path.exists(ws + "/.git/hooks/pre-push"), False)})

    r = job.run(["--", "cat", ".env"], profile=job.secretive)
    job.step("read a denied .env", r, {
        "denied": (denied(r[0], "kind"), "file_read"), "path": (denied(r[0], "path"), ws + "/.env"),
        "secret kept": ("do-not-read-me" in json.dumps(r[0]), False)})
    r = job.answer("y", ["--", "cat", ".env"], profile=job.secretive,
                   options=["--sandbox-permissions", "require_escalated", "--justification", "I want the key"])
    job.step("… also escalated and approved", r, {
        "asked": (bool(r[3]), True), "still sandboxed": ([a["sandbox"] for a in r[0].get("attempts", [])], ["linux"]),
        "denied": (denied(r[0], "kind"), "file_read"), "secret kept": ("do-not-read-me" in json.dumps(r[0]), False)})
    r = job.run(["--", "curl", "-sS", "--max-time", "5", "http://shop.invalid/"])
    job.step("curl somewhere", r, {"denied": (denied(r[0], "kind"), "network"), "one attempt": (attempts(r[0]), 1),
                                   "host": ("shop.invalid" in (denied(r[0], "host") or ""), True)})

    os.makedirs(ws + "/scratch")
    r = job.run(["--", "rm", "-rf", "scratch"])
    job.step("rm -rf, nobody to ask", r, {"exit": (r[1], 125), "nothing ran": (attempts(r[0]), 0),
                                          "kept": (os.path.isdir(ws + "/scratch"), True)})
    r = job.answer("n", ["--", "rm", "-rf", "scratch"])
    job.step("rm -rf, asked: no", r, {"asked": ("rm -rf scratch" in r[3], True), "exit": (r[1], 125),
                                      "kept": (os.path.isdir(ws + "/scratch"), True)})
    r = job.answer("y", ["--", "rm", "-rf", "scratch"])
    job.step("rm -rf, asked: yes", r, {"asked": (bool(r[3]), True), "exit": (r[1], 0),
                                       "still sandboxed": ([a["sandbox"] for a in r[0].get("attempts", [])], ["linux"]),
                                       "gone": (os.path.isdir(ws + "/scratch"), False)})

    r = job.run(["--shell", "echo permission denied; sleep 60"], options=["--timeout-ms", "400"])
    job.step('print "permission denied", time out', r, {
        "exit": (r[1], 124), "a time-out, not a denial": (denied(r[0], "kind"), None),
        "output kept": ("permission denied" in r[0].get("stdout", ""), True)})
    marker = f"300.{os.getpid()}"
    r = job.run(["--", "sh", "-c", f"sleep {marker} & echo done"])
    left = subprocess.run(["pgrep", "-f", f"^sleep {marker}"], stdout=subprocess.PIPE, check=False).stdout
    job.step("leave a sleeper behind", r, {"exit": (r[1], 0), "output": (r[0].get("stdout"), "done\n"),
                                           "at once": (r[2] < 10, True), "nothing left behind": (left, b"")})
    stray = sorted(set(os.listdir(ws)) - set(SOURCES) - {".git"})
    job.step("the workspace afterwards", ({"decision": {"requirement": {"kind": "-"}}}, 0), {"stray files": (stray, [])})


def table(rows):
    heads = ("step", "decision", "boundary", "outcome")
    widths = [max(len(head), *(len(row[i]) for row in rows)) for i, head in enumerate(heads)]
    line = "  ".join("{:<" + str(w) + "}" for w in widths)
    print("   " + line.format(*heads))
    for row in rows:
        print(("ok " if not row[4] else "NO ") + line.format(*row[:4]))
        for problem in row[4]:
            print("     " + problem)


def main():
    if len(sys.argv) != 2 or not os.access(sys.argv[1], os.X_OK):
        print("usage: main_job.py PROGRAM (build/release/gatehouse)", file=sys.stderr)
        return 2
    job = Job(sys.argv[1])
    try:
        play(job)
    finally:
        job.close()
    table(job.rows)
    failed = sum(1 for row in job.rows if row[4])
    print(f"{len(job.rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
