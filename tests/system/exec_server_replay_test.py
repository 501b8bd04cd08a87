#!/usr/bin/env python3
"""§120: the recorded session of a real client against our server: the same messages, seq, streams, bytes, exit
statuses, error codes and field names. Ids, times, versions, host paths and sandboxType aside; requests of one
connection run at the same time, so that answers are matched by their ids."""
import base64
import json
import os
import shutil
import sys
import tempfile
import threading
import time

from exec_client import Client, Server

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "..", "cases", "exec_server_session.jsonl")
# Asks about the recording machine itself, or for what this server does not offer.
NOT_COMPARED = {"environmentConfig/read", "capabilities/discoverV2", "http/request"}
HOST_ENVIRONMENT = {"ecore", "eall"}


def shape(value):
    """Field names all the way down."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in sorted(value.items())}
    return type(value).__name__ if not isinstance(value, list) else "list"


def joined(messages):
    """Where a stream is cut depends on how busy the machine is: neighbours of one stream are one, with the last seq."""
    out = []
    for message in messages:
        message = {**message, "params": dict(message["params"])}
        params = message["params"]
        if "chunk" in params:
            params["chunk"] = base64.b64decode(params["chunk"]).decode()
            if out and out[-1]["params"].get("stream") == params["stream"]:
                params["chunk"] = out.pop()["params"]["chunk"] + params["chunk"]
        out.append(message)
    for at, message in enumerate(out):
        message["params"]["seq"] = at + 1
    return out


class Replay:
    def __init__(self, root):
        self.root = root
        self.failures = []

    def localise(self, text):
        text = text.replace("/nonexistent", self.root + "/nonexistent")  # some users have a home there
        return text.replace("/scratch/es", self.root + "/es").replace("file:///scratch\"", f"file://{self.root}\"")

    def check(self, what, expected, got):
        if expected != got:
            self.failures.append(f"{what}:\n  expected {json.dumps(expected)[:500]}\n  got      {json.dumps(got)[:500]}")

    def compare_answer(self, request, expected, got):
        what = f"{request.get('method')} id {expected.get('id')}"
        if got is None:
            self.failures.append(f"{what}: no answer")
            return
        if "error" in expected:
            self.check(what + " code", expected["error"]["code"], got.get("error", {}).get("code"))
            self.check(what + " kind", expected["error"].get("data", {}).get("kind"),
                       got.get("error", {}).get("data", {}).get("kind"))
            return
        method = request.get("method")
        if method in NOT_COMPARED:
            return
        self.check(what + " fields", shape(expected["result"]), shape(got.get("result")))
        if method in ("initialize", "environment/info") or "result" not in got:
            return
        mine, theirs = dict(got["result"]), dict(expected["result"])
        for volatile in ("sandboxType", "modifiedAtMs", "createdAtMs"):
            mine.pop(volatile, None), theirs.pop(volatile, None)
        if request["params"].get("processId") == "p4":  # it printed a pid
            mine.pop("chunks", None), theirs.pop("chunks", None)
        if method == "fs/readDirectory":
            for one in (mine, theirs):
                one["entries"].sort(key=lambda e: e["fileName"])
        self.check(what, theirs, mine)

    def compare_notifications(self, process, expected, got):
        self.check(f"{process}: seq", list(range(1, len(got) + 1)), [m["params"]["seq"] for m in got])
        expected, got = joined(expected), joined(got)
        self.check(f"{process}: order", [m["method"] for m in expected], [m["method"] for m in got])
        for want, have in zip(expected, got):
            want, have = dict(want["params"]), dict(have["params"])
            self.check(f"{process} fields", sorted(want), sorted(have))
            if process in HOST_ENVIRONMENT | {"p4", "s5", "s4"}:
                want.pop("chunk", None), have.pop("chunk", None)
            self.check(f"{process} seq {want.get('seq')}", want, have)


def run(server, root):
    replay = Replay(root)
    rows = [json.loads(replay.localise(line)) for line in open(CASES, encoding="utf-8")]
    clients, sessions, session_of = {}, {}, {}
    expected, got = {}, {}

    def listen(name, client):
        while True:
            message = client.receive(600)
            if message is None:
                got[name].append({"closed": True})
                return
            got[name].append(message)

    def wait_for(name, fits, seconds=15):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if any(fits(m) for m in list(got[name])):
                return True
            time.sleep(0.005)
        return False

    def answered(name, message_id):
        return wait_for(name, lambda m: m.get("id") == message_id and "method" not in m)

    requests = {}
    malformed = {}
    for index, row in enumerate(rows):
        name, message = row["conn"], row.get("msg")
        if row["dir"] == "event":
            if not isinstance(message, dict):
                continue
            word = message.get("websocket", "")
            if word == "open":
                clients[name] = Client(server)
                expected[name], got[name], malformed[name] = [], [], 0
                threading.Thread(target=listen, args=(name, clients[name]), daemon=True).start()
            elif word.startswith("dropped") or "dropped" in message:
                if name == "F":
                    answered("F", 2)
                # What was recorded up to here has come before the line is cut.
                if name == "A":
                    wait_for("A", lambda m: m.get("method") == "process/closed" and m["params"]["processId"] == "big", 60)
                    wait_for("A", lambda m: m.get("params", {}).get("processId") == "r1" and m["params"].get("seq") == 2)
                    time.sleep(1.2)
                clients[name].drop()
                time.sleep(0.5)
            elif word.startswith("closed by server"):
                replay.check(f"{name} {word}", True, wait_for(name, lambda m: m.get("closed")))
            continue
        if row["dir"] == "client->server":
            if isinstance(message, str):
                clients[name].send_text(message)
                malformed[name] += 1
            elif isinstance(message, list):
                clients[name].send(message)
                malformed[name] += 1
            else:
                if message.get("method") == "initialize" and "resumeSessionId" in message["params"]:
                    wanted = message["params"]["resumeSessionId"]
                    message["params"]["resumeSessionId"] = sessions.get(wanted, wanted)
                if "id" in message and "method" in message:
                    requests[name, json.dumps(message["id"])] = message
                clients[name].send(message)
                if message.get("method") == "fs/watchMissing":
                    answered(name, message["id"])
                    os.makedirs(os.path.join(root, "es/d/later"), exist_ok=True)
                # Commands that this one depends on have gone on as they had then.
                later = next((r for r in rows[index + 1:] if r["conn"] == name and r["dir"] == "client->server"), None)
                if later is not None and "id" in message and "method" in message and message["id"] != 2001:
                    answered(name, message["id"])
                    pause = (later["t_ms"] - row["t_ms"]) / 1000
                    if pause > 0.05:
                        time.sleep(min(pause, 2.0))
            continue
        expected[name].append(message)
        if "id" in message and message.get("result", {}).get("sessionId"):
            if answered(name, message["id"]):
                mine = next(m for m in got[name] if m.get("id") == message["id"])
                if "result" in mine:
                    sessions[message["result"]["sessionId"]] = mine["result"]["sessionId"]
    time.sleep(1.5)

    notifications, recorded = {}, {}
    for name in expected:
        for message in expected[name]:
            if "method" in message and "processId" in message.get("params", {}):
                recorded.setdefault((name, message["params"]["processId"]), []).append(message)
        for message in got[name]:
            if "method" in message and "processId" in message.get("params", {}):
                notifications.setdefault((name, message["params"]["processId"]), []).append(message)
        for message in expected[name]:
            if "method" in message or message.get("id") == -1:
                continue
            key = (name, json.dumps(message["id"]))
            answer = next((m for m in got[name] if m.get("id") == message["id"] and "method" not in m), None)
            if key in requests:
                if requests[key].get("params", {}).get("processId") == "r1" and requests[key]["method"] == "process/read":
                    chunks = answer["result"]["chunks"] if answer else []
                    replay.check("r1 resumed without a gap", list(range(3, 3 + len(chunks))), [c["seq"] for c in chunks])
                    continue
                replay.compare_answer(requests[key], message, answer)
        refused = [m for m in got[name] if m.get("id") == -1]
        replay.check(f"{name}: malformed messages", [-32600] * malformed[name], [m["error"]["code"] for m in refused])
        starts = [m for m in got[name] if "result" in m and "sandboxType" in (m["result"] or {})]
        for message in starts:
            process = message["result"]["processId"]
            first = next((i for i, m in enumerate(got[name]) if m.get("params", {}).get("processId") == process), None)
            replay.check(f"{process}: the answer comes first", True, first is None or got[name].index(message) < first)
    for key, messages in recorded.items():
        name, process = key
        if process in ("big", "r1"):
            continue
        replay.compare_notifications(process, messages, notifications.get(key, []))
    ticks = [base64.b64decode(m["params"]["chunk"]).decode() for name in ("A", "C")
             for m in notifications.get((name, "r1"), []) if m["method"] == "process/output"]
    replay.check("r1: no tick twice", len(ticks), len(set(ticks)))
    big = [m["params"] for m in notifications.get(("A", "big"), []) if m["method"] == "process/output"]
    sizes = [len(base64.b64decode(m["chunk"])) for m in big]
    replay.check("big: bytes", 3_000_000, sum(sizes))
    replay.check("big: chunks of 8 KiB at most", True, max(sizes) <= 8192)
    replay.check("big: seq", list(range(1, len(big) + 1)), [m["seq"] for m in big])
    return replay.failures


def main():
    root = os.path.realpath(tempfile.mkdtemp(prefix="gatehouse-replay-", dir="/var/tmp"))
    os.makedirs(os.path.join(root, "es"))
    with open(os.path.join(root, "es", "secret"), "w", encoding="utf-8") as secret:
        secret.write("secret\n")
    try:
        with Server("--no-auth", "--allow-unsandboxed", cwd=root) as server:
            failures = run(server, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print("\n".join(failures) if failures else "the recorded session replays")
    return 1 if failures else 0


sys.exit(main())
