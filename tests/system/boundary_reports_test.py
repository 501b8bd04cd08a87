"""Reports about other sandboxes (BR rows: sandbox_escape, sandbox_breaks_legit), each as one test on this kernel."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from boundary_support import (READ_ONLY, WORKSPACE, BoundaryCase, managed, running, special, until)
from run_case import GRACE_S

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]
GATEHOUSE = os.path.join(BUILD, "gatehouse")
IS_ROOT = os.geteuid() == 0
NEEDS_ROOT = unittest.skipUnless(IS_ROOT, "making such a host needs root")


def at(path, access):
    return {"path": {"type": "path", "path": path}, "access": access}


class Reports(BoundaryCase):
    def git(self, *words, cwd=None):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main",
                        "-c", "protocol.file.allow=always", *words], cwd=cwd or self.ws, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sandbox(self, *words, cwd=None, env=None):
        full = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.base, "GIT_CONFIG_GLOBAL": "/dev/null",
                "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                    "GIT_COMMITTER_EMAIL": "a@b", "GIT_EDITOR": "true", **(env or {})}
        return subprocess.run([GATEHOUSE, "sandbox", "--cwd", cwd or self.ws, *words], env=full, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=GRACE_S, check=False)

    def on_host(self, prepare, command, profile=WORKSPACE, options=()):
        """Runs the helper in a mount namespace of its own that `prepare` (shell) has changed. `$WS`, `$OUT`."""
        env = {**os.environ, "WS": self.ws, "OUT": self.out}
        argv = self.argv(["/bin/sh", "-c", command], profile)
        argv[1:1] = options
        return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec",
                               prepare + '\nexec "$@"', "sh", *argv],
                              env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE_S,
                              check=False)

    # --- sandbox_escape

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "gatehouse-host")), "needs the program of `run`")
    def test_br_047_no_file_of_ours_stands_in_a_shared_folder(self):
        shared, victim = self.base + "/shared", self.base + "/victim"
        os.mkdir(shared, 0o777)
        with open(victim, "w", encoding="ascii") as file:
            file.write("as it was")
        for name in ("gatehouse", f"gatehouse-{os.getuid()}"):
            os.symlink(victim, f"{shared}/{name}")
        links = sorted(os.listdir(shared))
        env = {"PATH": "/usr/bin:/bin", "HOME": self.base + "/home", "TMPDIR": shared,
               "XDG_STATE_HOME": self.base + "/state", "GATEHOUSE_HOME": self.base + "/own"}
        done = subprocess.run(["sh", "-c", 'umask 0; exec "$@"', "sh", GATEHOUSE, "run", "--cwd", self.ws, "--profile",
                               "workspace-write", "--", "sh", "-c", "seq 1 300000"], env=env, timeout=GRACE_S, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(victim, encoding="ascii") as file:
            self.assertEqual(file.read(), "as it was")
        self.assertEqual(sorted(os.listdir(shared)), links)
        for top in ("home", "state", "own"):
            for at_folder, _, files in os.walk(os.path.join(self.base, top)):
                for name in (".", *files):
                    mode = os.lstat(os.path.join(at_folder, name)).st_mode
                    self.assertEqual(mode & 0o077, 0, (at_folder, name))

    @NEEDS_ROOT
    def test_br_047_a_state_folder_of_somebody_else_or_behind_a_link_is_refused(self):
        os.chmod(self.base, 0o755)
        for prepare in (lambda place: (os.mkdir(place), os.chown(place, 12345, 12345)),
                        lambda place: (os.mkdir(place), os.chmod(place, 0o777)),
                        lambda place: (os.symlink(self.out, place), os.lchown(place, 12345, 12345))):
            state = tempfile.mkdtemp(dir=self.base)
            prepare(state + "/gatehouse")
            done = subprocess.run([GATEHOUSE, "serve", "--listen", "unix://" + self.base + "/s", "--root", self.ws],
                                  env={"PATH": "/usr/bin:/bin", "HOME": self.base, "XDG_STATE_HOME": state}, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=GRACE_S, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(state + "/gatehouse", done.stderr)
            self.assertEqual((os.listdir(self.out), os.path.exists(state + "/gatehouse/tokens")), ([], False))

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "gatehouse-host")), "needs the program of `run`")
    def test_br_072_nothing_but_an_approval_lifts_the_sandbox(self):
        secret = self.base + "/secret"
        with open(secret, "w", encoding="ascii") as file:
            file.write("words")
        for ask in ("never", "on-request", "untrusted"):
            done = subprocess.run([GATEHOUSE, "run", "--json", "--ask", ask, "--cwd", self.ws, "--profile",
                                   "workspace-write", "--sandbox-permissions", "require_escalated", "--justification",
                                   "why not", "--", "cat", secret], timeout=GRACE_S, check=False, stdin=subprocess.DEVNULL,
                                  env={"PATH": "/usr/bin:/bin", "HOME": self.base, "GATEHOUSE_HOME": self.base + "/own"},
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 125, done.stdout + done.stderr)
            document = json.loads(done.stdout)
            self.assertEqual((document["attempts"], document["stdout"]), ([], ""), ask)
            self.assertIn("approval", document["message"])

    def test_br_044_a_protected_name_that_is_missing_comes_to_be_in_no_way(self):
        for attempt in ("mkdir -p .gatehouse && echo x > .gatehouse/config.toml", "mkdir d && mv d .gatehouse",
                        "mkdir d; ln -s d .gatehouse", "git init -q .git", "git init -q .; touch .git/hooks/pre-commit",
                        "mkdir d && cp -r d .git", "echo gitdir: /tmp > .git", "echo x > f && ln f .gatehouse",
                        "tar -cf a.tar -C /usr share/doc/git --transform s,.*,.git/x, 2>/dev/null; tar -xf a.tar",
                        "python3 -c 'import os; os.mkfifo(\".git\")'", "cd .. && mkdir ws/.gatehouse"):
            self.run_it(attempt, cwd=self.ws)
            left = [name for name in os.listdir(self.ws) if name not in ("d", "f", "a.tar")]
            self.assertEqual(left, [], attempt)
            shutil.rmtree(self.ws + "/d", ignore_errors=True)

    def test_br_045_what_is_denied_is_denied_by_every_way_to_it(self):
        os.makedirs(self.out + "/dir")
        for name in ("secret", "dir/x", "target"):
            with open(f"{self.out}/{name}", "w", encoding="ascii") as file:
                file.write("w0rds\n")
        os.symlink("target", self.out + "/linked")
        profile = managed([special("root", "read"), special("project_roots", "write"), at(self.out + "/secret", "deny"),
                           at(self.out + "/dir", "deny"), at(self.out + "/linked", "deny")])
        for attempt in ("ln -s {o}/secret n; cat n", "ln -s {o}/dir d; cat d/x", "cat {o}/./dir/../secret", "cat {o}/dir/x",
                        "ls {o}/dir", "cat {o}/linked", "cat {o}/target", "ln {o}/secret h && cat h", "cd {o}/dir && cat x",
                        "mv {o}/secret s && cat s", "cat /proc/self/root{o}/secret", "cat < {o}/target",
                        "exec 3< {o}/dir && cat /proc/self/fd/3/x", "tar -cf - -C {o} secret target dir | grep -a w0rds"):
            status, out, _, _ = self.run_it(attempt.replace("{o}", self.out), profile, cwd=self.ws)
            self.assertNotEqual(status, 0, attempt)
            self.assertNotIn("w0rds", out, attempt)

    def test_br_063_a_linked_worktree_commits_and_changes_nothing_that_the_main_one_executes(self):
        main, linked = self.ws + "/main", self.base + "/linked"
        self.git("init", "-q", main)
        self.git("commit", "-q", "--allow-empty", "-m", "a", cwd=main)
        self.git("worktree", "add", "-q", linked, cwd=main)
        config = main + "/.git/config"
        with open(config, encoding="ascii") as file:
            before = file.read()
        for attempt in (f"touch {main}/.git/hooks/post-checkout", f"git config --file {config} core.fsmonitor x",
                        f"mkdir -p {main}/.git/info; echo '* filter=x' > {main}/.git/info/attributes"):
            done = self.sandbox("--preset", "git", "--", "sh", "-ec", attempt, cwd=linked)
            self.assertNotEqual(done.returncode, 0, attempt)
        done = self.sandbox("--preset", "git", "--", "sh", "-ec", "echo 1 > f; git add f; git commit -qm second", cwd=linked)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(config, encoding="ascii") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual((os.path.exists(main + "/.git/hooks/post-checkout"), os.path.exists(main + "/.git/info/attributes")),
                         (False, False))

    def test_br_071_a_deny_pattern_holds_at_every_depth_and_for_what_comes_later(self):
        files = [".env", "a/.env", "a/b/c/d/e/.env.local"]
        os.makedirs(self.ws + "/a/b/c/d/e")
        for name in files:
            with open(f"{self.ws}/{name}", "w", encoding="ascii") as file:
                file.write("w0rds\n")

        def pattern(text):
            return {"path": {"type": "glob_pattern", "pattern": text}, "access": "deny"}
        profile = managed([special("root", "read"), special("project_roots", "write"), pattern("**/.env"),
                           pattern("**/.env.*")])
        for attempt in (*(f"cat {name}" for name in files), "cp .env x; cat x", "mv .env y && cat y", "mv a z && cat z/.env; r=$?; mv z a; exit $r",
                        "ln .env l && cat l", "ln -s a/.env m; cat m", "grep -r w0rds ."):
            status, out, _, _ = self.run_it(attempt, profile, cwd=self.ws)
            self.assertNotEqual(status, 0, attempt)
            self.assertNotIn("w0rds", out, attempt)
        self.assertTrue(all(os.path.exists(f"{self.ws}/{name}") for name in files))
        # From inside none can be made; one that somebody else makes is denied to the next command.
        self.assertNotEqual(self.run_it("echo own > a/b/.env", profile, cwd=self.ws)[0], 0)
        self.assertFalse(os.path.exists(self.ws + "/a/b/.env"))
        with open(self.ws + "/a/b/.env", "w", encoding="ascii") as file:
            file.write("w0rds\n")
        self.assertNotEqual(self.run_it("cat a/b/.env", profile, cwd=self.ws)[0], 0)

    def test_br_048_nothing_is_typed_into_the_terminal_that_the_command_was_given(self):
        script = "import fcntl, termios\nfor fd in (0, 1, 2):\n try: fcntl.ioctl(fd, termios.TIOCSTI, b'x'); " \
                 "print('typed')\n except OSError as e: print('errno', e.errno)"
        for leader in ([], ["/bin/sh", "-c", '"$@"; exit $?', "sh"]):  # a terminal of its own; its caller's terminal
            pid, terminal = os.forkpty()
            if pid == 0:
                os.environ["PATH"] = "/usr/bin:/bin"
                argv = [*leader, *self.argv(["/usr/bin/env", "python3", "-c", script])]
                os.execv(argv[0], argv)
            text = b""
            try:
                while chunk := os.read(terminal, 4096):
                    text += chunk
            except OSError:
                pass
            os.waitpid(pid, 0)
            os.close(terminal)
            self.assertEqual(text.split(), [b"errno", b"1"] * 3, leader)

    def test_br_054_sockets_of_daemons_are_out_of_reach_through_a_readable_mount(self):
        with socket.socket(socket.AF_UNIX) as daemon:
            daemon.bind(self.out + "/docker.sock")
            daemon.listen()
            daemon.setblocking(False)
            script = f"import socket\ns = socket.socket(socket.AF_UNIX)\ntry: s.connect('{self.out}/docker.sock'); " \
                     "print('reached')\nexcept OSError as e: print(e.errno)"
            for profile in (READ_ONLY, WORKSPACE, managed([special("root", "read")], "enabled")):
                _, out, _, events = self.run_it(["/usr/bin/env", "python3", "-c", script], profile)
                self.assertEqual(out, "13\n")
                self.assertEqual(self.blocked(events)[0]["path"], self.out + "/docker.sock")
            self.assertRaises(BlockingIOError, daemon.accept)

    def test_br_061_limited_git_writes_open_no_hook_no_configuration_and_no_submodule(self):
        self.git("init", "-q", self.out + "/lib")
        self.git("commit", "-q", "--allow-empty", "-m", "a", cwd=self.out + "/lib")
        self.git("init", "-q", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "a")
        self.git("submodule", "add", "-q", self.out + "/lib", "sub")
        self.git("worktree", "add", "-q", self.out + "/w")
        attempts = ["touch .git/modules/sub/hooks/pre-commit", "git -C sub config core.sshCommand ./x",
                    "touch .git/worktrees/w/config.worktree", "echo x > .git/worktrees/w/commondir",
                    "mkdir -p .git/info; echo x > .git/info/attributes", "echo x > .git/commondir",
                    "touch .git/hooks/pre-commit", "git config core.sshCommand ./x", "touch .git/config.worktree",
                    "mv .git/config .git/c", "mv .git/hooks .git/h", "mv .git g", "mkdir .git/rebase-merge",
                    "echo x > c && mv c .git/config", "ln -sf /tmp .git/hooks", "mkdir x && mv x .git/sequencer"]
        for attempt in attempts:
            done = self.sandbox("--preset", "git", "--", "sh", "-ec", attempt)
            self.assertNotEqual(done.returncode, 0, attempt)
        for left in ("modules/sub/hooks/pre-commit", "worktrees/w/config.worktree", "info/attributes", "commondir",
                     "hooks/pre-commit", "config.worktree", "rebase-merge", "sequencer"):
            self.assertFalse(os.path.exists(self.ws + "/.git/" + left), left)
        with open(self.ws + "/.git/config", encoding="ascii") as file:
            self.assertNotIn("sshCommand", file.read())

    def test_br_064_nothing_of_ours_runs_the_repositorys_programs(self):
        os.mkdir(self.base + "/bin")
        with open(self.base + "/bin/git", "w", encoding="ascii") as stub:
            stub.write(f"#!/bin/sh\ntouch {self.base}/called\n")
        os.chmod(self.base + "/bin/git", 0o755)
        self.git("init", "-q", ".")
        self.git("config", "core.fsmonitor", f"touch {self.base}/called; :")
        for name, value in (("filter.k.clean", "cat"), ("filter.k.smudge", "cat"), ("diff.external", "cat"),
                            ("core.sshCommand", "cat"), ("core.pager", "cat"), ("diff.k.textconv", "cat")):
            self.git("config", name, f"touch {self.base}/called; {value}")
        with open(self.ws + "/.gitattributes", "w", encoding="ascii") as file:
            file.write("*.t filter=k diff=k\n")
        with open(self.ws + "/a.t", "w", encoding="ascii") as file:
            file.write("1\n")
        env = {"PATH": self.base + "/bin:/usr/local/bin:/usr/bin:/bin"}
        done = self.sandbox("--preset", "git", "--", "true", env=env)
        self.assertEqual((done.returncode, os.path.exists(self.base + "/called")), (0, False), done.stderr)
        patch = "*** Begin Patch\n*** Update File: a.t\n@@\n-1\n+2\n*** End Patch\n"
        for words, text in ((["run", "--", "true"], ""), (["apply-patch"], patch), (["doctor"], ""), (["config", "show"], "")):
            more = ["--cwd", self.ws, "--profile", "workspace-write"] if words[0] in ("run", "apply-patch") else []
            done = subprocess.run([GATEHOUSE, words[0], *more, *words[1:]], cwd=self.ws, input=text, text=True,
                                  capture_output=True, timeout=GRACE_S, check=False,
                                  env={**env, "HOME": self.base, "GATEHOUSE_HOME": self.base + "/own"})
            self.assertEqual((done.returncode, os.path.exists(self.base + "/called")), (0, False), done.stderr)

    def test_br_069_the_mounts_of_the_command_are_its_own(self):
        status, out, _, _ = self.run_it(
            f"touch {self.out}/f /etc/gatehouse-f /opt/gatehouse-f {self.base}/f; readlink /proc/self/ns/mnt")
        self.assertNotEqual(out.strip(), os.readlink("/proc/self/ns/mnt"))
        for path in (self.out + "/f", "/etc/gatehouse-f", "/opt/gatehouse-f", self.base + "/f"):
            self.assertFalse(os.path.exists(path))
        self.assertEqual(status, 0)

    @NEEDS_ROOT
    def test_br_069_what_takes_the_place_of_bubblewrap_and_confines_nothing_runs_nothing(self):
        """Such stand-ins are used in containers. Each that lacks a namespace of mounts, processes or network is found."""
        shutil.copy(shutil.which("bwrap"), self.base + "/real")
        separate = f"{self.base}/real --unshare-user --cap-add ALL --bind / / --dev /dev --proc /proc"
        for stand_in in ('exec "$@"', 'exec unshare --mount "$@"', 'exec unshare --pid --fork "$@"',
                         separate + ' -- "$@"', separate + ' --unshare-pid --as-pid-1 -- "$@"'):
            with open(self.base + "/bwrap", "w", encoding="ascii") as file:
                file.write('#!/bin/sh\nif [ "$1" = --version ]; then echo bubblewrap 0.8.0; exit; fi\n'
                           f'while [ "$1" != -- ]; do shift; done; shift\n{stand_in}\n')
            os.chmod(self.base + "/bwrap", 0o755)
            place = f"mount --bind {self.base}/bwrap {os.path.realpath(shutil.which('bwrap'))}"
            done = self.on_host(place, f"touch {self.ws}/ran")
            self.assertEqual((done.returncode, os.listdir(self.ws)), (121, []), (stand_in, done.stderr))
            self.assertIn("namespaces of its own", done.stderr)
            done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec",
                                   place + f"\nexec {GATEHOUSE} doctor"], capture_output=True, text=True, timeout=120,
                                  check=False, stdin=subprocess.DEVNULL)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout, "failed +boundary")

    @NEEDS_ROOT
    def test_br_069_also_on_an_overlay_root(self):
        done = self.on_host('mkdir $OUT/u $OUT/w $OUT/m; mount -t tmpfs t $OUT/u; mkdir $OUT/u/u $OUT/u/w\n'
                            'mount -t overlay -o lowerdir=$OUT/w,upperdir=$OUT/u/u,workdir=$OUT/u/w o $OUT/m',
                            f"touch {self.out}/m/f || echo refused")
        self.assertEqual((done.returncode, done.stdout), (0, "refused\n"), done.stderr)

    def test_br_073_every_way_to_start_a_shell_stays_inside(self):
        for script in ("bash -fc 'touch $OUT/f'", "env -i sh -c 'touch {out}/f'", "timeout 5 bash -lc 'touch {out}/f'",
                       "setsid -w sh -c 'touch {out}/f'", "nohup sh -c 'touch {out}/f'", "echo 'touch {out}/f' | sh",
                       "xargs -a /dev/null sh -c 'touch {out}/f'", "nice python3 -c 'open(\"{out}/f\",\"w\")'"):
            script = script.replace("{out}", self.out).replace("$OUT", self.out)
            self.assertNotEqual(self.sandbox("--", "sh", "-c", script).returncode, 0, script)
            self.assertEqual(os.listdir(self.out), [], script)

    # --- sandbox_breaks_legit

    @NEEDS_ROOT
    def test_br_094_also_with_landlock_alone(self):
        for link in ("/run/x/stub.conf", "../run/x/stub.conf", "/run/nowhere/x"):
            done = self.on_host('mkdir $OUT/etc; cp -a /etc/. $OUT/etc; rm -f $OUT/etc/resolv.conf\n'
                                'echo 127.0.0.1 localhost > $OUT/etc/hosts\n'
                                'mount --bind $OUT/etc /etc; mount -t tmpfs t /run; mkdir /run/x\n'
                                f"echo nameserver 127.0.0.9 > /run/x/stub.conf; ln -s {link} /etc/resolv.conf",
                                "echo started; cat /etc/resolv.conf; getent hosts localhost >/dev/null && echo found",
                                READ_ONLY, ["--use-legacy-landlock"])
            there = "" if "nowhere" in link else "nameserver 127.0.0.9\n"
            self.assertEqual(done.stdout, f"started\n{there}found\n", done.stderr)
            shutil.rmtree(self.out + "/etc")

    @NEEDS_ROOT
    def test_br_094_a_linked_resolver_file_is_readable_and_a_dangling_one_stops_nothing(self):
        base = 'mkdir $OUT/etc; cp -a /etc/. $OUT/etc; rm -f $OUT/etc/resolv.conf; mount --bind $OUT/etc /etc\n'
        stub = 'mount -t tmpfs t /run; mkdir /run/x; echo nameserver 127.0.0.9 > /run/x/stub.conf\n'
        minimal = managed([special("minimal", "read"), special("project_roots", "read"), at("/etc/resolv.conf", "read")])
        for link in ("/run/x/stub.conf", "../run/x/stub.conf"):
            for profile in (READ_ONLY, minimal):
                done = self.on_host(base + stub + f"ln -s {link} /etc/resolv.conf", "cat /etc/resolv.conf", profile)
                self.assertEqual((done.returncode, done.stdout), (0, "nameserver 127.0.0.9\n"), done.stderr)
                shutil.rmtree(self.out + "/etc")
        for profile in (READ_ONLY, minimal):
            done = self.on_host(base + "ln -s /run/nowhere/x /etc/resolv.conf", "echo started", profile)
            self.assertEqual((done.returncode, done.stdout), (0, "started\n"), done.stderr)
            shutil.rmtree(self.out + "/etc")

    def test_br_104_a_protected_link_to_a_folder_let_nothing_run(self):
        subprocess.run(["git", "init", "-q", self.ws], check=True)
        shutil.rmtree(self.ws + "/.git/hooks")
        for link, target in ((".agents", "real"), (".git/hooks", "../hooks")):
            os.mkdir(f"{self.ws}/{os.path.basename(target)}")
            os.symlink(target, f"{self.ws}/{link}")
            name = os.path.basename(target)
            status, out, err, _ = self.run_it(f"touch f && echo ran; touch {name}/x; rm {link}; ln -sfn /tmp {link}; mv {link} y", cwd=self.ws)
            self.assertEqual((out, status != 0), ("ran\n", True), err)
            self.assertEqual((os.readlink(f"{self.ws}/{link}"), os.listdir(f"{self.ws}/{name}")), (target, []), err)

    @NEEDS_ROOT
    def test_br_103_flags_of_the_mount_below_are_kept(self):
        subprocess.run(["git", "init", "-q", self.ws], check=True)
        done = self.on_host('mount -t tmpfs -o nosuid,nodev,noexec,noatime t $WS; mkdir -p $WS/.git/hooks $WS/d\n'
                            'mount --bind $WS/d $WS/d',
                            "touch f d/f && ! touch .git/hooks/x && grep $PWD /proc/self/mountinfo | head -1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "nosuid,nodev,noexec,noatime")

    @NEEDS_ROOT
    def test_br_103_also_on_an_overlay_and_on_fuse(self):
        mounts = {"overlay": "mount -t tmpfs t $OUT; mkdir $OUT/u $OUT/w $OUT/l; mount -t overlay -o nosuid,nodev,"
                             "lowerdir=$OUT/l,upperdir=$OUT/u,workdir=$OUT/w o $WS"}
        if shutil.which("bindfs") and os.path.exists("/dev/fuse"):
            mounts["fuse"] = "bindfs $OUT $WS"
        for name, mount in mounts.items():
            done = self.on_host(mount + "; mkdir -p $WS/.git/hooks $WS/d; echo old > $WS/d/f",
                                "touch f && mv f d/g && echo new > d/f && cat d/f && ! touch .git/hooks/x && "
                                "! mkdir .claude && ls -A")
            for server in running("bindfs\0" + self.out):  # it holds the mounts that it lives in
                os.kill(server, signal.SIGTERM)
            self.assertEqual((done.returncode, done.stdout), (0, "new\n.git\nd\n"), (name, done.stderr))

    def test_br_107_br_108_br_111_nothing_is_left_behind_by_a_kill_and_git_sees_no_change(self):
        home = os.path.join(self.ws, "home")
        os.mkdir(home)
        with open(home + "/.profile", "w", encoding="ascii") as file:
            file.write("export GH=1\n")
        self.git("init", "-q", ".")
        before = sorted(os.listdir(home)), sorted(os.listdir(self.ws))
        profile = managed([special("root", "read"), special("project_roots", "write"), special("slash_tmp", "write"),
                           at(home, "write")])
        in_tmp = {name for name in os.listdir("/tmp") if name.startswith(".")}
        child = subprocess.Popen(self.argv(["sleep", self.marker], profile), stdin=subprocess.DEVNULL)
        self.assertTrue(until(lambda: any(self.comm(pid) == "sleep" for pid in running(self.marker))))
        child.send_signal(signal.SIGKILL)
        child.wait()
        self.assertTrue(until(lambda: not running(self.marker)))
        self.assertEqual((sorted(os.listdir(home)), sorted(os.listdir(self.ws))), before)
        self.assertEqual({name for name in os.listdir("/tmp") if name.startswith(".")} - in_tmp, set())
        shell = subprocess.run(["bash", "-lc", "echo $GH"], env={"HOME": home}, stdout=subprocess.PIPE, check=True)
        self.assertEqual(shell.stdout, b"1\n")
        self.assertEqual(self.run_it("git status --porcelain -- :!home", profile, cwd=self.ws)[1], "")

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "gatehouse-host")), "needs the program of `run`")
    def test_br_107_br_111_nothing_is_left_by_a_kill_of_the_whole_program_at_any_moment(self):
        self.git("init", "-q", ".")
        before = sorted(os.listdir(self.ws))
        in_tmp = {name for name in os.listdir("/tmp") if name.startswith(".")}
        env = {"PATH": "/usr/bin:/bin", "HOME": self.base, "GATEHOUSE_HOME": self.base + "/own",
               "XDG_STATE_HOME": self.base + "/state"}
        home = sorted({*os.listdir(self.base), "own", "state"})
        for after_ms in (0, 1, 2, 5, 10, 15, 20, 30, 40, 60, 90, 200):
            child = subprocess.Popen([GATEHOUSE, "run", "--cwd", self.ws, "--profile", "workspace-write", "--", "sleep",
                                      self.marker], env=env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(after_ms / 1000)
            child.send_signal(signal.SIGKILL)
            child.wait()
            self.assertTrue(until(lambda: not running(self.marker)), after_ms)
            self.assertEqual(sorted(os.listdir(self.ws)), before, after_ms)
            self.assertEqual(sorted({*os.listdir(self.base), "own", "state"}), home, after_ms)
            self.assertEqual({name for name in os.listdir("/tmp") if name.startswith(".")} - in_tmp, set())

    def comm(self, pid):
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                return file.read().strip()
        except OSError:
            return ""

    @NEEDS_ROOT
    def test_br_113_the_boundary_needs_no_room_in_tmp(self):
        for prepare in ("mount -t tmpfs -o ro t /tmp", "mount -t tmpfs -o size=4k,nr_inodes=1 t /tmp"):
            done = self.on_host(prepare, "echo started; touch f")
            self.assertEqual((done.returncode, done.stdout), (0, "started\n"), done.stderr)

    @NEEDS_ROOT
    def test_br_114_an_odd_mount_table_stops_nothing(self):
        done = self.on_host(
            "for name in 'a b' 'new\nline' 'ünï' 'gone' 'back\\slash'; do mkdir \"$OUT/$name\" \"$OUT/x$name\"; "
            "mount --bind \"$OUT/$name\" \"$OUT/x$name\"; done; rmdir $OUT/gone\n"
            "touch $OUT/ns; mount --bind /proc/self/ns/net $OUT/ns\n"
            "touch \"$WS/file\"; mount --bind \"$WS/file\" \"$WS/file\"", "echo started; touch f; ls")
        self.assertEqual((done.returncode, done.stdout), (0, "started\nf\nfile\n"), done.stderr)

    @NEEDS_ROOT
    def test_br_114_nor_does_an_overlay_of_a_hundred_folders(self):
        done = self.on_host("mount -t tmpfs t $OUT; mkdir $OUT/u $OUT/w $OUT/m; cd $OUT; lower=; i=0\n"
                            "while [ $i -lt 100 ]; do mkdir l$i; touch l$i/f$i; lower=$lower${lower:+:}l$i; i=$((i+1)); done\n"
                            "mount -t overlay -o lowerdir=$lower,upperdir=u,workdir=w o $WS; cd /",
                            "ls | wc -l; touch f && rm f99 && echo changed")
        self.assertEqual((done.returncode, done.stdout), (0, "100\nchanged\n"), done.stderr)

    @NEEDS_ROOT
    def test_br_119_granted_devices_are_there_and_the_private_ones_always(self):
        prepare = ("mount -t tmpfs t $OUT; cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty $OUT\n"
                   "mkdir $OUT/pts $OUT/shm $OUT/dri; mknod -m 666 $OUT/dri/card0 c 1 3; "
                   "mknod -m 666 $OUT/other c 1 5; mount --bind $OUT /dev")
        profile = managed([special("root", "read"), special("project_roots", "write"), at("/dev/dri/card0", "write"),
                           at("/dev/nvidia0", "write")])
        script = "echo x > /dev/dri/card0 && ls /dev/shm /dev/ptmx /dev/tty /dev/stdin /dev/fd/0 >/dev/null && " \
                 "! ls /dev/other && python3 -c 'import multiprocessing as m; m.Lock(); q = m.Queue(); q.put(7); " \
                 "print(q.get())'"
        done = self.on_host(prepare, script, profile)
        self.assertEqual((done.returncode, done.stdout), (0, "7\n"), done.stderr)
        self.assertIn("/dev/nvidia0", done.stderr)

    def test_br_120_a_debugger_is_refused_in_its_own_words_and_other_tools_work(self):
        self.assertEqual(self.run_it("python3 -c 'import faulthandler; faulthandler.enable()'")[0], 0)
        for tool, words in (("strace", "strace -f true"), ("gdb", "gdb -batch -ex run /bin/true")):
            if not shutil.which(tool):
                continue
            _, out, err, events = self.run_it(words)
            self.assertIn("Operation not permitted", out + err, tool)
            self.assertEqual([(e["call"], e["kind"]) for e in self.blocked(events)], [("ptrace", "system_call")], tool)

    @unittest.skipUnless(shutil.which("strace") and os.path.exists(os.path.join(BUILD, "gatehouse-host")), "needs strace")
    def test_br_120_the_answer_names_the_refusal_and_the_way_and_a_failure_in_passing_is_none(self):
        env = {"PATH": "/usr/bin:/bin", "HOME": self.base, "GATEHOUSE_HOME": self.base + "/own", "SHELL": "/bin/bash"}

        def run(script, *more):
            done = subprocess.run([GATEHOUSE, "run", "--json", "--cwd", self.ws, "--profile", "workspace-write", *more,
                                   "--shell", script], env=env, timeout=GRACE_S, check=False, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)
            return json.loads(done.stdout)
        told = run("strace -f true")
        self.assertIn("ptrace", told["message"])
        self.assertIn("require_escalated", told["message"])
        self.assertEqual(told["attempts"][0]["denied"]["kind"], "system_call")
        self.assertNotIn("denied", run("strace true 2>/dev/null; exit 3")["attempts"][0])
        rules = self.base + "/trace.rules"
        with open(rules, "w", encoding="ascii") as file:
            file.write('prefix_rule(pattern=[["strace", "true"]], decision="allow")\n')
        self.assertEqual(run("strace -f true", "--rules", rules)["exit_status"], 0)

    def test_br_121_asking_for_interfaces_fails_with_an_error_that_programs_know(self):
        script = "import socket\ntry: print(socket.if_nameindex())\nexcept OSError as e: print(e.errno)\n" \
                 "try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nexcept PermissionError: print('refused')"
        status, out, err, _ = self.run_it(["/usr/bin/env", "python3", "-c", script])
        self.assertEqual((status, "refused" in out), (0, True), err)
        opened = managed([special("root", "read")], "enabled")
        self.assertIn("lo", self.run_it(["/usr/bin/env", "python3", "-c", script], opened)[1])
        mac = "import socket,fcntl,struct;s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);" \
              "print(fcntl.ioctl(s,0x8927,struct.pack('256s',b'lo'))[:2])"
        self.assertEqual(self.run_it(["/usr/bin/env", "python3", "-c", mac], opened)[1], "b'lo'\n")

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_br_121_node_gets_its_interfaces_with_the_network_and_an_error_of_its_own_without(self):
        script = ["/usr/bin/env", "node", "-e", "const os = require('os');\n"
                  "try { console.log(Object.keys(os.networkInterfaces())) } catch (e) { console.log(e.syscall) }"]
        status, out, err, events = self.run_it(script)
        self.assertEqual((status, out), (0, "uv_interface_addresses\n"), err)
        self.assertEqual([e["family"] for e in self.blocked(events)], ["AF_NETLINK"])
        self.assertIn("lo", self.run_it(script, managed([special("root", "read")], "enabled"))[1])

    def test_br_126_a_linked_program_outside_a_restricted_view_is_named(self):
        os.makedirs(self.base + "/share/t")
        with open(self.base + "/share/t/t", "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho ran\n")
        os.chmod(self.base + "/share/t/t", 0o755)
        os.mkdir(self.ws + "/bin")
        os.symlink(self.base + "/share/t/t", self.ws + "/bin/t")
        view = [special("minimal", "read"), special("project_roots", "read")]
        status, _, err, _ = self.run_it([self.ws + "/bin/t"], managed(view))
        self.assertEqual(status, 127)
        self.assertIn("/bin/t", err)
        self.assertIn(self.base + "/share/t/t", err)
        with open(self.ws + "/bin/own-script", "w", encoding="ascii") as file:
            file.write(f"#! {self.base}/share/i -x\n")
        os.chmod(self.ws + "/bin/own-script", 0o755)
        shutil.copy("/bin/sh", self.base + "/share/i")
        for word in (self.ws + "/bin/own-script", "own-script"):
            status, _, err, _ = self.run_it([word], managed(view), env={"PATH": self.ws + "/bin:/usr/bin:/bin"})
            self.assertIn(f"does not show {self.base}/share/i", err)
        self.assertEqual(self.run_it([self.ws + "/bin/t"], managed([*view, at(self.base + "/share/t", "read")]))[1],
                         "ran\n")

    def test_br_127_files_move_and_link_between_writable_folders(self):
        profile = managed([special("root", "read"), special("project_roots", "write"), at(self.out, "write")])
        script = f"mkdir a b; echo x > a/f; mv a/f b/f; ln b/f a/h; mv b/f {self.out}/f; cat {self.out}/f a/h; " \
                 "python3 -c 'import os; os.rename(\"a/h\", \"b/h\"); os.link(\"b/h\", \"a/g\")'"
        status, out, err, _ = self.run_it(script, profile, cwd=self.ws)
        self.assertEqual((status, out), (0, "x\nx\n"), err)

    def test_br_127_also_with_landlock_alone_where_git_packs_its_objects(self):
        self.git("init", "-q", ".")
        profile = managed([special("root", "read"), special("project_roots", "write"), at(self.ws + "/.git", "write")])
        script = "set -e; mkdir a b; echo x > a/f; mv a/f b/f; python3 -c 'import os; os.rename(\"b/f\", \"a/g\"); " \
                 "os.link(\"a/g\", \"b/h\")'; git add .; git -c user.name=a -c user.email=a@b commit -qm x; git gc -q; ls a b"
        argv = self.argv(["/bin/bash", "-c", script], profile)
        argv[1:1] = ["--use-legacy-landlock"]
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.base}
        done = subprocess.run(argv, cwd=self.ws, env=env, capture_output=True, text=True, timeout=GRACE_S, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (0, "a:\ng\n\nb:\nh\n"), done.stderr)

    # --- config

    def test_br_202_the_processes_around_the_command_show_no_environment(self):
        script = "cat /proc/1/environ; cat /proc/$PPID/environ; cat /proc/1/cmdline | tr '\\0' ' '; ps eww -A | grep -c " \
                 "s3cr3t-value"
        env = {"PATH": "/usr/bin:/bin", "SSH_AUTH_SOCK": "s3cr3t-value"}
        self.assertNotIn("s3cr3t-value", self.run_it(script.replace("; ps eww -A | grep -c s3cr3t-value", ""),
                                                     env=env)[1])

    def test_br_204_an_absolute_pattern_stays_absolute(self):
        os.makedirs(self.out + "/u/.ssh")
        with open(self.out + "/u/.ssh/key", "w", encoding="ascii") as file:
            file.write("key")
        for pattern in (self.out + "/*/.ssh/**", self.base + "/ou?/u/.ssh", "//" + self.out[1:] + "/u/.ssh"):
            done = self.sandbox("--deny-read", pattern, "--", "cat", self.out + "/u/.ssh/key")
            self.assertNotEqual(done.returncode, 0, pattern)
            self.assertNotIn("key", done.stdout)
        self.assertEqual(self.sandbox("--deny-read", "/x[z-a]", "--", "true").returncode, 121)
        os.makedirs(self.base + "/a b")
        with open(self.base + "/a b/f", "w", encoding="ascii") as file:
            file.write("x")
        self.assertNotEqual(self.sandbox("--deny-read", "~/a b/*", "--", "cat", self.base + "/a b/f").returncode, 0)

    def test_br_206_the_most_specific_root_wins_in_any_order_and_under_any_name(self):
        os.makedirs(self.ws + "/ro/rw")
        os.symlink(self.ws + "/ro", self.base + "/alias")
        entries = [special("root", "read"), at(self.ws, "write"), at(self.ws + "/ro", "read"),
                   at(self.ws + "/ro/rw/", "write"), at(self.base + "/alias", "read"), at(self.ws, "write")]
        for order in (entries, entries[::-1], entries[3:] + entries[:3]):
            status, out, err, _ = self.run_it(
                "pwd -P; touch f ro/rw/f || exit 1; touch ro/f || touch ../alias/f || echo refused", managed(order),
                cwd=self.ws)
            self.assertEqual((status, out), (0, self.ws + "\nrefused\n"), err)


if __name__ == "__main__":
    unittest.main()
