"""§11, §56, §107, §D16: patches through the whole system, as `gatehouse apply-patch` and caught in shell commands.

Everything happens in folders made for the test; questions are answered through a pseudo-terminal, as a person does.
"""
import concurrent.futures
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from boundary_support import running
from run_case import GRACE_S, SANITIZED, answer_at_terminal

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases", "apply_patch.jsonl")


def patch(*lines):
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch")) + "\n"


def add(path, text="x"):
    return patch(f"*** Add File: {path}", *("+" + line for line in text.split("\n")))


def update(path, old, new):
    return patch(f"*** Update File: {path}", "@@", "-" + old, "+" + new)


def tree(folder):
    """As the cases spell it: links as LINK:target, empty folders as DIR with a slash behind the name."""
    found = {}
    for at, folders, files in os.walk(folder):
        below = os.path.relpath(at, folder)
        for name in files + [f for f in folders if os.path.islink(os.path.join(at, f))]:
            path = os.path.join(at, name)
            key = os.path.normpath(os.path.join(below, name))
            if os.path.islink(path):
                found[key] = "LINK:" + os.readlink(path)
            elif stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as f:
                    found[key] = f.read().decode("utf-8", "surrogateescape")
            else:
                found[key] = "SPECIAL"
        if not folders and not files and below != ".":
            found[below + "/"] = "DIR"
    return found


