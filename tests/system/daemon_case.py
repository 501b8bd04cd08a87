"""What the tests of a real `gatehouse serve` with a state folder of its own share."""
import json
import os
import resource
import subprocess

import exec_client
from run_case import GATEHOUSE, GRACE_S, RunCase


def limited(*limits):
    """For preexec_fn: (kind, amount) each."""
    def apply():
        for kind, amount in limits:
            resource.setrlimit(kind, (amount, amount))
    return apply


def process_count(mark):
    """How many live processes carry this text on their command line."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                count += mark.encode() in file.read()
        except OSError:
            pass
    return count


class DaemonCase(RunCase):
    def setUp(self):
        super().setUp()
        self.env["XDG_STATE_HOME"] = self.base + "/state"
        self.state = self.base + "/state/gatehouse"

    def gatehouse(self, *words, inside=(), **more):
        return subprocess.run([*inside, GATEHOUSE, *words], **{"env": self.env, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True,
                                                              "timeout": GRACE_S, "check": False, **more})

    def serve(self, *options, inside=(), **more):
        """A daemon and its address. inside: what executes it; more: of Popen."""
        daemon = subprocess.Popen([*inside, GATEHOUSE, "serve", "--profile", "workspace-write", *options], **{
            "cwd": self.ws, "env": self.env, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True, **more})
        self.addCleanup(daemon.stderr.close)
        self.addCleanup(daemon.stdout.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        daemon.url = daemon.stdout.readline().strip()
        daemon.port = int(daemon.url.rsplit(":", 1)[1]) if daemon.url else 0
        return daemon, daemon.url

    def client(self, daemon, who="agent", **capabilities):
        # Through the daemon's own view of the file system, where its state may lie on a disk of its own.
        with open(f"/proc/{daemon.pid}/root{self.state}/tokens/{who}.token", encoding="ascii") as file:
            one = exec_client.Client(daemon, {"Authorization": f"Bearer {file.read().strip()}"})
        one.call("initialize", clientInfo={"name": "test", "version": "1"}, capabilities=capabilities)
        one.send({"method": "initialized", "params": {}})
        self.addCleanup(one.drop)
        return one

    def thread(self, client):
        """Starts a thread there and gives its id."""
        return client.call("thread/start", cwd=self.ws)["result"]["thread"]["id"]

    def call(self, client, thread, command, **arguments):
        """The result of a shell command. Every client here makes one call at a time."""
        client.made = getattr(client, "made", 0) + 1
        answer = client.call("tool/call", GRACE_S, threadId=thread, callId=f"{thread}-{client.made}", tool="shell_command",
                             arguments={"command": command, **arguments})
        self.assertIn("result", answer)
        return answer["result"]

    def load(self, url, seconds, mix):
        """Four callers at a time, for that long."""
        path = self.base + "/mix.jsonl"
        with open(path, "w", encoding="ascii") as file:
            file.write("".join(json.dumps({"tool": "shell_command", "arguments": {"command": command}}) + "\n" for command in mix))
        process = subprocess.Popen([GATEHOUSE, "load", "--json", "--callers", "4", "--cwd", self.ws, "--duration", str(seconds), "--mix", path, url],
                                   env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def audit(self, inside=()):
        """All entries; the chain holds."""
        checked = self.gatehouse("audit", "verify", inside=inside)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        exported = self.gatehouse("audit", "export", inside=inside)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        return [json.loads(line) for line in exported.stdout.splitlines()]

    def lines(self, name="ran"):
        """What the calls have noted in the workspace."""
        path = f"{self.ws}/{name}"
        if not os.path.exists(path):
            return []
        with open(path, encoding="ascii") as file:
            return file.read().split()
