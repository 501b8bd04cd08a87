#!/usr/bin/env python3
"""`gatehouse batch` (§202) with input, journals and outputs that are wrong: a clear message, nothing lost, nothing half done."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from run_case import GATEHOUSE, GRACE_S, RunCase


class Faults(RunCase):
    def setUp(self):
        super().setUp()
        self.journal = self.base + "/journal"

    def file(self, content, name="calls.jsonl"):
        path = f"{self.base}/{name}"
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    @staticmethod
    def lines(*commands):
        return "".join(json.dumps({"callId": f"c{n}", "arguments": {"command": command}}) + "\n" for n, command in enumerate(commands))

    def argv(self, path, *options):
        return [GATEHOUSE, "batch", "--cwd", self.ws, "--profile", "workspace-write", *options, path]

    def batch(self, path, *options, **more):
        done = subprocess.run(self.argv(path, *options), **{"env": self.env, "stdin": subprocess.DEVNULL, "capture_output": True,
                                                            "timeout": GRACE_S, "check": False, **more})
        return done.returncode, [json.loads(line) for line in (done.stdout or b"").splitlines()], done.stderr.decode()

    def finished(self):
        """How many calls the journal says have ended."""
        if not os.path.exists(self.journal):
            return 0
        with open(self.journal, "rb") as file:
            return file.read().count(b'{"finished"')

    def log(self):
        """What the calls have noted."""
        if not os.path.exists(self.ws + "/log"):
            return []
        with open(self.ws + "/log", encoding="ascii") as file:
            return file.read().split()

    def refused(self, content, *words, options=()):
        """Nothing ran, and the message holds each of the words."""
        before = sorted(os.listdir(self.ws))
        status, results, said = self.batch(self.file(content), *options)
        self.assertEqual((status, results), (2, []), said)
        for word in words:
            self.assertIn(word, said)
        self.assertLess(len(said), 4000)
        self.assertEqual(sorted(os.listdir(self.ws)), before)

    def test_202_wrong_input_names_its_line_and_runs_nothing(self):
        first = self.lines("touch ran")
        self.refused(first + first, ":2:", "`c0` stands twice")
        self.refused(first + '{"arguments": {"command": "true"', ":2:", "not valid JSON")
        self.refused(first + "{}\n", ":2", "arguments")
        self.refused(first + '{"callId": 7, "arguments": {"command": "true"}}\n', ":2", "callId")
        self.refused(first + '{"arguments": {"command": "true"}} {"arguments": {"command": "true"}}\n', ":2:", "text after the JSON value")
        self.refused(first.encode() + b"\xff\xfe\x00\x01" * 100, ":2:", "not valid UTF-8")
        self.refused(b"\x7fELF\x02\x01\x01\0\0\0" * 50, ":1:")
        self.refused(first.encode("utf-16"), ":1:", "not valid UTF-8")
        self.refused(first + '{"arguments": {"command": "a\\u0000b"}}\n', ":2")
        self.refused("{\n" * 5000, ":1:", "and 4990 further lines")

    def test_202_a_line_of_100_megabytes_is_refused_and_named(self):
        self.refused(self.lines("touch ran") + json.dumps({"arguments": {"command": "x" * 100_000_000}}) + "\n", ":2:", "longer than 16777216 bytes")

    def test_202_no_file_a_folder_and_an_empty_file(self):
        for path, word in ((self.base + "/none", "No such file"), (self.ws, "Is a directory")):
            status, results, said = self.batch(path)
            self.assertEqual((status, results), (2, []))
            self.assertIn(word, said)
        for content in ("", "\n\n \t\r\n"):
            status, results, said = self.batch(self.file(content), "--journal", self.journal + str(len(content)))
            self.assertEqual((status, results), (0, []))
            self.assertIn("nothing to do", said)

    def test_202_a_file_of_another_system_was_not_read(self):
        """A byte order mark, CRLF, no newline at the end."""
        text = "\ufeff" + self.lines("echo one", "echo two").replace("\n", "\r\n").rstrip()
        status, results, said = self.batch(self.file(text))
        self.assertEqual((status, [r["result"]["output"] for r in results]), (0, ["one\n", "two\n"]), said)

    def test_202_a_file_that_is_no_journal_lost_its_last_line(self):
        path = self.file(self.lines("echo one"))
        for content in (b"notes of mine", b"line\nlast line without its end", b'{"started":0}\n{"fin', b"\0\0\0", self.lines("echo one").encode().rstrip()):
            other = self.file(content, "other")
            status, results, said = self.batch(path, "--journal", other)
            self.assertEqual((status, results), (2, []), said)
            self.assertIn("this is no journal of a batch", said)
            with open(other, "rb") as file:
                self.assertEqual(file.read(), content)
        status, results, said = self.batch(path, "--journal", path)
        self.assertEqual((status, results), (2, []), said)
        os.mkfifo(self.base + "/pipe")
        for place in (self.base + "/pipe", "/dev/null"):
            status, _, said = self.batch(path, "--journal", place)
            self.assertEqual(status, 2)
            self.assertIn("a journal is a regular file", said)

    def test_202_a_journal_cut_at_any_byte_goes_on_and_runs_no_finished_call_again(self):
        path = self.file(self.lines("echo one >> log", "echo two >> log"))
        self.assertEqual(self.batch(path, "--journal", self.journal)[0], 0)
        with open(self.journal, "rb") as file:
            whole = file.read()
        ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
        for cut in sorted({0, 1, *ends, *(end - 1 for end in ends), *(end - 5 for end in ends)}):
            with self.subTest(cut=cut):
                with open(self.journal, "wb") as file:
                    file.write(whole[:cut])
                if os.path.exists(self.ws + "/log"):
                    os.remove(self.ws + "/log")
                status, results, said = self.batch(path, "--journal", self.journal, "--order", "input")
                self.assertEqual(len(results), 2, said)
                ran = self.log()
                head, *stand = whole[:cut].split(b"\n")[:-1] or [b""]
                for index, word in enumerate(("one", "two")):
                    ended = any(line.startswith(b'{"finished":{"index":%d,' % index) for line in stand)
                    started = b'{"started":%d}' % index in stand
                    self.assertEqual(word in ran, not started and not ended)
                    self.assertEqual(results[index]["result"]["status"], "interrupted" if started and not ended else "completed")
                again = self.batch(path, "--journal", self.journal)
                self.assertEqual(len(again[1]), 2, again[2])

    def test_202_a_mistyped_journal_ran_every_call_again(self):
        path = self.file(self.lines("echo one >> log", "echo two >> log"))
        status, results, said = self.batch(path, "--journal", self.journal, "--resume")
        self.assertEqual((status, results), (2, []), said)
        self.assertIn(self.journal + ": there is no such journal, so nothing to go on with", said)
        self.assertIn("Without --resume every call runs.", said)
        self.assertFalse(os.path.exists(self.journal))
        self.assertEqual(self.batch(path, "--journal", self.journal)[0], 0)
        status, results, said = self.batch(path, "--journal", self.journal, "--resume")
        self.assertEqual((status, len(results)), (0, 2), said)
        self.assertIn("2 of them in an earlier run", said)
        self.assertEqual(self.batch(path, "--journal", self.journal + "x", "--resume")[0], 2)
        self.assertEqual(self.log(), ["one", "two"])

    def test_202_resume_without_a_journal_says_what_it_needs(self):
        path = self.file(self.lines("touch ran"))
        status, results, said = self.batch(path, "--resume")
        self.assertEqual((status, results), (2, []), said)
        self.assertIn("--resume needs --journal FILE", said)
        self.assertIn("gatehouse audit list", said)
        self.assertFalse(os.path.exists(self.ws + "/ran"))

    def test_202_the_work_folder_of_a_slurm_batch_stands_for_its_journal(self):
        path = self.file(self.lines("touch ran"))
        work = self.base + "/work"
        for more in ([], ["--retry-started"]):
            status, results, said = self.batch(path, "--engine", "slurm", "--work", work, "--resume", *more)
            self.assertEqual((status, results), (2, []), said)
            self.assertIn(work + " has no batch, so nothing to go on with", said)
            self.assertFalse(os.path.exists(work))

    def test_202_a_batch_that_was_killed_goes_on_with_resume(self):
        """The calls are ended by hand, so that the moment of the kill is known: one has ended, one runs, one has not begun."""
        wait = "echo b >> log; while [ ! -e go ]; do sleep 0.01; done"
        path = self.file(self.lines("echo a >> log", wait, "echo c >> log"))
        with subprocess.Popen(self.argv(path, "--journal", self.journal), env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as run:
            while run.poll() is None and self.log() != ["a", "b"]:
                time.sleep(0.01)
            run.send_signal(signal.SIGKILL)
        status, results, said = self.batch(path, "--journal", self.journal, "--resume", "--order", "input")
        self.assertEqual((status, [r["result"]["status"] for r in results]), (1, ["completed", "interrupted", "completed"]), said)
        self.assertEqual("".join(self.log()), "abc")
        open(self.ws + "/go", "w", encoding="ascii").close()
        status, results, said = self.batch(path, "--journal", self.journal, "--resume", "--retry-started", "--order", "input")
        self.assertEqual((status, [r["result"]["status"] for r in results]), (0, ["completed"] * 3), said)
        self.assertEqual("".join(self.log()), "abcb")

    def test_202_two_batches_on_one_journal(self):
        path = self.file(self.lines("touch began; sleep 20"))
        with subprocess.Popen(self.argv(path, "--journal", self.journal), env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as first:
            while not os.path.exists(self.ws + "/began") and first.poll() is None:
                time.sleep(0.01)
            status, results, said = self.batch(path, "--journal", self.journal)
            first.send_signal(signal.SIGINT)
        self.assertEqual((status, results), (2, []), said)
        self.assertIn("another run holds this journal", said)

    def on_small_disk(self, size, path, *options):
        """The journal lies on a disk of that size."""
        os.makedirs(self.base + "/disk", exist_ok=True)
        script = f'mount -t tmpfs -o size={size} none {self.base}/disk && "$@"; s=$?; cp {self.base}/disk/journal {self.base}/kept; exit $s'
        if subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {self.base}/disk"], capture_output=True, check=False).returncode:
            self.skipTest("this test mounts a small disk, which only root can")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "-", *self.argv(path, "--journal", self.base + "/disk/journal", *options)],
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE_S, check=False)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_202_a_full_disk_left_half_a_line_in_the_journal_and_a_result_untold(self):
        commands = [f"echo {n} >> log; seq 1 {400 if n % 3 else 1}" for n in range(60)]
        path = self.file(self.lines(*commands))
        status, results, said = self.on_small_disk("32k", path, "-j", "4")
        self.assertEqual(status, 1, said)
        self.assertIn("the journal cannot be written: No space left on device", said)
        self.assertIn("not run", said)
        with open(self.base + "/kept", "rb") as file:
            kept = file.read()
        self.assertTrue(kept.endswith(b"\n"))
        for line in kept.splitlines():
            json.loads(line)
        ran = set(self.log())
        told = {str(r["index"]) for r in results if r["result"]["status"] == "completed"}
        self.assertLessEqual(told, ran)
        self.assertLessEqual(len(ran - told), 4)  # cut in the middle
        # With room the same command goes on: nothing that ended runs again.
        shutil.copy(self.base + "/kept", self.journal)
        status, results, said = self.batch(path, "--journal", self.journal)
        self.assertEqual(len(results), 60, said)
        log = self.log()
        self.assertEqual(len(log), len(set(log)), "a call ran twice")

    def test_202_a_disk_that_is_full_from_the_start_runs_nothing(self):
        path = self.file(self.lines("touch ran"))
        os.makedirs(self.base + "/disk")
        script = f'mount -t tmpfs -o size=4k none {self.base}/disk && head -c 8192 /dev/zero > {self.base}/disk/full; "$@"'
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "-", *self.argv(path, "--journal", self.base + "/disk/journal")],
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE_S, check=False)
        if "unshare" in done.stderr or "mount" in done.stderr:
            self.skipTest("this test mounts a small disk, which only root can")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("No space left", done.stderr)
        self.assertFalse(os.path.exists(self.ws + "/ran"))

    def test_202_results_in_the_order_of_the_input_were_lost_when_the_daemon_went_away(self):
        server = subprocess.Popen([GATEHOUSE, "serve", "--profile", "workspace-write"], cwd=self.ws, env=self.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        path = self.file(self.lines("sleep 50", "echo two", "echo three; touch third", "sleep 40"))
        argv = [GATEHOUSE, "batch", "--cwd", self.ws, "--url", server.stdout.readline().strip(), "-j", "2", "--order", "input",
                "--journal", self.journal, path]
        with subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            while run.poll() is None:
                if self.finished() == 2:
                    break
                time.sleep(0.01)
            server.kill()
            out, said = run.communicate(timeout=GRACE_S)
        self.assertEqual(run.returncode, 1, said)
        self.assertIn("the daemon cannot be used", said)
        self.assertEqual([(r["callId"], r["result"]["status"], r["result"].get("output") or "") for r in map(json.loads, out.splitlines())],
                         [("c0", "interrupted", ""), ("c1", "completed", "two\n"), ("c2", "completed", "three\n"), ("c3", "interrupted", "")])
        self.assertIn("2 fine, 2 interrupted", said)
        self.assertIn("by its journal", said)

    def test_202_calls_that_may_have_run_were_not_named_when_the_daemon_went_away_without_a_journal(self):
        server = subprocess.Popen([GATEHOUSE, "serve", "--profile", "workspace-write"], cwd=self.ws, env=self.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        path = self.file(self.lines(*["echo began >> log; sleep 50"] * 5))
        argv = [GATEHOUSE, "batch", "--cwd", self.ws, "--url", server.stdout.readline().strip(), "-j", "3", "--json", path]
        with subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            while run.poll() is None and len(self.log()) < 3:
                time.sleep(0.01)
            server.kill()
            out, said = run.communicate(timeout=GRACE_S)
        *told, last = map(json.loads, out.splitlines())
        self.assertEqual(sorted((r["callId"], r["result"]["status"]) for r in told), [(f"c{n}", "interrupted") for n in range(3)], said)
        summary = last["summary"]
        self.assertEqual((run.returncode, summary["interrupted"], summary["not_run"]), (1, 3, 2), said)
        self.assertEqual(summary["not_fine"], [{"ending": "interrupted", "calls": 3, "first": ["c0", "c1", "c2"]}])
        self.assertIn("without --journal every call runs again", last["failure"]["remedy"])

    def test_202_calls_that_no_daemon_was_sent_were_told_as_interrupted(self):
        token = self.file("x", "token")
        os.chmod(token, 0o600)
        argv = [GATEHOUSE, "batch", "--cwd", self.ws, "--url", "ws://127.0.0.1:1", "--token-file", token, "--json", self.file(self.lines("true"))]
        done = subprocess.run(argv, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE_S, check=False)
        last = json.loads(done.stdout)
        self.assertEqual((done.returncode, last["summary"]["interrupted"], last["summary"]["not_run"]), (1, 0, 1), done.stderr)
        self.assertIn("no call has run", last["failure"]["remedy"])

    def test_202_a_journal_had_calls_as_started_that_no_daemon_was_sent(self):
        path = self.file(self.lines("echo one", "echo two"))
        token = self.file("x", "token")
        os.chmod(token, 0o600)

        def batch(url, *options):
            argv = [GATEHOUSE, "batch", "--cwd", self.ws, "--url", url, "--journal", self.journal, "--json", *options, path]
            done = subprocess.run(argv, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE_S, check=False)
            return done.returncode, json.loads(done.stdout.splitlines()[-1])["summary"]

        nobody = "ws://127.0.0.1:1", "--token-file", token
        status, summary = batch(*nobody)
        self.assertEqual((status, summary["interrupted"], summary["not_run"]), (1, 0, 2))
        server = subprocess.Popen([GATEHOUSE, "serve", "--profile", "workspace-write"], cwd=self.ws, env=self.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        status, summary = batch(server.stdout.readline().strip())
        self.assertEqual((status, summary["fine"], summary["not_run"]), (0, 2, 0))
        # What is in the journal needs nobody to run it.
        status, summary = batch(*nobody)
        self.assertEqual((status, summary["fine"], summary["not_run"]), (0, 2, 0))

    def test_202_what_had_finished_before_was_counted_as_not_run_when_the_next_run_was_stopped(self):
        path = self.file(self.lines("echo $$ > pid; sleep 50", "echo two", "echo three", "true"))
        for run_number in range(2):
            with subprocess.Popen(self.argv(path, "-j", "2" if run_number == 0 else "1", "--journal", self.journal, "--retry-started"), env=self.env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                while run.poll() is None and not (os.path.exists(self.ws + "/pid") and self.finished() == 3):
                    time.sleep(0.01)
                run.send_signal(signal.SIGINT)
                out, said = run.communicate(timeout=GRACE_S)
            os.remove(self.ws + "/pid")
            self.assertEqual(run.returncode, 120, said)
            told = {r["callId"]: r["result"]["status"] for r in map(json.loads, out.splitlines())}
            self.assertEqual(told, {"c0": "interrupted", "c1": "completed", "c2": "completed", "c3": "completed"}, said)
            self.assertNotIn("not run", said)

    def test_202_a_reader_that_goes_away_ends_the_batch_and_the_journal_has_the_rest(self):
        path = self.file(self.lines(*[f"echo {n} >> log; echo {n}; sleep 0.02" for n in range(200)]))
        argv = self.argv(path, "-j", "2", "--journal", self.journal)
        with subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            json.loads(run.stdout.readline())
            run.stdout.close()
            said = run.stderr.read()
        self.assertEqual(run.returncode, 1, said)
        self.assertIn("the results cannot be written", said)
        status, results, said = self.batch(path, "--journal", self.journal)
        self.assertEqual(len(results), 200, said)
        log = self.log()
        self.assertEqual(len(log), len(set(log)), "a call ran twice")
        self.assertLessEqual(sum(r["result"]["status"] == "interrupted" for r in results), 2)


if __name__ == "__main__":
    unittest.main()
