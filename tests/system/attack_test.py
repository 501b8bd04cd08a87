"""What an attack on the whole chain once got away with, each with its smallest input (§D5, §D12, §D14, §63, §97, §99a)."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from run_case import GATEHOUSE, GRACE_S, RunCase


def below(pid):
    """Name → pid of the processes that descend from `pid`."""
    found, parents = {}, {str(pid)}
    for line in subprocess.run(["ps", "-eo", "pid,ppid,comm", "--sort", "pid"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout.splitlines():
        child, parent, name = line.split(None, 2)
        if parent in parents:
            parents.add(child)
            found[name] = int(child)
    return found


class AttackTest(RunCase):
    def setUp(self):
        super().setUp()
        self.env |= {"GATEHOUSE_HOME": self.base + "/gatehouse", "XDG_STATE_HOME": self.base + "/state"}

    def run_it(self, *given, **more):
        return super().run_it(*given, **{"cwd": self.ws, "text": True, **more})

    def test_a_nested_repository_cannot_be_exchanged_for_a_doctored_copy(self):
        subprocess.run(["git", "init", "-q", self.ws + "/sub"], env=self.env, check=True)
        done = self.run_it("--shell", "cp -a sub evil && echo x > evil/.git/hooks/pre-commit && mv sub old && "
                           "mv evil sub")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(os.path.exists(self.ws + "/sub/.git/hooks/pre-commit"))

    def test_a_rule_that_keeps_the_sandbox_does_not_swallow_a_wider_request(self):
        with open(self.base + "/k.rules", "w", encoding="utf-8") as rules:
            rules.write('prefix_rule(pattern=["touch"], decision="allow", sandbox="keep")\n')
        done = self.run_it("--json", "--rules", self.base + "/k.rules", "--sandbox-permissions", "require_escalated",
                           "--justification", "x", "--", "touch", self.base + "/made")
        document = json.loads(done.stdout)
        self.assertEqual(document["decision"]["requirement"]["kind"], "needs_approval")
        self.assertEqual(document["attempts"], [])

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.argv("--", "echo", "hello"), env=self.env, stdin=subprocess.DEVNULL,
                                  stdout=full, stderr=subprocess.PIPE, timeout=GRACE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot be written", done.stderr)

    def test_a_boundary_that_is_killed_around_a_running_command_is_not_called_never_started(self):
        host = subprocess.Popen(self.argv("--json", "--", "sh", "-c", "touch up; sleep 60"), env=self.env, cwd=self.ws,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        end = time.monotonic() + GRACE_S
        while not os.path.exists(self.ws + "/up"):
            self.assertLess(time.monotonic(), end)
        helper = subprocess.run(["pgrep", "-P", str(host.pid)], stdout=subprocess.PIPE, check=True).stdout.split()[0]
        os.kill(int(helper), signal.SIGKILL)
        document = json.loads(host.communicate(timeout=GRACE_S)[0])
        self.assertEqual(document["exit_status"], 137)
        self.assertIn("The command was killed: the sandbox helper was ended from outside by signal 9 while the command ran", document["message"])
        self.assertIn("Next: look at what it left", document["message"])

    def test_the_sandbox_alone_does_not_say_nothing_ran_when_its_init_is_killed_around_a_command(self):
        alone = subprocess.Popen([GATEHOUSE, "sandbox", "--cwd", self.ws, "--", "sh", "-c", "touch up; exec sleep 60"],
                                 env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + GRACE_S
        while not os.path.exists(self.ws + "/up"):
            self.assertLess(time.monotonic(), end)
        os.kill(below(alone.pid)["gatehouse-init"], signal.SIGKILL)
        said = alone.communicate(timeout=GRACE_S)[1]
        self.assertEqual(alone.returncode, 137, said)
        self.assertIn("may have run in part", said)

    def test_a_boundary_that_was_killed_around_its_command_ended_the_call_without_a_word(self):
        for name in ("bwrap", "gatehouse-init"):
            with self.subTest(name):
                host = subprocess.Popen(self.argv("--json", "--", "sh", "-c", "touch up; sleep 60"), env=self.env, cwd=self.ws,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                end = time.monotonic() + GRACE_S
                while not os.path.exists(self.ws + "/up"):
                    self.assertLess(time.monotonic(), end)
                os.kill(below(host.pid)[name], signal.SIGKILL)
                document = json.loads(host.communicate(timeout=GRACE_S)[0])
                os.remove(self.ws + "/up")
                self.assertEqual(document["exit_status"], 137)
                self.assertIn("The command was killed: the boundary was ended from outside", document["message"])

    def test_a_bubblewrap_that_was_replaced_between_two_calls_is_chosen_again(self):
        """One is loaded ahead of the second call; by then another file stands in its place."""
        if os.geteuid() != 0:
            self.skipTest("this test mounts over the system's bubblewrap, which only root can, in a namespace of its own")
        real = os.path.realpath(shutil.which("bwrap"))
        for name in ("old", "new"):
            with open(f"{self.base}/{name}", "w", encoding="ascii") as script:
                script.write(f'#!/bin/sh\necho {name} >> {self.base}/used\nexec {self.base}/bwrap "$@"\n')
            os.chmod(f"{self.base}/{name}", 0o755)
        shutil.copy(real, self.base + "/bwrap")
        server = subprocess.Popen(["unshare", "-m", "sh", "-c", f'mount --bind {self.base}/old {real} && exec "$@"', "-", GATEHOUSE, "serve",
                                   "--profile", "workspace-write"], cwd=self.ws, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        url = server.stdout.readline().strip()
        if not url:
            self.skipTest("this test needs a mount namespace of its own")
        calls = self.base + "/calls"

        def call():
            with open(calls, "w", encoding="ascii") as file:
                file.write(json.dumps({"arguments": {"command": "echo ran"}}) + "\n")
            done = subprocess.run([GATEHOUSE, "batch", "--cwd", self.ws, "--url", url, calls], env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=GRACE_S, check=False)
            self.assertEqual(json.loads(done.stdout)["result"]["output"], "ran\n", done.stderr)

        def used():
            with open(self.base + "/used", encoding="ascii") as file:
                return file.read().split()

        call()
        end = time.monotonic() + GRACE_S
        while used() != ["old", "old"]:  # of the call, and loaded ahead of the next one
            self.assertLess(time.monotonic(), end)
        subprocess.run(["nsenter", "-t", str(server.pid), "-m", "mount", "--bind", self.base + "/new", real], check=True)
        call()
        self.assertEqual(used()[2], "new")

    def test_a_file_that_the_host_replaces_under_its_mount_stays_protected(self):
        # What every editor does when it saves: the mount over the old file goes with it.
        os.mkdir(self.ws + "/.vscode")
        for name in (".mcp.json", ".vscode/tasks.json"):
            with open(f"{self.ws}/{name}", "w", encoding="ascii") as file:
                file.write("before")
        script = ("touch up; while [ ! -e go ]; do sleep 0.05; done; for f in .mcp.json .vscode/tasks.json .envrc; do "
                  "echo evil > $f; echo evil >> $f; mv $f gone; unlink $f; done; true")
        call = subprocess.Popen(self.argv("--", "sh", "-c", script), env=self.env,
                                cwd=self.ws, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        end = time.monotonic() + GRACE_S
        while not os.path.exists(self.ws + "/up"):
            self.assertLess(time.monotonic(), end)
        subprocess.run("echo saved > t && mv t .mcp.json && cp -r .vscode v && mv .vscode old && mv v .vscode && "
                       "echo made > .envrc && touch go", shell=True, cwd=self.ws, check=True)
        said = call.communicate(timeout=GRACE_S)[0].decode()
        for name, text in ((".mcp.json", "saved\n"), (".vscode/tasks.json", "before"), (".envrc", "made\n")):
            with open(f"{self.ws}/{name}", encoding="ascii") as file:
                self.assertEqual(file.read(), text, said)

    def test_a_secret_cannot_be_moved_below_the_depth_that_is_searched(self):
        profile = json.dumps({"type": "managed", "network": "restricted", "file_system": {
            "type": "restricted", "glob_scan_max_depth": 2, "entries": [
                {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"},
                {"path": {"type": "glob_pattern", "pattern": "**/.env"}, "access": "deny"}]}})
        os.mkdir(self.ws + "/app")
        with open(self.ws + "/app/.env", "w", encoding="ascii") as file:
            file.write("SECRET")
        for script in ("mkdir -p 1/2/3/4; mv app 1/2/3/4/", "cat app/.env 1/2/3/4/app/.env"):
            done = subprocess.run([GATEHOUSE, "run", "--cwd", self.ws, "--profile", profile, "--", "sh", "-c", script],
                                  env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=GRACE_S, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertNotIn("SECRET", done.stdout)
        self.assertTrue(os.path.exists(self.ws + "/app/.env"))

    def test_a_new_hard_link_does_not_carry_a_protected_file_out_of_its_name(self):
        for number in range(210): # the last of them are guarded by name, not by a mount
            os.mkdir(f"{self.ws}/{number:03}")
            with open(f"{self.ws}/{number:03}/.envrc", "w", encoding="ascii") as file:
                file.write("before")
        script = 'for d in */; do ln "$d.envrc" "$d/other" 2>/dev/null && echo evil >> "$d/other"; done; true'
        self.run_it("--", "bash", "-c", script)
        for number in range(210):
            with open(f"{self.ws}/{number:03}/.envrc", encoding="ascii") as file:
                self.assertEqual(file.read(), "before", number)

    def test_the_folder_above_a_token_cannot_be_moved_away(self):
        home = self.base + "/home"
        os.makedirs(home + "/.local/state/gatehouse/tokens")
        with open(home + "/.local/state/gatehouse/tokens/agent.token", "w", encoding="ascii") as file:
            file.write("SECRET")
        env = {k: v for k, v in self.env.items() if k not in ("GATEHOUSE_HOME", "XDG_STATE_HOME")}
        for script in ("mv .local x", "cat .local/state/gatehouse/tokens/agent.token x/state/gatehouse/tokens/agent.token"):
            done = subprocess.run([GATEHOUSE, "run", "--cwd", home, "--profile", "workspace-write", "--", "sh", "-c",
                                   script], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=GRACE_S, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertNotIn("SECRET", done.stdout)

    def test_a_command_cannot_write_the_rules_that_the_command_line_names(self):
        for name, real in (("my.rules", "my.rules"), ("link.rules", "real")):
            with open(f"{self.ws}/{real}", "w", encoding="ascii") as rules:
                rules.write('prefix_rule(["git", "push"], "forbidden")\n')
            if name != real:
                os.symlink(real, f"{self.ws}/{name}")
            done = self.run_it("--rules", name, "--", "sh", "-c", f"echo 'prefix_rule([\"touch\"])' > {real}; "
                               f"mv {real} gone; ln -sf /dev/null {name}")
            self.assertNotEqual(done.returncode, 0)
            with open(f"{self.ws}/{name}", encoding="ascii") as rules:
                self.assertIn("forbidden", rules.read())

    def test_no_bare_repository_is_laid_out_in_a_folder_that_was_there(self):
        os.mkdir(self.ws + "/d")
        for parts in ("mkdir d/objects d/refs; echo ref: refs/heads/m > d/HEAD",
                      "echo ref: refs/heads/m > d/HEAD; mkdir d/objects d/refs", "mkdir x objects; mv x refs; : > HEAD"):
            self.run_it("--", "sh", "-c", parts)
            for folder in ("/d", ""):
                there = [part for part in ("HEAD", "objects", "refs") if os.path.exists(f"{self.ws}{folder}/{part}")]
                self.assertLess(len(there), 3, parts)
            subprocess.run("rm -rf HEAD objects refs d/*", shell=True, cwd=self.ws, check=True)
        own = self.run_it("--", "git", "init", "-q", "--bare", "own.git")
        self.assertEqual(own.returncode, 0, own.stderr)

    def test_a_protected_file_that_is_standard_input_is_not_opened_for_writing(self):
        subprocess.run(["git", "init", "-q", self.ws], env=self.env, check=True)
        with open(self.ws + "/.git/config", encoding="ascii") as config:
            before = config.read()
            config.seek(0)
            subprocess.run([GATEHOUSE, "sandbox", "--cwd", self.ws, "--profile", "workspace-write", "--", "sh", "-c",
                            "echo evil >> /proc/self/fd/0; echo evil > /dev/stdin"], env=self.env, stdin=config,
                           capture_output=True, timeout=GRACE_S, check=False)
        with open(self.ws + "/.git/config", encoding="ascii") as config:
            self.assertEqual(config.read(), before)

    def test_a_program_that_confines_itself_is_not_told_that_it_is(self):
        asks = "import ctypes; print(ctypes.CDLL(None, use_errno=True).syscall(444, None, 0, 1), ctypes.get_errno())"
        done = self.run_it("--", "python3", "-c", asks)
        self.assertEqual(done.stdout, "-1 38\n", done.stderr)  # ENOSYS

    def test_the_folder_above_a_protected_one_cannot_be_rebuilt(self):
        subprocess.run(["git", "init", "-q", self.ws], env=self.env, check=True)
        with open(self.ws + "/.git/config", "a", encoding="ascii") as config:
            config.write("[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../cfgs/extra.conf\n")
        for file in ("tools/hooks/pre-commit", "cfgs/extra.conf", ".github/hooks/h", "c/d/.vscode/tasks.json",
                     "conf/gh/config.toml"):
            os.makedirs(os.path.dirname(f"{self.ws}/{file}"), exist_ok=True)
            with open(f"{self.ws}/{file}", "w", encoding="ascii") as made:
                made.write("")
            self.env["GATEHOUSE_HOME"] = self.ws + "/conf/gh"
            top, folder = file.split("/")[0], os.path.dirname(file)
            self.run_it("--", "sh", "-c", f"echo evil > {file}; mv {top} gone; mkdir -p {folder}; echo evil > {file}")
            with open(f"{self.ws}/{file}", encoding="ascii") as made:
                self.assertEqual(made.read(), "", file)

    def test_the_kernels_own_state_is_not_writable_whatever_folder_is_granted(self):
        for cwd in ("/", "/sys"):
            done = subprocess.run([GATEHOUSE, "sandbox", "--cwd", cwd, "--profile", "workspace-write", "--", "sh", "-c",
                                   ": >> /sys/kernel/mm/transparent_hugepage/enabled && echo OPENED"], env=self.env,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=GRACE_S, check=False)
            self.assertEqual(done.stdout, b"")

    def test_a_protected_relative_path_stops_no_command(self):
        os.makedirs(self.ws + "/ci/deploy")
        os.makedirs(self.base + "/gatehouse")
        with open(self.base + "/gatehouse/config.toml", "w", encoding="ascii") as config:
            config.write('protected_names = ["ci/deploy"]\n')
        done = self.run_it("--", "sh", "-c", "echo ok > ci/other; echo evil > ci/deploy/a")
        self.assertEqual(os.listdir(self.ws + "/ci/deploy"), [], done.stderr)
        self.assertTrue(os.path.exists(self.ws + "/ci/other"), done.stderr)

    def test_a_socket_cannot_take_a_protected_name(self):
        done = subprocess.run([GATEHOUSE, "sandbox", "--profile", "workspace-write", "--cwd", self.ws, "--net", "--",
                               "python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('.git')"],
                              env=self.env, capture_output=True, timeout=GRACE_S, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(os.listdir(self.ws), [])

    def write(self, name, text="", mode=0o644):
        path = os.path.join(self.ws, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(path, mode)
        return path

    def read(self, name):
        with open(os.path.join(self.ws, name), "rb") as file:
            return file.read()

    def sandbox(self, *given, before=(), **more):
        """`gatehouse sandbox` in the workspace."""
        return subprocess.run([*before, GATEHOUSE, "sandbox", "--cwd", self.ws, *given], **{
            "env": self.env, "cwd": self.ws, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True,
            "timeout": GRACE_S, "check": False, **more})

    def assert_unwritable(self, names):
        """No command changes the files, nor moves the folders around them."""
        before = {name: self.read(name) for name in names}
        script = 'for f in "$@"; do echo evil >> "$f"; mv "${f%%/*}" gone; mkdir -p "${f%/*}"; echo evil > "$f"; done; true'
        done = self.run_it("--", "sh", "-c", script, "sh", *names)
        for name, text in before.items():
            self.assertEqual(self.read(name), text, (name, done.stderr))

    def test_what_links_inside_protected_folders_lead_to_is_not_writable(self):
        for repository in ("hook", "hooks", "config", "path"):
            subprocess.run(["git", "init", "-q", f"{self.ws}/{repository}"], env=self.env, check=True)
        targets = ["hook/scripts/pc.sh", "hooks/tools/pre-commit", "config/conf/gitconfig", "path/scripts/a", "ed/tasks.json"]
        for target in targets:
            self.write(target)
        os.symlink("../../scripts/pc.sh", self.ws + "/hook/.git/hooks/pre-commit")
        os.rename(self.ws + "/hooks/.git/hooks", self.base + "/samples")
        os.symlink("../tools", self.ws + "/hooks/.git/hooks")
        os.rename(self.ws + "/config/.git/config", self.ws + "/config/conf/gitconfig")
        os.symlink("../conf/gitconfig", self.ws + "/config/.git/config")
        self.write("path/.git/config", "[core]\n\thooksPath = hk\n")
        os.mkdir(self.ws + "/path/hk")
        os.symlink("../scripts/a", self.ws + "/path/hk/pre-commit")
        os.mkdir(self.ws + "/.vscode")
        os.symlink("../ed/tasks.json", self.ws + "/.vscode/tasks.json")
        self.assert_unwritable(targets)

    def test_no_configuration_of_git_hides_the_files_that_it_names(self):
        self.env["HOME"] = self.ws
        subprocess.run(["git", "init", "-q", self.ws], env=self.env, check=True)
        configs = {".git/config": '[include]\n\tpath = "../i/a\\"b"\n\tpath = ../i/loc\\\nal\n\tpath = ../i/"x y"z\n'
                                  "\tpath = ~/i/home\n\tpath = ../i/back\\\\slash\n",
                   ".git/config.worktree": b"\xef\xbb\xbf[core]\n\thooksPath = wh\n",
                   ".git/modules/a/m/config": "[core]\n\tworktree = ../../../../m\n\thooksPath = mh\n[include]\n"
                                              "\tpath = ../../../../i/module\n"}
        for name, text in configs.items():
            self.write(name, text)
        self.write(".git/modules/a/m/HEAD", "ref: refs/heads/m\n")
        targets = ['i/a"b', "i/local", "i/x yz", "i/home", "i/back\\slash", "wh/pre-commit", "m/mh/pre-commit", "i/module"]
        for target in targets:
            self.write(target)
        self.assert_unwritable(targets)

    def test_a_repository_around_the_workspace_names_files_in_it_that_no_command_changes(self):
        subprocess.run(["git", "init", "-q", self.base], env=self.env, check=True)
        with open(self.base + "/.git/config", "a", encoding="ascii") as config:
            config.write("[core]\n\thooksPath = ws/hk\n[include]\n\tpath = ../ws/i/inc\n")
            config.write('[core]\n\tfsmonitor = ws/t/fsm --fast\n[filter "x"]\n\tclean = sh ws/t/clean %f\n')
        os.symlink("../../ws/scripts/a", self.base + "/.git/hooks/pre-push")
        targets = ["hk/pre-commit", "i/inc", "scripts/a", "t/fsm", "t/clean"]
        for target in targets:
            self.write(target)
        self.assert_unwritable(targets)

    def test_a_program_that_git_is_configured_to_run_was_made_by_a_command_where_there_was_none(self):
        subprocess.run(["git", "init", "-q", self.ws], env=self.env, check=True)
        os.makedirs(self.ws + "/bin")
        with open(self.ws + "/.git/config", "a", encoding="ascii") as config:
            config.write('[filter "x"]\n\tclean = ./bin/clean %f\n[credential]\n\thelper = "!./bin/helper"\n')
        for name in ("clean", "helper"):
            self.sandbox("--profile", "workspace-write", "--", "sh", "-c", f"echo evil > bin/{name}")
            self.assertFalse(os.path.exists(f"{self.ws}/bin/{name}"), name)
        self.assertEqual(os.listdir(self.ws + "/bin"), [])

    def test_no_lease_makes_programs_of_the_host_wait(self):
        path = self.write("file")
        for command in (1024, 1026):  # F_SETLEASE, F_NOTIFY
            done = self.sandbox("--profile", "read-only", "--", "python3", "-c",
                                f"import fcntl, os; fcntl.fcntl(os.open('{path}' if {command} == 1024 else '.', 0), {command}, 1)")
            self.assertIn("PermissionError", done.stderr)

    def test_a_granted_folder_that_is_missing_does_not_come_to_be_as_a_link(self):
        outside = self.base + "/outside"
        os.mkdir(outside)
        os.symlink(self.ws + "/zz", self.ws + "/dangling")
        grants = ["--profile", "workspace-write", "--allow-write", "cache/deep", "--allow-write", "dangling"]
        for script in (f"mkdir -p cache && ln -s {outside} cache/deep", f"rm -rf cache; ln -s {outside} cache",
                       f"ln -s {outside} l; mv l zz", f"mkdir d; ln -s {outside} d/deep; mv d cache"):
            self.sandbox(*grants, "--", "sh", "-c", script)
            for name in ("cache", "cache/deep", "zz"):
                self.assertFalse(os.path.islink(f"{self.ws}/{name}"), script)
        made = self.sandbox(*grants, "--", "sh", "-c", "mkdir -p cache/deep zz && touch cache/deep/f zz/f dangling/g")
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_a_granted_folder_is_not_exchanged_for_a_link_whatever_the_backend(self):
        outside = self.base + "/outside"
        os.mkdir(outside)
        ways = (("a/out", "rmdir a/out; ln -s {} a/out"), ("a/out", "mv a b; mkdir a; ln -s {} a/out"),
                ("new", "ln -s {} new"), ("new", "ln -s {} x; ln -P x new"), ("new", "mkdir new; rmdir new; ln -s {} new"),
                ("new/er", "mkdir x; ln -s {} x/er; mv x new"))
        for backend in ("linux", "landlock"):
            for path, way in ways:
                subprocess.run(f"rm -rf {self.ws}/*; mkdir -p {self.ws}/a/out", shell=True, check=True)
                for script in (way.format(outside), f"touch {outside}/escaped"):
                    self.sandbox("--backend", backend, "--allow-write", f"{self.ws}/{path}", "--", "sh", "-c", script)
                self.assertEqual(os.listdir(outside), [], (backend, way))

    def test_a_granted_path_that_is_missing_may_come_to_be_as_anything_but_a_link(self):
        made = ["f", "hard", "pipe", "socket"]
        done = self.sandbox(*(word for name in [*made, "deep/er"] for word in ("--allow-write", name)), "--", "sh", "-ec",
                            ": > f; ln f hard; mkfifo pipe; mkdir -p deep/er; "
                            "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('socket')\"")
        self.assertEqual((done.returncode, sorted(os.listdir(self.ws))), (0, ["deep", *made]), done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "mounts are made")
    def test_a_second_mount_is_no_way_around_the_folders_above_a_granted_one(self):
        outside, other = self.base + "/outside", self.base + "/other"
        os.mkdir(outside)
        os.mkdir(other)
        self.sandbox("--allow-write", "new/er/deep", "--allow-write", other, "--", "sh", "-c",
                     f"mkdir {other}/new {other}/new/er; ln -s {outside} {other}/new/er/deep",
                     before=["unshare", "-m", "sh", "-c", f'mount --bind . {other} && exec "$@"', "sh"])
        self.assertEqual(os.listdir(self.ws + "/new/er"), [])

    def test_no_mount_of_a_view_hears_of_the_host(self):
        shared = ["unshare", "-m", "--propagation", "shared"] if os.geteuid() == 0 else []
        granted = json.dumps({"type": "managed", "network": "restricted", "file_system": {"type": "restricted", "entries": [
            {"path": {"type": "special", "value": {"kind": kind}}, "access": access}
            for kind, access in (("minimal", "read"), ("project_roots", "write"))]}})
        for profile in ("read-only", "workspace-write", granted):
            told = self.sandbox("--profile", profile, "--", "cat", "/proc/self/mountinfo", before=shared)
            self.assertIn(" / ", told.stdout, told.stderr)
            self.assertNotIn("master:", told.stdout)
            self.assertNotIn("shared:", told.stdout)

    @unittest.skipIf(os.geteuid() != 0, "mounts are made")
    def test_what_the_host_mounts_meanwhile_does_not_come_into_a_view(self):
        os.mkdir(self.ws + "/later")
        script = ("mount --make-rshared / && { \"$@\" & while [ ! -e up ]; do sleep 0.05; done; "
                  "mount -t tmpfs x later && touch later/f go; wait; }")
        done = self.sandbox("--profile", "workspace-write", "--", "sh", "-c", "touch up; while [ ! -e go ]; do sleep 0.05; "
                            "done; ls later", before=["unshare", "-m", "sh", "-c", script, "sh"])
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "mounts are made")
    def test_a_deny_glob_finds_a_folder_that_is_mounted_twice(self):
        self.write("src/.env", "SECRET")
        os.mkdir(self.ws + "/bind")
        done = self.sandbox("--deny-read", "**/.env", "--", "sh", "-c", "cat bind/.env src/.env", before=[
            "unshare", "-m", "sh", "-c", 'mount --bind src bind && exec "$@"', "sh"])
        self.assertNotIn("SECRET", done.stdout)
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_no_command_changes_the_programs_that_run_outside_of_every_sandbox(self):
        build = os.path.dirname(GATEHOUSE)
        os.mkdir(self.ws + "/bin")
        for name in ("gatehouse", "gatehouse-sandbox", "gatehouse-sandbox-init"):
            shutil.copy(f"{build}/{name}", f"{self.ws}/bin/{name}")
        script = "rm bin/gatehouse-sandbox; echo evil > bin/gatehouse-host; mv bin b2"
        done = subprocess.run([self.ws + "/bin/gatehouse", "sandbox", "--profile", "workspace-write", "--cwd", self.ws, "--",
                               "sh", "-c", script], env=self.env, cwd=self.ws, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=GRACE_S, check=False)
        self.assertEqual(sorted(os.listdir(self.ws + "/bin")),
                         ["gatehouse", "gatehouse-sandbox", "gatehouse-sandbox-init"], done.stderr)

    def test_no_command_changes_the_hooks_and_their_programs(self):
        check, reviewer = self.write("check", "#!/bin/sh\n", 0o755), self.write("reviewer", "#!/bin/sh\n", 0o755)
        hooks = self.write("hooks.json", json.dumps({"hooks": {"PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": f"exec '{check}'"}]}]}}))
        os.mkdir(self.base + "/gatehouse")
        os.symlink(hooks, self.base + "/gatehouse/hooks.json")
        with open(self.base + "/gatehouse/config.toml", "w", encoding="ascii") as config:
            config.write(f'approvals_reviewer = "auto_review"\nauto_review.command = ["{reviewer}"]\n')
        before = {path: self.read(path) for path in (check, reviewer, hooks)}
        done = self.run_it("--", "sh", "-c", "for f in check reviewer hooks.json; do echo evil >> $f; mv $f x; done; true")
        self.assertEqual(done.returncode, 0, done.stderr)
        for path, text in before.items():
            self.assertEqual(self.read(path), text, path)

    def test_a_denied_file_below_a_locked_folder_is_an_error_not_readable(self):
        self.write("locked/.env", "SECRET")
        ordinary = []
        if os.geteuid() == 0:
            ordinary = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
            for path in (self.base, self.ws, self.ws + "/locked", self.ws + "/locked/.env"):
                os.chown(path, 65534, 65534)
        os.symlink("locked", self.ws + "/a_link")
        for denied in (self.ws + "/locked/.env", "**/.env", "a_link/.env"):
            for mode in (0, 0o400, 0o100):
                os.chmod(self.ws + "/locked", mode)
                done = self.sandbox("--profile", "workspace-write", "--deny-read", denied, "--", "sh", "-c",
                                    "chmod 755 locked; cat locked/.env", before=ordinary)
                os.chmod(self.ws + "/locked", 0o755)
                self.assertNotEqual(done.returncode, 0)
                self.assertNotIn("SECRET", done.stdout, (denied, mode))
                self.assertIn("locked", done.stderr)

    def test_a_deny_glob_that_meets_a_path_too_long_to_look_at_says_so(self):
        folder = os.open(self.ws, os.O_RDONLY)
        for _ in range(25):
            os.mkdir("d" * 200, dir_fd=folder)
            folder, above = os.open("d" * 200, os.O_RDONLY, dir_fd=folder), folder
            os.close(above)
        os.close(folder)
        done = self.sandbox("--deny-read", "**/.env", "--", "true")
        self.assertIn("could not be expanded to its end", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_a_denied_path_that_is_spelled_with_the_characters_of_patterns_is_denied(self):
        path = self.write("app/[id]/key", "SECRET")
        for spelled in ("app/[id]/key", path):
            done = self.sandbox("--deny-read", spelled, "--", "cat", "app/[id]/key")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)

    def test_a_write_entry_for_the_root_grants_it(self):
        done = self.sandbox("--profile", "read-only", "--allow-write", "/", "--", "sh", "-c", "echo > /dev/null && touch made")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.ws + "/made"))

    def test_a_refusal_is_told_also_where_the_command_line_holds_its_words(self):
        subprocess.run(["git", "init", "-q", self.ws], env=self.env, check=True)
        for script in ("echo 'touch: /etc/x: Read-only file system' >&2; touch .git/q", "ln .git/config q"):
            done = self.run_it("--", "sh", "-c", script)
            self.assertIn("The sandbox refused writing " + self.ws + "/.git", done.stderr)
        done = self.run_it("--", "sh", "-c", "echo 'sh: /etc/x: Read-only file system' >&2; false")
        self.assertNotIn("refused", done.stderr)


if __name__ == "__main__":
    unittest.main()
