"""§75-§82 §99a §D10 §D12 The boundary on this kernel: what gatehouse-sandbox lets a command do, reports and leaves."""
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import unittest

HELPER = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse-sandbox")


def special(kind, access):
    return {"path": {"type": "special", "value": {"kind": kind}}, "access": access}


def managed(entries, network="restricted"):
    return {"type": "managed", "file_system": {"type": "restricted", "entries": entries}, "network": network}


READ_ONLY = managed([special("root", "read")])
WORKSPACE = managed([special("root", "read"), special("project_roots", "write")])
WORKSPACE_NET = managed([special("root", "read"), special("project_roots", "write")], "enabled")
DISABLED = {"type": "disabled"}


def running(marker):
    """Processes whose command line holds `marker`."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if marker.encode() in file.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def until(condition):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


class Boundary(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
        self.ws = os.path.join(self.base, "ws")
        self.out = os.path.join(self.base, "out")
        os.mkdir(self.ws)
        os.mkdir(self.out)
        self.marker = "60000." + str(os.getpid()) + str(time.monotonic_ns())[-6:]

    def tearDown(self):
        self.assertEqual(running(self.marker), [], "a process of the command was left behind")
        shutil.rmtree(self.base)

    def argv(self, command, profile=WORKSPACE, report=None):
        argv = [HELPER, "--sandbox-policy-cwd", self.ws, "--permission-profile", json.dumps(profile)]
        if report is not None:
            argv += ["--report-fd", str(report)]
        return argv + ["--", *command]

    def run_it(self, command, profile=WORKSPACE, **how):
        """(status, stdout, stderr, events)"""
        if isinstance(command, str):
            command = ["/bin/bash", "-c", command]
        with tempfile.TemporaryFile() as report:
            how.setdefault("stdin", subprocess.DEVNULL)
            how.setdefault("stdout", subprocess.PIPE)
            fds = (report.fileno(), *how.pop("pass_fds", ()))
            done = subprocess.run(self.argv(command, profile, report.fileno()), stderr=subprocess.PIPE, timeout=60,
                                  check=False, text=True, pass_fds=fds, **how)
            report.seek(0)
            events = [json.loads(line) for line in report]
        return done.returncode, done.stdout, done.stderr, events

    def blocked(self, events):
        return [e for e in events if e["event"] == "blocked"]

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
        for command in (["/nonexistent/program"], ["no-such-program"]):
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
            self.assertEqual((child.communicate(timeout=20)[0], child.returncode), ("got-term\n", 5))

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
                       check=False, timeout=60, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
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
