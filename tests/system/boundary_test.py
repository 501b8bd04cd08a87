"""§75-§82 §99a §D10 §D12 The boundary on this kernel: what gatehouse-sandbox lets a command do, reports and leaves."""
import os
import shutil
import signal
import socket
import stat
import subprocess
import time
import unittest

from boundary_support import (DISABLED, HELPER, WORKSPACE, WORKSPACE_NET, BoundaryCase, managed, running,
                              special, until)
from run_case import GRACE_S


class Boundary(BoundaryCase):
    # --- §76 status and report

    def test_a_run_is_reported_from_start_to_exit(self):
        status, out, err, events = self.run_it("echo hi; exit 37")
        self.assertEqual((status, out, err), (37, "hi\n", ""))
        self.assertEqual(events, [{"event": "started"}, {"event": "exited", "exit_code": 37}])

    def test_a_signal_is_128_plus_n_and_reported(self):
        status, _, _, events = self.run_it("kill -SEGV $$")
        self.assertEqual(status, 128 + signal.SIGSEGV)
        self.assertEqual(events[-1], {"event": "signalled", "signal": int(signal.SIGSEGV)})

    def test_a_program_that_does_not_exist_is_127_in_one_line(self):
        for command in (["/usr/no-such-folder/program"], ["no-such-program"]):
            status, _, err, events = self.run_it(command)
            self.assertEqual((status, err.count("\n")), (127, 1), err)
            self.assertIn(command[0], err)
            self.assertEqual(events[-1]["event"], "exec_failed")

    def test_a_file_that_is_no_program_is_126(self):
        with open(self.ws + "/plain", "w", encoding="ascii") as file:
            file.write("text")
        status, _, _, events = self.run_it([self.ws + "/plain"])
        self.assertEqual((status, events[-1]["errno"]), (126, 13))

    def test_a_script_without_a_first_line_runs_in_sh(self):
        with open(self.ws + "/script", "w", encoding="ascii") as file:
            file.write('echo "$0 $1"\n')
        os.chmod(self.ws + "/script", 0o755)
        self.assertEqual(self.run_it([self.ws + "/script", "one"])[1], self.ws + "/script one\n")

    def test_wrong_usage_is_2_and_nothing_runs(self):
        for argv in ([], ["--bogus"], ["--sandbox-policy-cwd", "relative", "--permission-profile", "{}", "--", "true"],
                     ["--sandbox-policy-cwd", self.ws, "--permission-profile", "{}", "--"],
                     ["--sandbox-policy-cwd", self.ws, "--permission-profile", "nonsense", "--", "true"]):
            done = subprocess.run([HELPER, *argv], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_folder_as_a_standard_stream_is_refused(self):
        fd = os.open("/", os.O_RDONLY)
        try:
            status, _, err, _ = self.run_it("ls /proc/self/fd/0/", stdin=fd)
        finally:
            os.close(fd)
        self.assertEqual(status, 2, err)

    # --- §99a the tree

    def test_background_children_end_with_the_command(self):
        start = time.monotonic()
        status, out, _, _ = self.run_it(f"sleep {self.marker} & setsid sleep {self.marker} & echo done")
        self.assertEqual((status, out), (0, "done\n"))
        self.assertLess(time.monotonic() - start, 20)

    def test_background_children_end_with_the_command_also_without_a_boundary(self):
        status, out, _, _ = self.run_it(f"(setsid sleep {self.marker} &) ; sleep {self.marker} & echo done", DISABLED)
        self.assertEqual((status, out), (0, "done\n"))

    def start_sleeper(self, profile):
        child = subprocess.Popen(self.argv(["/bin/bash", "-c", f"(setsid sleep {self.marker} &); sleep {self.marker}"],
                                           profile), stdin=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.assertTrue(until(lambda: sum(self.is_sleep(pid) for pid in running(self.marker)) == 2))
        return child

    def is_sleep(self, pid):
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                return file.read() == "sleep\n"
        except OSError:
            return False

    def test_sigkill_of_the_helper_ends_the_tree_and_leaves_nothing(self):
        for profile in (WORKSPACE, DISABLED):
            child = self.start_sleeper(profile)
            child.kill()
            child.wait()
            self.assertTrue(until(lambda: not running(self.marker)), profile)
            self.assertEqual(os.listdir(self.ws), [])

    def test_sigterm_reaches_the_command(self):
        for profile in (WORKSPACE, DISABLED):
            child = subprocess.Popen(
                self.argv(["/bin/bash", "-c", "trap 'echo got-term; exit 5' TERM; echo up; sleep 30 & wait"], profile),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            self.assertEqual(child.stdout.readline(), "up\n")
            child.terminate()
            self.assertEqual((child.communicate(timeout=GRACE_S)[0], child.returncode), ("got-term\n", 5))

    def test_signalling_process_1_from_inside_neither_ends_nor_falsifies_the_command(self):
        for name in ("TERM", "INT", "HUP", "KILL", "USR1", "QUIT"):
            status, out, _, events = self.run_it(f"kill -{name} 1; echo after; exit 7")
            self.assertEqual((status, out, events[-1]), (7, "after\n", {"event": "exited", "exit_code": 7}), name)
        queue = "import ctypes, os; os.kill(1, 15); i = (ctypes.c_int * 32)(15, 0, -1); " \
                "print(ctypes.CDLL(None).syscall(129, 1, 15, ctypes.byref(i)))"  # rt_sigqueueinfo that claims sender 0
        self.assertEqual(self.run_it(["/usr/bin/env", "python3", "-c", queue + "; raise SystemExit(9)"])[0], 9)

    def test_opening_a_named_pipe_with_o_creat_is_interrupted_by_a_handled_signal(self):
        script = """
import os, signal, threading, time
class Late(Exception): pass
def late(*_): raise Late
signal.signal(signal.SIGALRM, late)
os.mkfifo('p')
for flags in (os.O_WRONLY, os.O_RDONLY):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try: os.open('p', flags | os.O_CREAT, 0o600); print('opened')
    except Late: print('interrupted')
threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
signal.setitimer(signal.ITIMER_REAL, 0.1)
try: os.open('p', os.O_WRONLY | os.O_CREAT, 0o600); print('opened')
except Late: print('interrupted')
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, False)
signal.setitimer(signal.ITIMER_REAL, 0.1)
threading.Timer(0.4, lambda: print(open('p').read())).start()
with open('p', 'w') as f: f.write('through')
"""
        status, out, err, _ = self.run_it(["/usr/bin/env", "-C", self.ws, "python3", "-c", script])
        self.assertEqual((status, out.split()), (0, ["interrupted"] * 3 + ["through"]), err)

    def test_warnings_about_the_boundary_do_not_mix_with_the_commands_words(self):
        profile = managed([special("root", "read"), special("project_roots", "write"),
                           {"path": {"type": "path", "path": self.out + "/missing"}, "access": "write"}])
        status, out, err, events = self.run_it("echo out; echo err >&2", profile)
        self.assertEqual((status, out, err), (0, "out\n", "err\n"))
        self.assertEqual(events[0]["event"], "warning")
        self.assertIn(self.out + "/missing", events[0]["message"])
        done = subprocess.run(self.argv(["true"], profile), capture_output=True, text=True, check=False)
        self.assertRegex(done.stderr, "^gatehouse-sandbox: warning: .*/missing.*\n$")

    # --- §77 what reaches the command

    def test_inherited_descriptors_do_not_reach_the_command(self):
        with open(self.out + "/secret", "w+", encoding="ascii") as file:
            _, out, _, _ = self.run_it("ls /proc/self/fd", pass_fds=(file.fileno(),))
        self.assertEqual(set(out.split()) - {"0", "1", "2", "3"}, set())

    def test_the_environment_says_where_it_is_and_loses_its_agents(self):
        env = {"PATH": "/usr/bin:/bin", "SSH_AUTH_SOCK": "/x", "DOCKER_HOST": "/x", "KEEP": "1"}
        names = dict(line.split("=", 1) for line in self.run_it(["/usr/bin/env"], env=env)[1].splitlines())
        self.assertEqual(names, {"PATH": "/usr/bin:/bin", "KEEP": "1", "GATEHOUSE_SANDBOX": "linux",
                                 "GATEHOUSE_SANDBOX_NETWORK_DISABLED": "1"})
        self.assertNotIn("NETWORK_DISABLED", self.run_it(["/usr/bin/env"], WORKSPACE_NET, env=env)[1])

    def test_a_library_of_the_commands_environment_is_not_loaded_outside(self):
        with open(HELPER, "rb") as file:
            if b"/ld-linux" in file.read(4096):
                self.skipTest("built with a sanitizer: not linked statically")
        source = self.base + "/evil.c"
        with open(source, "w", encoding="ascii") as file:
            file.write('#include <fcntl.h>\n__attribute__((constructor)) void f(void)'
                       '{ creat("%s/loaded", 0600); }' % self.out)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.base + "/evil.so", source], check=True)
        status = self.run_it(["/bin/true"], env={"PATH": "/usr/bin:/bin", "LD_PRELOAD": self.base + "/evil.so"})[0]
        self.assertEqual((status, os.listdir(self.out)), (0, []))

    def test_no_capability_no_kernel_setting_no_other_process(self):
        _, out, _, _ = self.run_it("grep CapEff /proc/self/status; ls /proc | grep -c '^[0-9]'; "
                                   "test -w /proc/sys/kernel/core_pattern || echo sealed; cat /proc/1/comm")
        caps, count, sealed, init = out.splitlines()
        self.assertEqual(caps.split()[1].strip("0"), "")
        self.assertLessEqual(int(count), 4)
        self.assertEqual((sealed, init), ("sealed", "gatehouse-init"))

    # --- §63 §D12 names that must not come to be

    def test_guarded_names_cannot_come_to_be_and_nothing_is_left(self):
        for attempt in ("mkdir .git", "echo x > .gitconfig", "mkdir d && mv d .claude", "ln -s x .vscode",
                        "ln -s .gitconfig l; echo x > l", "touch f && ln f .mcp.json", "mkfifo .netrc",
                        "touch f && cp f .gitconfig", "python3 -c 'import socket;"
                        "socket.socket(socket.AF_UNIX).bind(\".gitconfig\")'", "mkdir x && mkdir x/../.git",
                        "mkdir sub; cd sub; mkdir ../.agents", "exec 3<.; mkdir /proc/self/fd/3/.git",
                        "mkdir /proc/self/cwd/.git"):
            status, _, err, events = self.run_it(attempt)
            left = {name for name in os.listdir(self.ws) if name.startswith(".")}
            self.assertEqual(left, set(), attempt)
            self.assertNotEqual(status, 0, attempt)
            self.assertTrue(self.blocked(events), attempt + err)
            event = self.blocked(events)[0]
            self.assertEqual(os.path.dirname(event["path"]), self.ws, attempt)
            self.assertIn("protected", event["entry"])
            shutil.rmtree(self.ws)
            os.mkdir(self.ws)

    def test_protected_names_beyond_what_was_searched_are_not_changed_by_their_names(self):
        for number in range(2100):
            os.mkdir(f"{self.ws}/{number}")
        os.makedirs(self.ws + "/7/deep/.vscode")
        with open(self.ws + "/7/deep/.vscode/tasks.json", "w", encoding="ascii") as file:
            file.write("as it was\n")
        for attempt in ("echo x > tasks.json", "echo x 1<> tasks.json", "truncate -s 0 tasks.json",
                        "python3 -c 'import os; os.truncate(\"tasks.json\", 0)'",
                        "python3 -c 'import os; r = os.open(\"tasks.json\", 0); "
                        "os.open(f\"/proc/self/fd/{r}\", os.O_WRONLY)'", "rm tasks.json", "mv tasks.json ../t", "echo x > y && mv y tasks.json",
                        "cp /dev/null tasks.json", "mkdir sub"):
            status, _, err, events = self.run_it(f"cd 7/deep/.vscode 2>/dev/null && {attempt}")
            self.assertNotEqual(status, 0, attempt)
            self.assertEqual(self.blocked(events)[0]["entry"], "protected name `.vscode`", attempt + err)
        for attempt in ("rm -r 7/deep/.vscode", "mv 7/deep/.vscode 7/deep/v"):
            self.assertNotEqual(self.run_it(attempt)[0], 0, attempt)
        with open(self.ws + "/7/deep/.vscode/tasks.json", encoding="ascii") as file:
            self.assertEqual(file.read(), "as it was\n")
        status = self.run_it("mkdir own && mkdir own/.vscode && echo x > own/.vscode/t && echo y > own/.vscode/t && "
                             "mv own/.vscode/t own/.vscode/u && rm -r own")[0]
        self.assertEqual(status, 0)

    def test_opening_for_writing_answers_as_without_a_boundary(self):
        script = """
import os, pty, tempfile
def answer(path, flags):
    try:
        fd = os.open(path, flags, 0o640)
    except OSError as e:
        return e.strerror
    os.write(fd, b'x')
    return os.fstat(fd).st_nlink
print(answer('missing', os.O_WRONLY), os.path.exists('missing'))
open('f', 'w').close()
print(answer('f', os.O_WRONLY), answer('f', os.O_RDWR | os.O_EXCL), answer('.', os.O_WRONLY))
print(answer('.', os.O_TMPFILE | os.O_RDWR), os.open('f', os.O_PATH | os.O_RDWR) > 2)
r = os.open('f', os.O_RDONLY)
print(answer(f'/proc/self/fd/{r}', os.O_WRONLY), answer(f'/proc/self/fd/{os.memfd_create("m")}', os.O_RDWR))
os.unlink('f')
print(answer(f'/proc/self/fd/{r}', os.O_WRONLY), answer('/dev/null', os.O_WRONLY), answer('/dev/tty', os.O_RDWR))
os.truncate('f' if os.path.exists('f') else tempfile.mkstemp(dir='.')[1], 3)
pid, fd = pty.fork()
if pid == 0:
    os.write(os.open('/dev/tty', os.O_RDWR), b'own terminal')
    os._exit(0)
print(os.read(fd, 100).decode())
"""
        status, out, err, _ = self.run_it(["/usr/bin/python3", "-c", script])
        self.assertEqual(out.splitlines(), ["No such file or directory False", "1 1 Is a directory", "0 True", "1 0",
                                            "0 1 No such device or address", "own terminal"], err)
        self.assertEqual(status, 0, err)

    @unittest.skipUnless(os.geteuid() == 0, "making a second path to a folder needs root")
    def test_a_second_path_to_a_guarded_folder_does_not_get_around_the_guard(self):
        second = self.base + "/second"
        os.makedirs(second + "/alias")
        profile = managed([special("root", "read"), special("project_roots", "write"),
                           {"path": {"type": "path", "path": second}, "access": "write"}])
        script = f"mkdir {second}/alias/fine && mkdir {second}/alias/.git"
        argv = self.argv(["/bin/sh", "-c", script], profile)
        subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c",
                        'mount --bind "$1" "$2"; shift 2; exec "$@"', "sh", self.ws, second + "/alias", *argv],
                       check=False, timeout=GRACE_S, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.assertEqual(os.listdir(self.ws), ["fine"])

    def test_a_path_that_changes_while_it_is_judged_creates_nothing(self):
        source = self.base + "/race.c"
        with open(source, "w", encoding="ascii") as file:
            file.write(r"""
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
static char path[16] = "harmless.x";
static volatile int stop;
static void* flip(void* p) { while (!stop) { memcpy(path, ".gitconfig", 10); memcpy(path, "harmless.x", 10); } return p; }
int main(void) {
  pthread_t t; pthread_create(&t, 0, flip, 0);
  for (int i = 0; i < 3000; ++i) { int f = open(path, O_CREAT | O_WRONLY, 0600); if (f >= 0) close(f); unlink("harmless.x"); }
  stop = 1; pthread_join(t, 0);
  return access(".gitconfig", F_OK) == 0;
}""")
        subprocess.run(["cc", "-O1", "-pthread", "-o", self.ws + "/race", source], check=True)
        self.assertEqual(self.run_it(["./race"], cwd=self.ws)[0], 0)
        self.assertNotIn(".gitconfig", os.listdir(self.ws))

    def test_ordinary_work_on_names_is_as_without_a_supervisor(self):
        script = r"""set -e
umask 027; echo a > f; stat -c %a f; mkdir d; stat -c %a d; mktemp ./tmp.XXXXXX | wc -l
ln f hard; stat -c %h f; ln -s f soft; readlink soft; mv d e; mv -T e g; rmdir g; rm hard soft
mkfifo p; cat p & echo through > p; wait; rm p
echo out >> /dev/stdout; echo err > /dev/stderr; echo null > /dev/null
set -C; if (echo b > f) 2>/dev/null; then exit 9; fi; cat f; set +C
mkdir -p x/y/z; cp -r x copy; tar cf t.tar x; rm -r x; tar xf t.tar; ls x/y
python3 - <<'P'
import os, tempfile
open('a', 'x').close(); os.replace('a', 'b'); os.rename('b', 'c'); os.remove('c')
with tempfile.TemporaryDirectory(dir='.') as d: open(d + '/q', 'w').write('1')
fd = os.open('.', os.O_TMPFILE | os.O_WRONLY); os.link(f'/proc/self/fd/{fd}', 'named', src_dir_fd=fd)
d = os.open('copy', os.O_RDONLY); os.mkdir('at', dir_fd=d); os.rmdir('at', dir_fd=d)
try: os.mkdir('missing/x')
except FileNotFoundError: print('ENOENT')
try: os.mkdir('copy')
except FileExistsError: print('EEXIST')
try: open('/usr/nope', 'w')
except OSError as e: print(e.errno in (13, 30))
P
ls named"""
        with open(self.out + "/text", "a+", encoding="ascii") as out:
            status, _, err, _ = self.run_it("cd " + self.ws + "\n" + script, stdout=out)
            out.seek(0)
            text = out.read()
        self.assertEqual((status, err), (0, "err\n"), text)
        self.assertEqual(text.split(), "640 750 1 2 f through out a z ENOENT EEXIST True named".split())

    def test_git_works_in_the_workspace_but_not_on_its_own_hooks(self):
        subprocess.run(["git", "init", "-q", self.ws], check=True)
        status, out, _, events = self.run_it(f"cd {self.ws}; git status --porcelain; echo x > .git/hooks/pre-commit")
        self.assertNotEqual(status, 0)
        self.assertFalse(os.path.exists(self.ws + "/.git/hooks/pre-commit"))
        self.assertEqual((out, self.blocked(events)), ("", []))

    def test_protected_names_in_folders_below_the_root_are_protected_too(self):
        """§D14 BR-065: what exists is read-only, what does not is not made, in any folder that was there before."""
        os.makedirs(self.ws + "/sub/deep/er/than/the/search")
        os.mkdir(self.ws + "/sub/.vscode")
        with open(self.ws + "/sub/.envrc", "w", encoding="ascii") as file:
            file.write("old")
        for attempt in ("echo x > sub/.envrc", "echo x > sub/.vscode/tasks.json", "mkdir sub/.git", "git init -q sub",
                        "mkdir -p sub/deep/er/than/the/search/.claude", "ln -s /tmp sub/deep/.husky",
                        "echo x > f && mv f sub/deep/.bashrc", "mkdir -p sub/.github/hooks", "cp -r sub/deep sub/.idea",
                        "mkdir n && mv n sub/deep/.cursor"):
            status, _, err, events = self.run_it("cd " + self.ws + "; " + attempt)
            self.assertNotEqual(status, 0, attempt)
            if "echo x > sub" not in attempt:
                self.assertIn("protected name", self.blocked(events)[0]["entry"], attempt + err)
        found = sorted(os.path.join(at, name)[len(self.ws):] for at, folders, files in os.walk(self.ws)
                       for name in folders + files if name.startswith("."))
        self.assertEqual(found, ["/sub/.envrc", "/sub/.github", "/sub/.vscode"])
        with open(self.ws + "/sub/.envrc", encoding="ascii") as file:
            self.assertEqual(file.read(), "old")
        profile = managed([special("root", "read"), special("project_roots", "write"),
                           {"path": {"type": "path", "path": self.ws + "/sub/.git"}, "access": "write"}])
        self.assertEqual(self.run_it(f"cd {self.ws}/sub && mkdir deep/.git", profile)[0], 1)
        status, _, err, _ = self.run_it(f"git init -q {self.ws}/sub", profile)
        self.assertEqual((status, os.path.isdir(self.ws + "/sub/.git/hooks")), (0, True), err)

    def test_a_folder_that_the_command_makes_is_its_own_affair_and_is_named(self):
        """BR-059: a clone or an unpacked archive works; what others would execute in it is said."""
        os.mkdir(self.ws + "/node_modules")
        subprocess.run(["git", "init", "-q", self.out + "/from"], check=True)
        subprocess.run(["git", "-C", self.out + "/from", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q",
                        "--allow-empty", "-m", "a"], check=True)
        status, _, err, events = self.run_it(
            f"cd {self.ws} && git -c safe.directory='*' clone -q {self.out}/from new/clone && git -C new/clone log "
            "--oneline | wc -l && mkdir -p new/.vscode node_modules/p/.vscode node_modules/.idea && "
            "echo x > new/.vscode/settings.json")
        self.assertEqual(status, 0, err)
        told = [e["message"] for e in events if e["event"] == "warning"]
        self.assertEqual([self.ws + "/new/clone/.git" in told[0], self.ws + "/new/.vscode" in told[1]], [True, True])

    def test_one_writable_file_can_be_written_and_its_folder_cannot(self):
        with open(self.out + "/one", "w", encoding="ascii") as file:
            file.write("old")
        profile = managed([special("root", "read"), special("project_roots", "write"),
                           {"path": {"type": "path", "path": self.out + "/one"}, "access": "write"}])
        status, out, err, _ = self.run_it(f"cd {self.out}; echo new > one && cat one; echo x > two", profile)
        self.assertEqual((status, out), (1, "new\n"), err)
        self.assertEqual(os.listdir(self.out), ["one"])

    def test_the_supervisor_opens_nothing_that_its_caller_may_not(self):
        with open(self.ws + "/denied", "w", encoding="ascii") as file:
            file.write("secret")
        profile = managed([special("root", "read"), special("project_roots", "write"),
                           {"path": {"type": "path", "path": self.ws + "/denied"}, "access": "deny"}])
        script = f"""
import os
for path in ('{self.ws}/denied', '/proc/1/environ', '/proc/1/mem', '/proc/1/maps'):
    for flags in (os.O_RDONLY, os.O_RDWR):
        try: os.open(path, flags | os.O_CREAT, 0o600); print('opened', path, flags)
        except OSError: pass
"""
        status, out, err, _ = self.run_it(["/usr/bin/env", "python3", "-c", script], profile)
        self.assertEqual((status, out), (0, ""), err)

    # --- §82 sockets

    def test_local_sockets_work_inside_and_no_socket_of_the_host_is_reached(self):
        host = socket.socket(socket.AF_UNIX)
        self.addCleanup(host.close)
        host.bind(self.ws + "/host.sock")
        host.listen()
        host.setblocking(False)
        abstract = socket.socket(socket.AF_UNIX)
        self.addCleanup(abstract.close)
        abstract.bind("\0" + self.marker)
        abstract.listen()
        script = rf"""
import os, socket
def attempt(path):
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(path); print('reached')
    except OSError as e: print(e.errno)
server = socket.socket(socket.AF_UNIX); server.bind('in.sock'); server.listen()
client = socket.socket(socket.AF_UNIX); client.connect('in.sock'); client.sendall(b'hi')
print(server.accept()[0].recv(9).decode(), server.getsockname())
attempt('host.sock')
os.rename('in.sock', 'old.sock'); os.rename('host.sock', 'in.sock'); attempt('in.sock')
os.symlink('in.sock', 'link.sock'); attempt('link.sock')
attempt('\x00{self.marker}')
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    try: socket.socketpair(socket.AF_UNIX, kind); print('pair')
    except OSError as e: print(e.errno)
    try: socket.socket(socket.AF_UNIX, kind); print('socket')
    except OSError as e: print(e.errno)
"""
        for profile in (WORKSPACE, WORKSPACE_NET):
            status, out, err, events = self.run_it(["/usr/bin/env", "-C", self.ws, "python3", "-c", script], profile)
            self.assertEqual(status, 0, err)
            refused = "111" if profile is WORKSPACE else "13"  # its own namespace has no such name
            self.assertEqual(out.split(), ["hi", "in.sock", "13", "13", "13", refused, "1", "1", "1", "1"], profile)
            self.assertIn(self.ws + "/host.sock", [e.get("path") for e in self.blocked(events)])
            self.assertRaises(BlockingIOError, host.accept)
            os.rename(self.ws + "/in.sock", self.ws + "/host.sock")
            os.remove(self.ws + "/link.sock")
            os.remove(self.ws + "/old.sock")

    def test_a_refused_family_is_reported_as_proof(self):
        script = "import socket\nfor f in (2, 10, 16, 17, 40):\n try: socket.socket(f, 3 if f == 17 else 1); print('open')\n" \
                 " except OSError as e: print(e.errno)"
        _, out, _, events = self.run_it(["/usr/bin/env", "python3", "-c", script])
        self.assertEqual(out.split(), ["1"] * 5)
        self.assertEqual([e["family"] for e in self.blocked(events)],
                         ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
        self.assertEqual({e["kind"] for e in self.blocked(events)}, {"network"})

    def test_an_enabled_network_reaches_a_server_and_can_be_one(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        # A minimal root has no /etc/hosts: names resolve inside as they do outside.
        resolve = "try: print(len(socket.getaddrinfo('localhost', 80)) > 0)\nexcept OSError: print(False)"
        outside = subprocess.run(["python3", "-c", "import socket\n" + resolve], capture_output=True, text=True)
        script = f"""
import socket
s = socket.create_connection(('127.0.0.1', {server.getsockname()[1]})); print('out')
l = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(l.getsockname()); print('in')
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect(('127.0.0.1', 9)); u.send(b'x'); print('udp')
{resolve}
s = socket.socket(); s.setblocking(False); print(s.connect_ex(('127.0.0.1', {server.getsockname()[1]})) in (0, 115))
s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); print(socket.socket().connect_ex(('127.0.0.1', p)))
"""
        status, out, err, _ = self.run_it(["/usr/bin/env", "python3", "-c", script], WORKSPACE_NET)
        self.assertEqual((status, out.split()), (0, ["out", "in", "udp", outside.stdout.strip(), "True", "111"]), err)

    def test_words_are_no_proof(self):
        _, _, _, events = self.run_it("echo sandbox: operation not permitted >&2; exit 1")
        self.assertEqual(self.blocked(events), [])

    # --- terminals

    def test_a_terminal_made_for_the_command_is_its_own(self):
        pid, terminal = os.forkpty()
        if pid == 0:
            os.execv(HELPER, self.argv(["/bin/bash", "-c", "echo up; tty; test -w /dev/tty && echo mine > /dev/tty; "
                                        "trap 'echo int; exit 6' INT; sleep 30"]))
        text = b""
        while b"mine" not in text:
            text += os.read(terminal, 4096)
        time.sleep(0.1)
        os.write(terminal, b"\x03")
        try:
            while True:
                text += os.read(terminal, 4096)
        except OSError:
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
        self.assertEqual(status, 6, text)
        self.assertIn(b"int", text)

    def test_without_a_terminal_of_its_own_there_is_no_dev_tty(self):
        _, out, _, _ = self.run_it("(echo x > /dev/tty) 2>/dev/null || echo none")
        self.assertEqual(out, "none\n")

    def test_set_user_bits_mean_nothing(self):
        su = shutil.which("su")
        if su and os.stat(su).st_mode & stat.S_ISUID:
            self.assertNotEqual(self.run_it([su, "-s", "/bin/sh", "nobody", "-c", "id"])[0], 0)


if __name__ == "__main__":
    unittest.main()
