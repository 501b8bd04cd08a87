"""The endpoint part of scripts/bench: what `gatehouse serve` adds to a call, and how many requests it answers."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import bench_sessions

CALLS = 20  # of one round, one after the other
WINDOW = 64  # requests that are under way at once


class Daemon:
    """A running `gatehouse serve`, as exec_client.Client wants its servers."""

    def __init__(self, build, folder):
        self.home = os.path.join(folder, "home")
        self.workspace = os.path.join(folder, "ws")
        os.mkdir(self.home)
        os.mkdir(self.workspace)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.home, "XDG_STATE_HOME": self.home + "/state",
                    "GATEHOUSE_HOME": self.home + "/gatehouse"}
        rules = os.path.join(folder, "bench.rules")
        with open(rules, "w", encoding="ascii") as file:
            file.write('prefix_rule(["forbidden-tool"], "forbidden", justification = "never runs")\n')
        self.options = ["--cwd", self.workspace, "--profile", "workspace-write", "--rules", rules]
        self.program = os.path.join(build, "gatehouse")
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", "ws://127.0.0.1:0", "--root", self.workspace, *self.options],
            env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            sys.exit("gatehouse serve did not start; run it by hand")
        self.port = int(self.url.rsplit(":", 1)[1])

    def token(self):
        with open(self.home + "/state/gatehouse/tokens/agent.token", encoding="ascii") as file:
            return file.read().strip()

    def in_process(self, calls):
        """Seconds for so many calls in a thread of the program that is asked: no endpoint is between."""
        lines = "".join(json.dumps({"arguments": {"argv": ["/bin/true"]}}) + "\n" for _ in range(calls))
        start = time.perf_counter()
        done = subprocess.run([self.program, "batch", *self.options, "-"], env=self.env, input=lines,
                              capture_output=True, text=True, check=False)
        taken = time.perf_counter() - start
        if done.returncode != 0:
            sys.exit(f"gatehouse batch ended with {done.returncode}: {done.stdout}{done.stderr}")
        return taken

    def end(self):
        self.process.terminate()
        self.process.wait(20)


class Agent:
    """One session with one thread."""

    def __init__(self, exec_client, daemon):
        self.client = exec_client.Client(daemon, headers={"Authorization": "Bearer " + daemon.token()})
        self.ask("initialize", clientInfo={"name": "bench"})
        self.thread = self.ask("thread/start", cwd=daemon.workspace)["thread"]["id"]
        self.serial = 0

    def ask(self, method, **params):
        answer = self.client.call(method, **params)
        self.client.pending.clear()
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def call(self, argv):
        self.serial += 1
        return self.ask("tool/call", threadId=self.thread, callId=f"c{self.serial}", tool="shell_command",
                        arguments={"argv": argv})

    def many(self, count, method, params):
        """Requests a second with WINDOW of them under way."""
        sent = answered = 0
        start = time.perf_counter()
        while answered < count:
            while sent < count and sent - answered < WINDOW:
                sent += 1
                self.client.send({"id": f"m{self.serial}-{sent}", "method": method, "params": params(sent)})
            message = self.client.receive(60)
            if "id" in message and "method" not in message:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']['message']}")
                answered += 1
        self.serial += 1
        return count / (time.perf_counter() - start)


def endpoint(given):
    exec_client = bench_sessions.client_module(given.build)
    folder = tempfile.mkdtemp(prefix="gatehouse-bench-", dir="/var/tmp")
    daemon = Daemon(given.build, folder)
    try:
        agent = Agent(exec_client, daemon)
        rounds = max(3, given.runs // CALLS)
        through, direct = [], []
        for turn in range(rounds + 1):
            start = time.perf_counter()
            for _ in range(CALLS):
                agent.call(["/bin/true"])
            a = (time.perf_counter() - start) / CALLS
            b = (daemon.in_process(CALLS + 1) - daemon.in_process(1)) / CALLS
            if turn > 0:  # the first round warms the caches
                through.append(a * 1000)
                direct.append(b * 1000)
        here, there = statistics.median(through), statistics.median(direct)
        print(f"one tool/call of /bin/true, {rounds} rounds of {CALLS}: in-process {there:.2f} ms, over the endpoint "
              f"{here:.2f} ms, added {here - there:+.2f} ms, ratio {here / there:.2f}")
        count = given.runs * 20
        reads = agent.many(count, "thread/read", lambda _: {"threadId": agent.thread})
        refused = agent.many(count, "tool/call", lambda n: {
            "threadId": agent.thread, "callId": f"r{n}", "tool": "shell_command",
            "arguments": {"argv": ["forbidden-tool"]}})
        print(f"{WINDOW} under way: {reads:,.0f} thread/read a second, {refused:,.0f} tool/call a second that end before "
              f"a process")
    finally:
        daemon.end()
        shutil.rmtree(folder)
    return 1 if given.limit and here / there > given.limit else 0
