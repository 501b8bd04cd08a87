"""What an attack on the whole chain once got away with, each with its smallest input (§D5, §D12, §D14, §63, §97, §99a)."""
import json
import os
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


if __name__ == "__main__":
    unittest.main()
