#!/usr/bin/env python3
"""The journal of `gatehouse batch` (§202) against whoever writes to it: calls cannot, and what others do is noticed."""
import contextlib
import hashlib
import json
import os
import select
import subprocess
import unittest

from batch_case import BatchCase
from run_case import GATEHOUSE, GRACE_S

# What a call tried, to forge the results of later ones: each line that works is told. `{0}` is the journal.
ATTACKS = """
mv '{0}' '{0}.x' && echo moved
echo x > forged; mv -f forged '{0}' && echo replaced
ln '{0}' other-name && echo linked
unlink '{0}' && echo removed
( echo '{{"finished":{{"index":1}}}}' >> '{0}' ) && echo appended
( : > '{0}' ) && echo emptied
cat '{0}' && echo read
chmod 666 '{0}' && echo opened
echo tried
"""


class Journal(BatchCase):
    def setUp(self):
        super().setUp()
        self.journal = self.ws + "/run.journal"

    def script(self, name, text):
        with open(f"{self.ws}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        return f"sh {name} 2> /dev/null"

    def argv(self, path, *options, cwd=None, journal=None, profile="workspace-write"):
        return [GATEHOUSE, "batch", "--cwd", cwd or self.ws, "--profile", profile, "--order", "input", "--journal", journal or self.journal,
                *options, path]

    def batch(self, path, *options, **more):
        done = subprocess.run(self.argv(path, *options, **more), env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=GRACE_S, check=False)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    @staticmethod
    def outputs(results):
        return [r["result"].get("output") for r in results]

    def test_202_a_call_forged_the_results_of_later_calls(self):
        for number, place in enumerate(("/run.journal", "/a/b/run.journal", "/../beside.journal")):
            with self.subTest(place=place):
                journal = self.ws + place
                os.makedirs(os.path.dirname(journal), exist_ok=True)
                path = self.calls(self.script("try.sh", ATTACKS.format(journal)), f"echo ran >> log-{number}; echo true result")
                status, results, said = self.batch(path, journal=journal)
                self.assertEqual((status, self.outputs(results)), (0, ["tried\n", "true result\n"]), said)
                with open(journal, encoding="utf-8") as file:
                    self.assertEqual([next(iter(json.loads(line))) for line in file], ["run", "started", "finished", "started", "finished"])
                status, again, said = self.batch(path, "--resume", journal=journal)
                self.assertEqual((status, again), (0, results), said)
                with open(f"{self.ws}/log-{number}", encoding="ascii") as file:
                    self.assertEqual(file.read(), "ran\n")

    def test_202_a_patch_replaced_the_journal(self):
        path = self.base + "/calls.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            for change in ("*** Delete File: run.journal", "*** Add File: run.journal\n+forged"):
                file.write(json.dumps({"tool": "apply_patch", "arguments": {"patch": f"*** Begin Patch\n{change}\n*** End Patch\n"}}) + "\n")
        status, results, said = self.batch(path)
        self.assertNotEqual(status, 0, said)
        self.assertEqual(len(results), 2, said)
        self.assertNotIn("completed-0", [f"{r['result']['status']}-{r['result'].get('exitCode')}" for r in results])
        with open(self.journal, encoding="utf-8") as file:
            self.assertTrue(file.read().startswith('{"run":'))

    def test_202_the_folder_around_the_journal_was_moved_away(self):
        os.makedirs(self.ws + "/a/b")
        move = self.script("try.sh", "mv a gone && echo moved\nmv a/b gone && echo moved\nmkdir -p a/b && echo x > a/b/run.journal && echo made\necho tried\n")
        status, results, said = self.batch(self.calls(move, "echo two"), journal=self.ws + "/a/b/run.journal")
        self.assertEqual((status, self.outputs(results)), (0, ["tried\n", "two\n"]), said)

    def test_202_the_link_to_the_journal_was_turned(self):
        for folder in ("real", "other"):
            os.mkdir(f"{self.ws}/{folder}")
        os.symlink("real", self.ws + "/link")
        turn = self.script("try.sh", "ln -sfn other link && echo turned\nmv link gone && echo moved\nunlink link && echo removed\necho tried\n")
        status, results, said = self.batch(self.calls(turn, "echo two"), journal=self.ws + "/link/run.journal")
        self.assertEqual((status, self.outputs(results)), (0, ["tried\n", "two\n"]), said)
        self.assertEqual(os.readlink(self.ws + "/link"), "real")

    def test_202_the_work_folder_of_slurm_was_open_to_its_calls(self):
        """What a task runs, without a cluster."""
        work = self.ws + "/work"
        os.mkdir(work)
        with open(work + "/task.sh", "w", encoding="ascii") as file:
            file.write("echo secret\n")
        forge = self.script("try.sh", "cat work/task.sh\necho x > work/part-1.journal && echo written\nmv work gone && echo moved\necho tried\n")
        status, results, said = self.batch(self.calls(forge), "--work", work, journal=work + "/part-0.journal")
        self.assertEqual((status, self.outputs(results)), (0, ["tried\n"]), said)
        self.assertEqual(sorted(os.listdir(work)), ["part-0.journal", "task.sh"])
        status, _, said = self.batch(self.calls("true"), "--work", self.ws, journal=self.ws + "/part-1.journal")
        self.assertEqual(status, 2, said)
        self.assertIn("kept from them", said)

    @contextlib.contextmanager
    def held(self, *more, options=(), command=""):
        """A batch whose first call says that it runs and waits: yields the run, and what lets the call end."""
        fds = []
        for name in ("began", "go"):
            if not os.path.exists(f"{self.ws}/{name}"):
                os.mkfifo(f"{self.ws}/{name}")
            fds.append(os.open(f"{self.ws}/{name}", os.O_RDWR))
        try:
            path = self.calls(command + "echo x > began; read x < go; echo one >> log; test ! -e fail", *more)
            with subprocess.Popen(self.argv(path, *options), env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as run:
                try:
                    self.assertTrue(select.select([fds[0]], [], [], GRACE_S)[0], "the first call did not begin")
                    os.read(fds[0], 100)
                    yield run, lambda: os.write(fds[1], b"x\n" * 9)
                finally:
                    if run.poll() is None:
                        run.terminate()
        finally:
            for fd in fds:
                os.close(fd)

    def noticed(self, change, word, options=()):
        """What another program does to the journal while the first call runs: nothing more starts."""
        with self.held("touch later", options=options) as (run, let_go):
            change()
            let_go()
            out, said = run.communicate(timeout=GRACE_S)
        self.assertEqual(run.returncode, 1, said)
        self.assertIn(word, said)
        self.assertIn("1 not run", said)
        self.assertEqual([json.loads(line)["callId"] for line in out.splitlines()], ["c0"])
        self.assertFalse(os.path.exists(self.ws + "/later"))
        with open(self.ws + "/log", encoding="ascii") as file:
            self.assertEqual(file.read(), "one\n")

    def replace(self):
        with open(self.journal, "rb") as file:
            content = file.read()
        os.rename(self.journal, self.journal + ".x")
        with open(self.journal, "wb") as file:
            file.write(content)

    def append(self):
        with open(self.journal, "ab") as file:
            file.write(b'{"finished":{"index":1}}\n')

    def test_202_a_journal_was_replaced_by_its_copy_and_the_batch_went_on(self):
        self.noticed(self.replace, "removed or replaced while it ran")

    def test_202_a_journal_was_removed_and_the_batch_went_on(self):
        self.noticed(lambda: os.remove(self.journal), "removed or replaced while it ran")

    def test_202_a_journal_was_written_to_and_the_batch_went_on(self):
        self.noticed(self.append, "something else has written to the journal")

    def test_202_a_journal_was_given_a_second_name_and_the_batch_went_on(self):
        self.noticed(lambda: os.link(self.journal, self.ws + "/second"), "a second name")

    def test_202_a_call_was_retried_beside_a_replaced_journal(self):
        open(self.ws + "/fail", "w", encoding="ascii").close()
        self.noticed(self.replace, "removed or replaced while it ran", options=("--retries", "3"))

    def test_202_a_second_resume_ran_beside_a_live_run(self):
        with self.held("echo two >> log", command="mv run.journal .x; cp .x run.journal; ") as (run, let_go):
            status, results, said = self.batch(self.base + "/calls.jsonl", "--resume")
            self.assertEqual((status, results), (2, []), said)
            self.assertIn("another run holds this journal", said)
            let_go()
            out, said = run.communicate(timeout=GRACE_S)
        self.assertEqual((run.returncode, len(out.splitlines())), (0, 2), said)
        with open(self.ws + "/log", encoding="ascii") as file:
            self.assertEqual(file.read(), "one\ntwo\n")

    def test_202_a_journal_with_a_second_name_was_taken(self):
        path = self.calls("touch ran")
        open(self.journal, "w", encoding="ascii").close()
        os.link(self.journal, self.ws + "/second")
        status, results, said = self.batch(path)
        self.assertEqual((status, results), (2, []), said)
        self.assertIn("a second name", said)
        self.assertFalse(os.path.exists(self.ws + "/ran"))

    def test_202_the_calls_of_a_daemon_could_write_the_journal(self):
        os.symlink(self.ws, self.base + "/link")
        path = self.calls("true")
        for journal in (self.journal, self.base + "/link/run.journal", f"/tmp/gatehouse-{os.path.basename(self.base)}.journal"):
            status, results, said = self.batch(path, "--url", "ws://127.0.0.1:1", journal=journal)
            self.assertEqual((status, results), (2, []), said)
            self.assertIn("they could forge results", said)
            self.assertIn("Name one outside", said)
            self.assertFalse(os.path.exists(journal))

    def test_202_a_journal_told_results_of_calls_that_ran_elsewhere_or_otherwise(self):
        path, self.journal = self.calls("pwd -P"), self.base + "/journal"
        for name in ("a", "b"):
            os.mkdir(f"{self.base}/{name}")
        link = self.base + "/link"
        os.symlink("a", link)
        self.assertEqual(self.batch(path, cwd=link)[0], 0)
        status, results, said = self.batch(path, cwd=self.base + "/a")
        self.assertEqual((status, self.outputs(results)), (0, [self.base + "/a\n"]), said)
        for options, more in ((["--ask", "never"], {}), ([], {"profile": "read-only"}), (["--url", "ws://127.0.0.1:1"], {})):
            status, results, said = self.batch(path, *options, cwd=link, **more)
            self.assertEqual((status, results), (2, []), said)
            self.assertIn("the calls of this journal ran in", said)
        os.remove(link)
        os.symlink("b", link)
        status, results, said = self.batch(path, cwd=link)
        self.assertEqual((status, results), (2, []), said)
        self.assertIn(f"local:{self.base}/a ", said)
        self.assertIn(f"local:{self.base}/b ", said)

    def test_202_the_fingerprint_of_an_input_could_be_met_by_another(self):
        path = self.calls("true")
        self.assertEqual(self.batch(path)[0], 0)
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        with open(self.journal, encoding="utf-8") as file:
            self.assertEqual(json.loads(file.readline())["run"]["input"], "sha256:" + digest)


if __name__ == "__main__":
    unittest.main()
