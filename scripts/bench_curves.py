"""The part of scripts/bench about cost curves: each kind of work at 1, 10 and 100 times as much, its exponent, and a plot."""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

import bench_calls

# n log n from 10 to 100 times is at most this; what one more costs where n are there is that less one. Rest: noise.
STEEPEST = 1.2
SESSIONS_THREADS = 50  # threads of one session of a client; it may have 64


def fastest_ms(once, times):
    """Other work on the machine makes a run slower, never faster."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        once()
        taken.append((time.perf_counter() - start) * 1000)
    return min(taken)


def run(*argv, **more):
    done = subprocess.run(argv, capture_output=True, **more)
    if done.returncode:
        sys.exit(f"{argv[0]} ended with status {done.returncode}: {done.stderr[-500:]}")
    return done


class Curves:
    """Each method yields (name, whether the time is of all n or of one more, n, milliseconds)."""

    def __init__(self, build):
        self.build = build
        self.gatehouse = os.path.join(build, "gatehouse")
        self.base = tempfile.mkdtemp(prefix="gatehouse-bench-", dir="/var/tmp")
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")

    def rules(self):
        few, many = ("".join(json.dumps({"command": f"ls -la src/{i}"}) + "\n" for i in range(count)).encode() for count in (3_000, 33_000))
        for n in (1_000, 10_000, 100_000):
            path = self.base + "/bench.rules"
            with open(path, "w", encoding="ascii") as file:
                for i in range(n):
                    file.write(f'prefix_rule(pattern=["program{i}", "sub"], decision="prompt")\n')
            explain = [self.gatehouse, "policy", "explain", "--rules", path, "--profile", "workspace-write"]
            yield "rules: read all", "all", n, fastest_ms(lambda: run(*explain, "--", "ls", env=self.env, cwd=self.base), 3)
            short, long = (fastest_ms(lambda: run(*explain, "--jsonl", env=self.env, cwd=self.base, input=requests), 5) for requests in (few, many))
            yield "rules: one decision", "one", n, (long - short) / 30_000

    def denied(self):
        helper = os.path.join(self.build, "gatehouse-sandbox")
        for n in (10, 100, 1_000):
            folder = f"{self.base}/denied-{n}"
            os.mkdir(folder)
            entries = [{"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}]
            for i in range(n):
                os.mkdir(f"{folder}/d{i}")
                entries.append({"path": {"type": "path", "path": f"{folder}/d{i}"}, "access": "deny"})
            profile = {"type": "managed", "file_system": {"type": "restricted", "entries": entries}, "network": "restricted"}
            argv = [helper, "--sandbox-policy-cwd", folder, "--permission-profile", json.dumps(profile, separators=(",", ":")), "--", "/bin/true"]
            yield "denied paths: one launch", "all", n, fastest_ms(lambda: run(*argv), 9)

    def folders(self):
        helper = os.path.join(self.build, "gatehouse-sandbox")
        entries = [{"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                   {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"}]
        profile = json.dumps({"type": "managed", "file_system": {"type": "restricted", "entries": entries}, "network": "restricted"})
        for n in (100, 1_000, 10_000):
            folder = f"{self.base}/folders-{n}"
            for i in range(n):
                os.makedirs(f"{folder}/d{i // 100}/e{i % 100}")
            argv = [helper, "--sandbox-policy-cwd", folder, "--permission-profile", profile, "--", "/bin/true"]
            yield "folders of a workspace: one launch", "all", n, fastest_ms(lambda: run(*argv), 15)

    def batch(self):
        for n in (2_000, 20_000, 200_000):
            path = f"{self.base}/calls-{n}.jsonl"
            with open(path, "w", encoding="ascii") as file:
                for i in range(n):
                    file.write(json.dumps({"callId": f"c{i}", "arguments": {"command": f"echo {i}"}}) + "\n")
                file.write("{\n")  # so that nothing runs
            refused = lambda: subprocess.run([self.gatehouse, "batch", path], env=self.env, capture_output=True, check=False)
            yield "batch: read the input", "all", n, fastest_ms(refused, 3)

    def history(self):
        program = os.path.join(self.build, "bench_audit")
        if not os.path.exists(program):
            sys.exit(f"{program} does not exist; scripts/build release bench_audit")
        for n in (10_000, 100_000, 1_000_000):
            folder = f"{self.base}/audit-{n}"
            os.mkdir(folder)
            seen = json.loads(run(program, folder, str(n)).stdout)
            shutil.rmtree(folder)
            for name, key in (("one more entry", "append_ms"), ("open", "open_ms"), ("nothing to take out", "prune_nothing_ms"),
                              ("the newest 50", "newest_ms"), ("all of one call", "one_call_ms")):
                yield f"audit: {name}", "one", n, seen[key]
            yield "audit: verify", "all", n, seen["verify_ms"]
            if n > 10_000:  # there is more than a step of it
                print(f"audit of {n:,} entries: a third taken out in {seen['prune_ms'] / 1000:.1f} s; whoever writes meanwhile "
                      f"waits {seen['prune_longest_step_ms']:.0f} ms at most")

    def in_flight(self):
        with bench_calls.Daemon(self.build) as daemon:
            for n in (4, 40, 400):
                seen = daemon.load("--callers", str(n), "--warm-up", "1", "--duration", "6")
                yield "calls in flight: all of them", "all", n, n / seen["calls_per_second"] * 1000

    def one_call(self, daemon, client, thread, times=40):
        number = getattr(daemon, "calls", 0)

        def call():
            nonlocal number
            number += 1
            answer = client.call("tool/call", threadId=thread, callId=f"m{number}", tool="shell_command", arguments={"command": "/bin/true"})
            if answer.get("result", {}).get("exitCode") != 0:
                sys.exit(f"the call failed: {answer}")
            client.pending.clear()
        taken = fastest_ms(call, times)
        daemon.calls = number
        return taken

    def sessions(self):
        with bench_calls.Daemon(self.build) as daemon:
            client = daemon.client()
            first = daemon.thread(client)
            count, taken, clients = 0, 0.0, []
            for n in (2, 20, 200):  # a server takes 256
                start = time.perf_counter()
                while count < n:
                    if count % SESSIONS_THREADS == 0:
                        clients.append(daemon.client())
                    daemon.thread(clients[-1])
                    count += 1
                taken += (time.perf_counter() - start) * 1000
                yield "sessions: open all", "all", n, taken
                yield "sessions: one call beside them", "one", n, self.one_call(daemon, client, first)

    def events(self):
        with bench_calls.Daemon(self.build) as daemon:
            client = daemon.client()
            thread = daemon.thread(client)
            count = 0
            for n in (20, 200, 2_000):
                while count < n:
                    window = min(8, n - count)
                    for _ in range(window):
                        client.send({"id": 100_000 + count, "method": "tool/call", "params": {
                            "threadId": thread, "callId": f"h{count}", "tool": "shell_command", "arguments": {"command": "/bin/true"}}})
                        count += 1
                    while window:
                        window -= client.receive(60).get("id", 0) >= 100_000
                yield "a thread's history: one call more", "one", n, self.one_call(daemon, client, thread)

                def read():
                    client.call("thread/read", threadId=thread)
                    client.pending.clear()
                yield "a thread's history: thread/read", "all", n, fastest_ms(read, 5)

    def approvals(self):
        with bench_calls.Daemon(self.build, "--ask", "untrusted") as daemon:
            reviewer = daemon.client("reviewer", gatehouse={"approvals": True})
            client = daemon.client()
            thread = daemon.thread(client)

            def asked(number, decision, command):
                client.send({"id": 100_000 + number, "method": "tool/call", "params": {
                    "threadId": thread, "callId": f"a{number}", "tool": "shell_command", "arguments": {"command": command}}})
                while (question := reviewer.receive(60)).get("method") != "item/commandExecution/requestApproval":
                    pass
                reviewer.send({"id": question["id"], "result": {"decision": decision}})
                while client.receive(60).get("id") != 100_000 + number:
                    pass
            count = 0
            for n in (10, 100, 1_000):
                while count < n:
                    asked(count, "acceptForSession", f"touch -d @{count} f")  # one file: how many a workspace holds is another matter
                    count += 1
                numbers = iter(range(1_000_000 + n * 100, 2_000_000))
                yield "approvals remembered: one question more", "one", n, fastest_ms(lambda: asked(next(numbers), "decline", "mkdir -p another"), 15)

                def again():
                    number = next(numbers)
                    answer = client.call("tool/call", threadId=thread, callId=f"g{number}", tool="shell_command", arguments={"command": "touch -d @0 f"})
                    if answer.get("result", {}).get("exitCode") != 0:
                        sys.exit(f"it was not remembered: {answer}")
                    client.pending.clear()
                yield "approvals remembered: a call that one covers", "one", n, fastest_ms(again, 40)


def exponent(points):
    """How the time grows from 10 to 100 times the work."""
    (n0, t0), (n1, t1) = points[-2:]
    return math.log(t1 / t0) / math.log(n1 / n0)


COLOURS = ("#1565c0", "#c62828", "#2e7d32", "#6a1b9a", "#ef6c00", "#00838f", "#4e342e", "#ad1457", "#37474f", "#9e9d24")


def svg(curves):
    """One picture that needs nothing else: times of how much it costs at 1x, by how many times the work."""
    width, left, height, top = 860, 60, 420, 20
    line_height = 17
    at_x = lambda step: left + step * 170
    at_y = lambda ratio: top + height - (math.log10(max(ratio, 0.1)) + 1) / 3.5 * height
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {max(height + 70, 60 + line_height * len(curves))}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>']
    for power in range(-1, 3):
        y = at_y(10 ** power)
        out.append(f'<line x1="{left}" x2="{at_x(2)}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10 ** power:g}</text>')
    for step, name in enumerate(("1x", "10x", "100x")):
        out.append(f'<text x="{at_x(step)}" y="{top + height + 18}" text-anchor="middle">{name}</text>')
    out.append(f'<text x="{left}" y="{top + height + 38}">time as a multiple of that at 1x (both axes logarithmic); dashed: n and n log n</text>')
    for powers in ((0, 1, 2), (0, math.log10(10 * math.log(1000) / math.log(100)), math.log10(100 * math.log(10000) / math.log(100)))):
        line = " ".join(f"{at_x(i)},{at_y(10 ** p):.1f}" for i, p in enumerate(powers))
        out.append(f'<polyline points="{line}" fill="none" stroke="#999" stroke-dasharray="5 4"/>')
    for index, (name, (kind, points)) in enumerate(curves.items()):
        colour, dash = COLOURS[index % len(COLOURS)], ' stroke-dasharray="2 2"' if index >= len(COLOURS) else ""
        line = " ".join(f"{at_x(i)},{at_y(t / points[0][1]):.1f}" for i, (_, t) in enumerate(points))
        y = top + 12 + index * line_height
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>'
                   f'<line x1="{at_x(2) + 30}" x2="{at_x(2) + 55}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2.5"{dash}/>'
                   f'<text x="{at_x(2) + 62}" y="{y}">{name} (n^{exponent(points):.2f})</text>')
    return "\n".join(out) + "\n</svg>\n"


def curves(given):
    """All of them; the exit status is 1 when one is worse than n log n."""
    seen, parts = {}, Curves(given.build)
    try:
        for part in (parts.rules, parts.denied, parts.folders, parts.batch, parts.history, parts.in_flight, parts.sessions, parts.events, parts.approvals):
            if given.only and part.__name__ not in given.only.split(","):
                continue
            for name, kind, n, taken in part():
                seen.setdefault(name, (kind, []))[1].append((n, taken))
    finally:
        shutil.rmtree(parts.base, True)
    worse = []
    print(f"| what | n | ms at 1, 10, 100 times | exponent |\n|---|---|---|---|")
    for name, (kind, points) in seen.items():
        steep = exponent(points)
        if steep > STEEPEST - (kind == "one"):
            worse.append(name)
        print(f"| {name} | {', '.join(f'{n:,}' for n, _ in points)} | {', '.join(f'{t:.3g}' for _, t in points)} | {steep:.2f}{' (worse than n log n)' if name in worse else ''} |")
    if given.svg:
        with open(given.svg, "w", encoding="utf-8") as file:
            file.write(svg(seen))
    return 1 if worse else 0
