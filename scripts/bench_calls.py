"""The parts of scripts/bench about whole calls through `gatehouse serve`: call, parallel, cpu, audit, approvals, memory,
startup, sizes. They talk to the daemon as clients do."""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench_sessions  # noqa: E402  beside this script

# The mounts of workspace-write, by hand.
BWRAP = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--die-with-parent", "--new-session"]


class Daemon:
    """A `gatehouse serve` with a state of its own."""

    def __init__(self, build, *options):
        self.base = tempfile.mkdtemp(prefix="gatehouse-bench-", dir="/var/tmp")
        self.ws = os.path.join(self.base, "ws")
        os.mkdir(self.ws)
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")
        self.gatehouse = os.path.join(build, "gatehouse")
        self.process = subprocess.Popen([self.gatehouse, "serve", "--profile", "workspace-write", *options], cwd=self.ws, env=self.env,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        self.exec_client = bench_sessions.client_module(build)

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def client(self, who="agent", **capabilities):
        with open(f"{self.base}/state/gatehouse/tokens/{who}.token", encoding="ascii") as file:
            client = self.exec_client.Client(self, {"Authorization": f"Bearer {file.read().strip()}"})
        client.call("initialize", clientInfo={"name": "bench", "version": "1"}, **({"capabilities": capabilities} if capabilities else {}))
        client.send({"method": "initialized", "params": {}})
        return client

    def thread(self, client):
        answer = client.call("thread/start", cwd=self.ws)
        if "error" in answer:
            sys.exit(f"no thread: {answer['error']['message']}")
        return answer["result"]["thread"]["id"]

    def load(self, *options):
        done = subprocess.run([self.gatehouse, "load", "--json", "--cwd", self.ws, "--pid", str(self.process.pid), *options, self.url],
                              env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"gatehouse load failed: {done.stdout[:500]}{done.stderr}")
        return json.loads(done.stdout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()
        shutil.rmtree(self.base, True)


def bwrap_argv(ws):
    return [shutil.which("bwrap") or sys.exit("bubblewrap is not installed"), *BWRAP, "--bind", ws, ws, "--bind", "/tmp", "/tmp", "--chdir", ws, "/bin/bash", "-c", "/bin/true"]


def call(given):
    """One sandboxed call through the daemon against bare bubblewrap, in turn."""
    with Daemon(given.build) as daemon:
        client = daemon.client()
        thread = daemon.thread(client)
        bare, ours = [], []
        argv = bwrap_argv(daemon.ws)

        def one_bare():
            start = time.perf_counter()
            subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
            bare.append(time.perf_counter() - start)

        def one_call():
            start = time.perf_counter()
            answer = client.call("tool/call", threadId=thread, callId=f"c{len(ours)}", tool="shell_command", arguments={"command": "/bin/true"})
            ours.append(time.perf_counter() - start)
            if answer.get("result", {}).get("exitCode") != 0:
                sys.exit(f"the call failed: {answer}")
            client.pending.clear()

        for _ in range(given.runs + 5):
            for one in random.sample([one_bare, one_call], 2):
                one()
    base, median = (statistics.median(times[5:]) * 1000 for times in (bare, ours))
    print(f"one call: bare bubblewrap {base:.2f} ms, through the daemon {median:.2f} ms, ratio {median / base:.2f}")
    return 1 if given.limit and median / base > given.limit else 0


def parallel(given):
    """Calls a second at 1, 8 and 64 callers against `xargs -P` with bare bubblewrap."""
    worst = None
    with Daemon(given.build) as daemon:
        for callers in (1, 8, 64):
            count = max(given.runs, callers * 2)
            start = time.perf_counter()
            subprocess.run(["xargs", "-P", str(callers), "-I{}", *bwrap_argv(daemon.ws)], input="x\n" * count, text=True, check=True)
            bare = count / (time.perf_counter() - start)
            ours = daemon.load("--callers", str(callers), "--duration", str(max(3, count / bare)))["calls_per_second"]
            print(f"{callers:3} callers: xargs -P with bubblewrap {bare:7.1f}/s, the daemon {ours:7.1f}/s, ratio {ours / bare:.2f}")
            worst = ours / bare if worst is None else min(worst, ours / bare)
    return 1 if given.limit and worst < given.limit else 0


def cpu(given):
    """The daemon's own processor time for each call."""
    with Daemon(given.build) as daemon:
        seen = daemon.load("--callers", "4", "--duration", str(max(5, given.runs / 20)))
    each = seen["server_cpu_us_per_call"]
    print(f"processor time of the daemon itself: {each:.0f} µs a call over {seen['calls']} calls, {seen['calls_per_second']:.0f}/s")
    return 1 if given.limit and each > given.limit else 0


def audit(given):
    """Calls of a batch with the audit, with each commit flushed, and without, in turn."""
    settings = {"without": "enabled = false", "audit": "enabled = true", "flushed": "flush = true"}
    count, rounds, jobs = max(given.runs, 20), 5, 4
    speeds = {name: [] for name in settings}
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-", dir="/var/tmp") as base:
        calls = base + "/calls.jsonl"
        with open(calls, "w", encoding="ascii") as file:
            file.write((json.dumps({"arguments": {"command": "/bin/true"}}) + "\n") * count)
        for name, text in settings.items():
            os.makedirs(f"{base}/{name}")
            with open(f"{base}/{name}/config.toml", "w", encoding="ascii") as file:
                file.write(f"[audit]\n{text}\n")
        for turn in range(rounds + 1):
            for name in random.sample(list(settings), len(settings)):
                env = dict(os.environ, HOME=base, GATEHOUSE_HOME=f"{base}/{name}", XDG_STATE_HOME=f"{base}/state-{name}")
                start = time.perf_counter()
                done = subprocess.run([os.path.join(given.build, "gatehouse"), "batch", "-j", str(jobs), "--cwd", base, "--profile", "workspace-write", calls],
                                      env=env, capture_output=True, text=True, check=False)
                if done.returncode:
                    sys.exit(f"the batch failed: {done.stderr}")
                if turn:  # the first round warms the caches
                    speeds[name].append(count / (time.perf_counter() - start))
    base_speed = statistics.median(speeds["without"])
    for name, seen in speeds.items():
        print(f"{name:8} {statistics.median(seen):7.1f} calls/s, ratio {statistics.median(seen) / base_speed:.2f}   ({rounds} batches of {count} calls, {jobs} at a time)")
    ratio = statistics.median(speeds["audit"]) / base_speed
    return 1 if given.limit and ratio < given.limit else 0


def approvals(given):
    """From a call to its question at the reviewer, and from the answer to the start of the attempt."""
    there, back = [], []
    with Daemon(given.build, "--ask", "untrusted") as daemon:
        reviewer = daemon.client("reviewer", gatehouse={"approvals": True})
        client = daemon.client()
        thread = daemon.thread(client)
        for number in range(given.runs + 5):
            start = time.perf_counter()
            client.send({"id": 1000 + number, "method": "tool/call", "params": {"threadId": thread, "callId": f"c{number}", "tool": "shell_command",
                                                                               "arguments": {"command": f"mkdir -p d{number}"}}})
            while (question := reviewer.receive()).get("method") != "item/commandExecution/requestApproval":
                pass
            asked = time.perf_counter()
            reviewer.send({"id": question["id"], "result": {"decision": "accept"}})
            while client.receive().get("method") != "item/attempt/started":
                pass
            began = time.perf_counter()
            there.append(asked - start)
            back.append(began - asked)
            while client.receive().get("id") != 1000 + number:
                pass
    both = statistics.median(a + b for a, b in zip(there[5:], back[5:])) * 1000
    print(f"approval: to the reviewer {statistics.median(there[5:]) * 1000:.2f} ms, back to the start of the run "
          f"{statistics.median(back[5:]) * 1000:.2f} ms, both {both:.2f} ms (medians; two clients in Python on the same machine)")
    return 1 if given.limit and both > given.limit else 0


def memory(given):
    """Of the daemon: each idle thread, each question that waits."""
    with Daemon(given.build, "--ask", "untrusted") as daemon:
        rss = lambda: bench_sessions.status_of(daemon.process.pid, "VmRSS")
        daemon.client("reviewer", gatehouse={"approvals": True})
        client = daemon.client()
        for _ in range(20):
            thread = daemon.thread(client)
        idle = rss()
        print(f"daemon with 20 threads: {idle / 1024:.1f} MiB")
        clients = [client]
        for number in range(given.runs):
            if number % 40 == 0:  # a session may have 64
                clients.append(daemon.client())
            thread = daemon.thread(clients[-1])
        client = clients[-1]
        print(f"each idle thread: {(rss() - idle) / given.runs:.1f} KiB")
        before = rss()
        for number in range(given.runs):
            client.send({"id": 5000 + number, "method": "tool/call", "params": {"threadId": thread, "callId": f"w{number}", "tool": "shell_command",
                                                                               "arguments": {"command": f"mkdir d{number}"}}})
        client.call("thread/read", threadId=thread)
        each = (rss() - before) / given.runs
        print(f"each question that waits: {each:.1f} KiB")
    return 0


def startup(given):
    """From the start of a program until it is of use."""
    base = tempfile.mkdtemp(prefix="gatehouse-bench-", dir="/var/tmp")
    env = dict(os.environ, HOME=base, GATEHOUSE_HOME=base + "/home", XDG_STATE_HOME=base + "/state")
    program = os.path.join(given.build, "gatehouse")
    runs = min(given.runs, 50)

    def median(once):
        return statistics.median(once() for _ in range(runs)) * 1000

    def until_end(*words):
        def once():
            start = time.perf_counter()
            subprocess.run([program, *words], env=env, cwd=base, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return time.perf_counter() - start
        return once

    def until_listening():
        start = time.perf_counter()
        with subprocess.Popen([program, "serve"], env=env, cwd=base, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            process.stdout.readline()
            taken = time.perf_counter() - start
            process.terminate()
        return taken

    print(f"gatehouse --version          {median(until_end('--version')):6.2f} ms")
    print(f"gatehouse policy explain     {median(until_end('policy', 'explain', '--', 'ls')):6.2f} ms")
    print(f"gatehouse run -- /bin/true   {median(until_end('run', '--', '/bin/true')):6.2f} ms")
    listening = median(until_listening)
    print(f"gatehouse serve, listening   {listening:6.2f} ms")
    shutil.rmtree(base, True)
    return 1 if given.limit and listening > given.limit else 0


def sizes(given):
    """Of the programs, as built and without symbols."""
    for name in ("gatehouse", "gatehouse-host", "gatehouse-sandbox", "gatehouse-sandbox-init", "gatehouse-sandbox-patch"):
        path = os.path.join(given.build, name)
        with tempfile.NamedTemporaryFile() as stripped:
            subprocess.run(["strip", "-o", stripped.name, path], check=True)
            print(f"{name:24} {os.path.getsize(path) / 1024:9.0f} KiB, stripped {os.path.getsize(stripped.name) / 1024:7.0f} KiB")
    return 0