class Patches(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
        self.ws = os.path.join(self.base, "ws")
        self.out = os.path.join(self.base, "out")
        for folder in (self.ws, self.out, self.base + "/home"):
            os.makedirs(folder)
        self.env = {"HOME": self.base + "/home", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                    "TERM": "dumb", "SHELL": "/bin/bash",
                    "XDG_STATE_HOME": self.base + ".state"}  # the audit, outside the tree that is compared

    def tearDown(self):
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.rmtree(self.base + ".state", ignore_errors=True)

    def put(self, name, text="", folder=None):
        path = os.path.join(folder or self.ws, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def get(self, name, folder=None):
        with open(os.path.join(folder or self.ws, name), "rb") as f:
            return f.read().decode("utf-8", "replace")

    def run_it(self, *argv, **more):
        more.setdefault("stdin", subprocess.DEVNULL) if "input" not in more else None
        return subprocess.run([GATEHOUSE, *argv], env=self.env, cwd=self.ws, capture_output=True, timeout=GRACE_S,
                              check=False, **more)

    def apply(self, text, *options, profile="workspace-write"):
        data = text if isinstance(text, bytes) else text.encode()
        return self.run_it("apply-patch", "--profile", profile, *options, input=data)

    def document(self, text, *options, **more):
        done = self.apply(text, "--json", *options, **more)
        return json.loads(done.stdout), done.returncode

    def shell(self, script, *options, profile="workspace-write"):
        done = self.run_it("run", "--json", "--profile", profile, *options, "--", "bash", "-lc", script)
        return json.loads(done.stdout), done.returncode

    def ask(self, keys, *argv):
        """At a terminal: sends `keys` one after the other, each when a fresh prompt stands. Returns (shown, status)."""
        return answer_at_terminal([GATEHOUSE, *argv], self.env, keys, cwd=self.ws)

    def assert_unchanged(self, before, folder=None):
        self.assertEqual(tree(folder or self.base), before)

    # The recorded cases.

    def test_D16_every_recorded_patch_through_the_real_program(self):
        with open(CASES, encoding="utf-8") as f:
            rows = [json.loads(line) for line in f if line.strip()]
        self.assertGreater(len(rows), 90)

        def run(row, how):
            folder = tempfile.mkdtemp(dir=self.base)
            for name, text in row["files_before"].items():
                path = os.path.join(folder, name)
                os.makedirs(path if text == "DIR" else os.path.dirname(path), exist_ok=True)
                if text.startswith("LINK:"):
                    os.symlink(text[5:], path)
                elif text != "DIR":
                    with open(path, "wb") as f:
                        f.write(text.encode())
            for name, mode in row.get("modes_before", {}).items():
                os.chmod(os.path.join(folder, name), int(mode, 8))
            argv = row["argv"] if "argv" in row else [row["patch"]] if how == "argument" else []
            data = row.get("stdin", row["patch"]).encode()
            done = subprocess.run([GATEHOUSE, "apply-patch", *argv], input=data, env=self.env, cwd=folder,
                                  capture_output=True, timeout=GRACE_S, check=False)
            modes = {name: oct(os.stat(os.path.join(folder, name)).st_mode & 0o7777)
                     for name in row.get("modes_after", {})}
            return (row, how, done, tree(folder), modes)

        jobs = [(row, how) for row in rows for how in ("stdin", "argument")]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for row, how, done, after, modes in pool.map(lambda job: run(*job), jobs):
                with self.subTest(case=row["name"], how=how, stderr=done.stderr):
                    self.assertEqual(done.returncode, row["exit"])
                    if "stdout" in row:
                        self.assertEqual(done.stdout.decode(), row["stdout"])
                        self.assertEqual(done.stderr, b"")
                    else:
                        self.assertEqual(done.stdout, b"")
                        self.assertNotEqual(done.stderr, b"")
                    self.assertEqual(after, row["files_after"])
                    self.assertEqual(modes, row.get("modes_after", {}))

    def test_wrong_usage_is_2(self):
        for argv in (["a", "b"], [add("a"), add("b")], ["--no-such", add("a")], ["--timeout-ms", "0", add("a")]):
            done = self.run_it("apply-patch", *argv, input=b"")
            self.assertEqual((done.returncode, done.stdout), (2, b""), argv)
        self.assertEqual(tree(self.ws), {})

    # What policy says of the files (§63, §64, §129).

    def test_11_inside_is_applied_without_a_question_in_the_sandbox(self):
        doc, status = self.document(add("a/b.txt"))
        self.assertEqual(status, 0)
        self.assertEqual(doc["decision"]["requirement"]["kind"], "skip")
        self.assertEqual(doc["attempts"][0]["sandbox"], "linux")
        self.assertEqual(doc["delta"], [{"change": "add", "path": self.ws + "/a/b.txt"}])
        self.assertEqual(doc["stdout"], "Success. Updated the following files:\nA a/b.txt\n")

    def test_BR_193_how_many_chunks_matched_only_tolerantly_is_reported(self):
        self.put("f", "a  \n\tb\nc\n")
        doc, status = self.document(patch("*** Update File: f", "@@", "-a", "+A", "@@", "-b", "+B", "@@", "-c", "+C"))
        self.assertEqual((status, doc["tolerant_matches"], self.get("f")), (0, 2, "A\nB\nC\n"))

    def test_107_what_is_on_disk_before_a_failure_is_reported_file_by_file(self):
        """A file that is a mount point cannot be replaced: the system refuses the second of three."""
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        for name in "fgh":
            self.put(name, "a\n")
        text = patch(*[line for name in "fgh" for line in (f"*** Update File: {name}", "@@", "-a", "+b")])
        done = subprocess.run(["unshare", "-m", "sh", "-c", 'mount --bind g g && "$1" apply-patch --json', "sh", GATEHOUSE],
                              input=text.encode(), env=self.env, cwd=self.ws, capture_output=True, timeout=GRACE_S,
                              check=False)
        doc = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(doc["delta"], [{"change": "update", "path": self.ws + "/f"}])
        self.assertEqual(len(doc["patch"]), 3)
        self.assertIn("This part of the patch is on disk and stays: update " + self.ws + "/f", doc["message"])
        self.assertIn(self.ws + "/g", doc["message"])
        self.assertEqual(tree(self.ws), {"f": "b\n", "g": "a\n", "h": "a\n"})

    def test_11_outside_is_asked_about_by_name_and_refused_when_nobody_answers(self):
        before = tree(self.base)
        for name in (self.out + "/f", "../out/f"):
            doc, status = self.document(add(name))
            self.assertEqual(status, 125)
            self.assertEqual(doc["attempts"], [])
            self.assertEqual(doc["delta"], [])
            self.assertIn(self.out + "/f", doc["decision"]["requirement"]["reason"])
            self.assertEqual(doc["reviews"][0]["reviewer"], "none")
        os.symlink(self.out, self.ws + "/link")
        doc, status = self.document(add("link/f"))
        self.assertEqual(status, 125)
        self.assertIn(self.out + "/f", doc["message"])
        os.unlink(self.ws + "/link")
        self.assert_unchanged(before)

    def test_11_outside_is_refused_under_never_and_granular_off(self):
        before = tree(self.base)
        for ask in ("never", json.dumps({"granular": {"sandbox_approval": False, "rules": True}})):
            doc, status = self.document(add("../out/f"), "--ask", ask)
            self.assertEqual((status, doc["reviews"]), (125, []))
            self.assertEqual(doc["decision"]["requirement"]["kind"], "forbidden")
        self.assert_unchanged(before)

    def test_11_untrusted_asks_before_every_patch(self):
        doc, status = self.document(add("f"), "--ask", "untrusted")
        self.assertEqual((status, len(doc["reviews"])), (125, 1))
        self.assertIn("before every patch", doc["message"])

    def test_11_an_approved_patch_opens_its_folder_and_nothing_else(self):
        self.put("f", "a\n", self.out)
        shown, status = self.ask([b"y\n"], "apply-patch", update("../out/f", "a", "b"))
        self.assertEqual(status, 0, shown)
        self.assertIn("update " + self.out + "/f", shown)
        self.assertIn("write " + self.out, shown)
        self.assertIn("-a", shown)
        self.assertEqual(self.get("f", self.out), "b\n")
        shown, status = self.ask([b"n\n"], "apply-patch", update("../out/f", "b", "c"))
        self.assertEqual(status, 125)
        self.assertEqual(self.get("f", self.out), "b\n")

    def test_D16_nobody_is_asked_about_a_patch_that_does_not_fit(self):
        self.put("f", "a\n", self.out)
        shown, status = self.ask([], "apply-patch", update("../out/f", "zzz", "b"))
        self.assertEqual(status, 1)
        self.assertNotIn("approval needed", shown)
        self.assertIn("do not stand", shown)
        doc, status = self.document(update("f", "zzz", "b"), "--ask", "untrusted")
        self.assertEqual((status, doc["reviews"], doc["attempts"]), (1, [], []))

    def test_D12_a_path_that_no_system_call_takes_left_folders_behind(self):
        done = self.apply(add("n/" * 2100 + "z"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"is too long a path", done.stderr)
        self.assertEqual(os.listdir(self.ws), [])

    def test_48b_a_patch_that_its_time_limit_ended_said_nothing(self):
        for limit in ("1", "40"):
            done = self.apply(patch("*** Add File: a", "+x", "*** Add File: " + "n/" * 1500 + "z", "+x"),
                              "--timeout-ms", limit)
            self.assertEqual(done.returncode, 124)
            self.assertIn(b"ended by the time limit of " + limit.encode(), done.stderr)
            if b"no file was changed" in done.stderr:
                self.assertEqual(os.listdir(self.ws), [])
            self.assertEqual([name for name in os.listdir(self.ws) if name.startswith(".gatehouse-patch")], [])

    def test_an_update_lost_the_attributes_of_the_file(self):
        self.put("f", "a\n")
        try:
            os.setxattr(self.ws + "/f", "user.kept", b"v")
        except OSError:
            self.skipTest("this file system has no extended attributes")
        self.assertEqual(self.apply(update("f", "a", "b")).returncode, 0)
        self.assertEqual((self.get("f"), os.getxattr(self.ws + "/f", "user.kept")), ("b\n", b"v"))
        moved = patch("*** Update File: f", "*** Move to: g", "@@", "-b", "+c")
        self.assertEqual(self.apply(moved).returncode, 0)
        self.assertEqual((self.get("g"), os.getxattr(self.ws + "/g", "user.kept")), ("c\n", b"v"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_an_update_took_a_file_from_its_owner(self):
        self.put("f", "a\n")
        os.chown(self.ws + "/f", 65534, 65534)
        done = self.apply(update("f", "a", "b"))
        self.assertIn(b"its owner would be lost", done.stderr)
        self.assertEqual((done.returncode, self.get("f"), os.stat(self.ws + "/f").st_uid), (1, "a\n", 65534))
        self.assertEqual(os.listdir(self.ws), ["f"])
        os.chmod(self.ws + "/f", 0o666)
        self.assertEqual(self.apply(update("f", "a", "b")).returncode, 0)
        self.assertEqual((self.get("f"), os.stat(self.ws + "/f").st_uid), ("b\n", 65534))

    def test_63_protected_names_are_refused(self):
        os.makedirs(self.ws + "/.git/hooks")
        os.makedirs(self.ws + "/sub/nested/.git/hooks")
        self.put("sub/nested/.git/HEAD", "ref: refs/heads/main\n")
        self.put(".git/HEAD", "ref: refs/heads/main\n")
        os.symlink(".git", self.ws + "/innocent")
        before = tree(self.base)
        for name in (".git/hooks/pre-commit", "sub/../.git/hooks/x", self.ws + "/.git/config", "innocent/hooks/x",
                     "sub/nested/.git/hooks/x", ".bashrc", ".claude/x", ".vscode/tasks.json", "././/git/../.git/x"):
            doc, status = self.document(add(name))
            self.assertEqual((status, doc["attempts"], doc["reviews"]), (125, [], []), name)
            self.assertIn("refused by", doc["decision"]["requirement"]["reason"])
            self.assertIn("Refused by policy", doc["message"])
        self.put("f", "a\n")
        doc, status = self.document(patch("*** Update File: f", "*** Move to: .git/hooks/f", "@@", "-a", "+b"))
        self.assertEqual((status, self.get("f")), (125, "a\n"))
        doc, status = self.document(patch("*** Delete File: .git/HEAD"))
        self.assertEqual(status, 125)
        os.unlink(self.ws + "/f")
        self.assert_unchanged(before)

    def test_64_a_file_that_may_not_be_read_is_neither_changed_nor_compared(self):
        self.put("secret/key", "swordfish\n")
        os.symlink("secret/key", self.ws + "/key")
        profile = json.dumps({"type": "managed", "network": "restricted", "file_system": {
            "type": "restricted", "entries": [
                {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"},
                {"path": {"type": "path", "path": self.ws + "/secret"}, "access": "deny"}]}})
        messages = set()
        for text in (update("secret/key", "swordfish", "x"), update("secret/key", "wrong", "x"),
                     update("key", "swordfish", "x")):
            doc, status = self.document(text, profile=profile)
            self.assertEqual((status, doc["attempts"]), (125, []))
            messages.add(doc["decision"]["requirement"]["reason"])
        self.assertEqual(len(messages), 1, messages)
        doc, status = self.document(add("secret/new"), profile=profile)
        self.assertEqual(status, 125)
        self.assertEqual(self.get("secret/key"), "swordfish\n")
        self.assertEqual(self.document(add("ok"), profile=profile)[1], 0)

    @unittest.skipIf(SANITIZED, "then our program needs shared libraries, which the profile does not show")
    def test_a_narrow_profile_need_not_show_our_program(self):
        profile = json.dumps({"type": "managed", "network": "restricted", "file_system": {
            "type": "restricted", "entries": [
                {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"}]}})
        doc, status = self.document(add("f"), profile=profile)
        self.assertEqual(status, 0, doc)

    def test_read_only_asks_and_full_access_does_not(self):
        self.assertEqual(self.document(add("f"), profile="read-only")[1], 125)
        doc, status = self.document(add(self.out + "/f"), profile="danger-full-access")
        self.assertEqual((status, doc["attempts"][0]["sandbox"]), (0, "none"))

    def test_a_rule_that_restricts_apply_patch_restricts_patches(self):
        rules = self.put("r.rules", 'prefix_rule(pattern=["apply_patch"], decision="forbidden", '
                         'justification="no patches on Fridays")\n', self.base)
        doc, status = self.document(add("f"), "--rules", rules)
        self.assertEqual(status, 125)
        self.assertIn("Fridays", doc["message"])

    # Interception in commands (§11).

    def test_11_a_patch_in_a_command_is_applied_in_every_form(self):
        text = add("f", "$HOME `x`")
        os.makedirs(self.ws + "/my dir")
        for script, where in ((f"apply_patch <<'EOF'\n{text}EOF", "f"), (f"apply_patch <<EOF\n{text}EOF\n", "f"),
                              (f"applypatch <<\"X\"\n{text}X", "f"), (f"cd 'my dir' && apply_patch <<'EOF'\n{text}EOF",
                                                                     "my dir/f"),
                              (f"apply_patch '{text}'", "f")):
            doc, status = self.shell(script)
            self.assertEqual(status, 0, (script, doc))
            self.assertEqual(doc["delta"], [{"change": "add", "path": f"{self.ws}/{where}"}])
            self.assertEqual(doc["stdout"], "Success. Updated the following files:\nA f\n")
            self.assertEqual(self.get(where), "$HOME `x`\n")
            os.unlink(os.path.join(self.ws, where))
        done = self.run_it("run", "--profile", "workspace-write", "--", "apply_patch", text)
        self.assertEqual((done.returncode, done.stdout), (0, b"Success. Updated the following files:\nA f\n"))
        done = self.run_it("run", "--profile", "workspace-write", "--shell", f"apply_patch <<'E'\n{update('f', '$HOME `x`', 'y')}E")
        self.assertEqual((done.returncode, self.get("f")), (0, "y\n"))

    def test_11_what_is_nearly_a_patch_runs_nothing(self):
        for script in (f"touch g; apply_patch <<'EOF'\n{add('f')}EOF", f"apply_patch <<'EOF'\n{add('f')}EOF\ntouch g",
                       f"touch g && apply_patch <<'EOF' | tee log\n{add('f')}EOF", add("f"), "cat f | apply_patch"):
            doc, status = self.shell(script)
            self.assertEqual((status, doc["attempts"]), (125, []), script)
            self.assertIn("apply_patch <<'EOF'", doc["message"])
        self.assertEqual(tree(self.ws), {})

    def test_11_a_missing_folder_is_an_error_and_is_not_made(self):
        doc, status = self.shell(f"cd missing && apply_patch <<'EOF'\n{add('f')}EOF")
        self.assertEqual(status, 1)
        self.assertIn("does not exist", doc["message"])
        self.assertEqual(tree(self.ws), {})

    def test_11_a_caught_patch_is_asked_about_as_one(self):
        shown, status = self.ask([b"y\n"], "run", "--profile", "workspace-write", "--", "bash", "-lc",
                                 f"apply_patch <<'EOF'\n{add('../out/f')}EOF")
        self.assertEqual(status, 0, shown)
        self.assertIn("add " + self.out + "/f", shown)
        self.assertEqual(self.get("f", self.out), "x\n")

    # Bad and huge input.

    def test_bad_input_has_a_clear_error_and_changes_nothing(self):
        self.put("f", "a\n")
        self.put("binary", b"\x00\xff\x01\n")
        os.mkfifo(self.ws + "/pipe")
        os.makedirs(self.ws + "/folder")
        before = tree(self.ws)
        for text, words in ((add("g").encode() + b"\x00", "NUL"), (add("g", "x").encode().replace(b"+x", b"+\xff\xfe"),
                                                                   "line 3: bytes that are no UTF-8"),
                            (b"*** Begin Patch\n*** Add File: g\n+" + b"x" * 10_000_000 + b"\n*** End Patch\n", "bytes"),
                            ("\n".join(["*** Begin Patch"] + [f"*** Add File: d/{i}" for i in range(10_001)] +
                                       ["*** End Patch"]), "10000 files"),
                            (update("pipe", "a", "b"), "not a regular file"), (add("pipe"), "not a regular file"),
                            (add("folder"), "folder"), (add("f/g"), "lies below"), (add("n" * 300), "long"),
                            (update("folder", "a", "b"), "folder"), (patch("*** Delete File: /"), "/"),
                            (patch("*** Add File: new/x", "+x", "*** Add File: new", "+y"), "folder"),
                            ("```\n" + add("g") + "```\n", "```"), ('{"command":["apply_patch","x"]}', "JSON"),
                            ("apply_patch <<'E'\n" + add("g") + "E\n", "alone")):
            done = self.apply(text)
            self.assertIn(done.returncode, (1, 125), (words, done))
            self.assertIn(words, done.stderr.decode(), done)
            self.assertLess(len(done.stderr), 4000)
            self.assert_unchanged(before, self.ws)

    def test_a_patch_of_many_files_is_applied_whole(self):
        count = 10_000  # the most that one patch may touch; its limit grows with them
        lines = [line for i in range(count) for line in (f"*** Add File: d{i % 40}/{i}", f"+{i}")]
        done = subprocess.run([GATEHOUSE, "apply-patch", "--json", "--profile", "workspace-write"], cwd=self.ws, env=self.env,
                              input=patch(*lines).encode(), capture_output=True, timeout=10 * GRACE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["delta"]), count)
        self.assertEqual(len(tree(self.ws)), count)

    def test_107_a_full_disk_leaves_every_file_as_it_was(self):
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        script = """
        mount -t tmpfs -o size=512k none "$1" && cd "$1" && printf 'a\\n' > f && printf 'b\\n' > g &&
        head -c 300000 /dev/zero | tr '\\0' x > big && printf '\\n' >> big
        "$2" apply-patch --profile workspace-write > out.txt 2> "$3"; status=$?
        cat f g; ls -A | tr '\\n' ' '; exit $status
        """
        text = patch("*** Update File: f", "@@", "-a", "+A", "*** Add File: new", *(["+" + "y" * 1000] * 400),
                     "*** Update File: g", "@@", "-b", "+B")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", self.ws, GATEHOUSE, self.base + "/err"],
                              input=text.encode(), env=self.env, capture_output=True, timeout=GRACE_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, b"a\nb\nbig f g out.txt "), done)
        self.assertIn("No space left", self.get("err", self.base))

    # Attacks.

    def test_107_a_file_swapped_for_a_link_by_another_process_leads_nowhere(self):
        """The folder of the file is exchanged with a link to the outside all the time."""
        self.put("f", "a\n", self.out)
        os.makedirs(self.ws + "/d")
        swapper = ("import os,sys,time\nd=sys.argv[1]\nos.symlink(sys.argv[2], d+'.l')\nend=time.time()+60\n"
                   "def move(a,b):\n  try: os.rename(a,b)\n  except OSError: pass\n"
                   "while time.time()<end:\n"
                   "  move(d,d+'.r'); move(d+'.l',d); move(d,d+'.l'); move(d+'.r',d)\n")
        with subprocess.Popen(["python3", "-c", swapper, self.ws + "/d", self.out]) as attacker:
            try:
                for _ in range(25):
                    self.apply(patch("*** Add File: d/f", "+evil", "*** Add File: d/new", "+evil"))
            finally:
                attacker.kill()
        self.assertEqual(tree(self.out), {"f": "a\n"})

    def test_BR_066_a_patch_outside_is_asked_about_or_refused_whatever_its_form(self):
        bashrc = self.put(".bashrc", "a\n", self.base + "/home")
        self.put("outside", "a\n", self.out)
        self.put("f", "a\n")
        before = tree(self.base)
        doc, status = self.document(update(bashrc, "a", "b"))
        self.assertEqual((status, doc["reviews"], doc["attempts"]), (125, [], []))
        self.assertIn("protected name `.bashrc`", doc["message"])
        for text in (update("../out/outside", "a", "b"),
                     patch("*** Update File: f", f"*** Move to: {self.out}/f", "@@", "-a", "+b")):
            doc, status = self.document(text)
            self.assertEqual((status, len(doc["reviews"]), doc["attempts"]), (125, 1, []), text)
            doc, status = self.document(text, "--ask", "never")
            self.assertEqual((status, doc["reviews"], doc["attempts"]), (125, [], []), text)
        self.assert_unchanged(before)

    def test_BR_067_a_link_to_the_outside_is_not_written_through(self):
        self.put("hard", "a\n", self.out)
        self.put("soft", "a\n", self.out)
        os.link(self.out + "/hard", self.ws + "/h")
        os.symlink(self.out + "/soft", self.ws + "/s")
        self.assertEqual(self.apply(update("h", "a", "b")).returncode, 0)
        self.assertEqual(self.apply(update("s", "a", "b")).returncode, 125)
        self.assertEqual((self.get("h"), tree(self.out)), ("b\n", {"hard": "a\n", "soft": "a\n"}))

    def test_BR_068_a_patch_makes_no_link_and_no_submodule(self):
        for mode, content in (("120000", self.out), ("160000", "Subproject commit 1234")):
            done = self.apply(f"diff --git a/link b/link\nnew file mode {mode}\n--- /dev/null\n+++ b/link\n"
                              f"@@ -0,0 +1 @@\n+{content}\n")
            self.assertEqual(done.returncode, 1, done)
            done = self.apply(patch("*** Add File: link", f"new file mode {mode}", "+" + content))
            self.assertEqual(done.returncode, 1, done)
        self.assertEqual(tree(self.ws), {})
        self.assertEqual(self.apply(add("link/x")).returncode, 0)
        self.assertEqual((tree(self.ws), tree(self.out)), ({"link/x": "x\n"}, {}))

    def test_BR_128_an_approval_covers_what_a_linked_folder_really_is(self):
        os.symlink(self.out, self.ws + "/l")
        shown, status = self.ask([b"y\n"], "apply-patch", add("l/f"))
        self.assertEqual(status, 0, shown)
        self.assertIn("write " + self.out, shown)
        self.assertEqual((tree(self.out), os.readlink(self.ws + "/l")), ({"f": "x\n"}, self.out))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("bindfs") and os.path.exists("/dev/fuse"), "needs a FUSE file system, and root to mount it")
    def test_BR_128_also_where_the_folder_is_a_fuse_file_system(self):
        mounted = self.base + "/mounted"
        os.mkdir(mounted)
        os.symlink(mounted, self.ws + "/l")
        host = ["/usr/bin/unshare", "--mount", "--propagation", "private", "sh", "-c",
                'bindfs "$1" "$2" && shift 2 && exec "$@"', "sh", self.out, mounted]
        shown, status = answer_at_terminal([*host, GATEHOUSE, "apply-patch", add("l/f")], self.env, [b"y\n"], cwd=self.ws)
        for server in running("bindfs\0" + self.out):  # it holds the mounts that it lives in
            os.kill(server, signal.SIGTERM)
        self.assertEqual(status, 0, shown)
        self.assertIn("write " + mounted, shown)
        self.assertEqual(tree(self.out), {"f": "x\n"})

    def test_BR_192_patches_of_one_file_at_once_all_arrive(self):
        self.put("f", "".join(f"line {i}\n" for i in range(20)))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            texts = [update("f", f"line {i}", f"LINE {i}") for i in range(20)]
            for done in pool.map(self.apply, texts):
                self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.get("f"), "".join(f"LINE {i}\n" for i in range(20)))
        self.assertEqual(os.listdir(self.ws), ["f"])

    def test_links_and_moves_do_what_they_say(self):
        self.put("a", "1\n")
        self.put("b", "2\n")
        os.chmod(self.ws + "/a", 0o750)
        doc, status = self.document(patch("*** Update File: a", "*** Move to: b", "@@", "-1", "+3"))
        self.assertEqual(status, 0)
        self.assertEqual(doc["delta"], [{"change": "move", "path": self.ws + "/b", "from": self.ws + "/a"}])
        self.assertEqual(tree(self.ws), {"b": "3\n"})
        self.assertEqual(os.stat(self.ws + "/b").st_mode & 0o777, 0o750)
        os.symlink("../out", self.ws + "/l")
        doc, status = self.document(patch("*** Delete File: l", "*** Add File: l", "+in"))
        self.assertEqual((status, tree(self.ws)), (0, {"b": "3\n", "l": "in\n"}), doc)


if __name__ == "__main__":
    unittest.main()
