"""A client of the exec-server protocol for tests: WebSocket by hand, or lines over pipes. Standard library only."""
import base64
import json
import os
import select
import socket
import struct
import subprocess
import time

from run_case import GRACE_S

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")


class Server:
    """A running `gatehouse exec-server`."""

    def __init__(self, *options, env=None, cwd=None, listen="ws://127.0.0.1:0", preexec_fn=None):
        self.process = subprocess.Popen([GATEHOUSE, "exec-server", "--listen", listen, *options],
                                        stdout=subprocess.PIPE, env=env, cwd=cwd, text=True, preexec_fn=preexec_fn)
        self.url = self.process.stdout.readline().strip()
        assert self.url, "the server printed no URL"

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def stop(self):
        self.process.terminate()
        status = self.process.wait(20)
        self.process.stdout.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()


class Refused(Exception):
    pass


class Client:
    """One WebSocket connection. `receive` gives the next message, None when the server has closed."""

    def __init__(self, server, headers=(), path="/"):
        if server.url.startswith("unix://"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(server.url[len("unix://"):])
            host = "localhost"
        else:
            self.socket = socket.create_connection(("127.0.0.1", server.port))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            host = f"127.0.0.1:{server.port}"
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        given = dict(headers)
        lines.append(f"Host: {given.pop('Host', host)}")
        lines += [f"{name}: {value}" for name, value in given.items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.buffer = b""
        head = self._until(b"\r\n\r\n")
        self.status = int(head.split()[1]) if head else 0
        if self.status != 101:
            raise Refused(self.status)
        self.next_id = 0
        self.pending = []

    def _until(self, mark):
        while mark not in self.buffer:
            more = self.socket.recv(65536)
            if not more:
                return b""
            self.buffer += more
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def _take(self, size):
        while len(self.buffer) < size:
            more = self.socket.recv(1 << 20)
            if not more:
                return None
            self.buffer += more
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def send_text(self, text, opcode=1):
        data = text.encode() if isinstance(text, str) else text
        head = bytes([0x80 | opcode])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 65536:
            head += b"\xfe" + struct.pack(">H", len(data))
        else:
            head += b"\xff" + struct.pack(">Q", len(data))
        self.socket.sendall(head + b"\0\0\0\0" + data)  # a mask of zeros is a mask

    def send(self, message):
        self.send_text(json.dumps(message))

    def receive(self, timeout=GRACE_S):
        """The next message; None at the end of the connection; TimeoutError when nothing comes."""
        limit = time.monotonic() + timeout
        while True:
            if not self.buffer:
                ready, _, _ = select.select([self.socket], [], [], max(0, limit - time.monotonic()))
                if not ready:
                    raise TimeoutError
            try:
                head = self._take(2)
                if head is None:
                    return None
                size = head[1] & 0x7f
                if size == 126:
                    size = struct.unpack(">H", self._take(2))[0]
                elif size == 127:
                    size = struct.unpack(">Q", self._take(8))[0]
                data = self._take(size)
            except OSError:  # cut, by them or by us
                return None
            opcode = head[0] & 0xf
            if opcode == 8:
                return None
            if opcode == 9:
                self.send_text(data, 10)
            elif opcode == 1:
                return json.loads(data)
            elif opcode == 2:
                return from_bytes(data)

    def call(self, method, timeout=GRACE_S, **params):
        """Sends a request and gives its answer; what comes meanwhile is kept in `pending`."""
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params})
        while True:
            message = self.receive(timeout)
            if message is None:
                raise ConnectionError("the server closed the connection")
            if message.get("id") == self.next_id:
                return message
            self.pending.append(message)

    def start_session(self, resume=None, binary=False):
        answer = self.call("initialize", clientName="test", **({"resumeSessionId": resume} if resume else {}),
                           **({"binaryOutput": 1} if binary else {}))
        if "result" in answer:
            self.send({"method": "initialized", "params": {}})
        return answer

    def drop(self):
        """Without a word, as a cut line does."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # also for a thread that waits in it
        except OSError:
            pass
        self.socket.close()


def from_bytes(data):
    """A binary message in the form of its text, with a mark."""
    version, stream, flags, length, seq = struct.unpack(">BBHIQ", data[:16])
    assert (version, flags) == (1, 0), data[:16]
    return {"binary": True, "method": "process/output",
            "params": {"processId": data[16:16 + length].decode(), "seq": seq, "stream": ("stdout", "stderr", "pty")[stream],
                       "chunk": base64.b64encode(data[16 + length:]).decode()}}


def uri(path):
    return "file://" + path


def special(kind, access):
    return {"path": {"type": "special", "value": {"kind": kind}}, "access": access}


def sandbox(folder, write=True, network="restricted", extra=()):
    entries = [special("root", "read")] + ([special("project_roots", "write")] if write else []) + list(extra)
    return {"permissions": {"type": "managed", "file_system": {"type": "restricted", "entries": entries},
                            "network": network},
            "cwd": uri(folder), "workspaceRoots": [uri(folder)], "windowsSandboxLevel": "disabled",
            "windowsSandboxProxySettingsMode": "reconcile", "useLegacyLandlock": False}


def start(process_id, argv, folder, boundary=True, **more):
    """The parameters of process/start."""
    params = {"processId": process_id, "argv": argv, "cwd": uri(folder), "env": {"PATH": "/usr/bin:/bin"},
              "tty": False, "arg0": None}
    if boundary:
        params["sandbox"] = sandbox(folder) if boundary is True else boundary
    return {**params, **more}
