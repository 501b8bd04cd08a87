"""The terminal parts of scripts/bench: sessions, stream, exec. They talk to `gatehouse exec-server` as clients do."""
import os
import pty
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def with_priority():
    """Other work on the machine hardly counts from here on; needs root."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except OSError:
        pass


def client_module(build):
    os.environ["GATEHOUSE_BUILD_DIR"] = build
    sys.path.insert(0, os.path.join(ROOT, "tests", "system"))
    import exec_client
    return exec_client


def status_of(pid, field):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field + ":"))


def sessions(given):
    """Memory of the server for each idle session, and what opening and closing many leaves behind."""
    exec_client = client_module(given.build)
    folder = tempfile.mkdtemp(prefix="gatehouse-bench-", dir="/var/tmp")
    with exec_client.Server("--no-auth", "--allow-unsandboxed") as server:
        client = exec_client.Client(server)
        client.start_session()
        pid = server.process.pid
        fds = lambda: len(os.listdir(f"/proc/{pid}/fd"))

        def one(name, argv, **more):
            answer = client.call("process/start", **exec_client.start(name, argv, folder, boundary=False, **more))
            if "error" in answer:
                sys.exit(f"a process could not be started: {answer['error']['message']}")

        def closed(name):
            while True:
                message = client.pending.pop(0) if client.pending else client.receive(60)
                if message.get("method") == "process/closed" and message["params"]["processId"] == name:
                    return

        for number in range(50):  # warm: what the allocator keeps is not a session's
            one(f"w{number}", ["/bin/true"], tty=True)
            closed(f"w{number}")
        before_fds, before = fds(), status_of(pid, "VmRSS")
        for number in range(given.runs):
            one(f"w{number + 50}", ["/bin/true"], tty=number % 2 == 0)
            closed(f"w{number + 50}")
        print(f"{given.runs} opened and closed in a row: {fds() - before_fds:+} descriptors, "
              f"{(status_of(pid, 'VmRSS') - before):+} KiB")
        before = status_of(pid, "VmRSS")
        idle = given.idle
        for number in range(idle):
            one(f"i{number}", ["/bin/sleep", "3600"], tty=True)
        each = (status_of(pid, "VmRSS") - before) / idle
        print(f"{idle} idle sessions: {each:.1f} KiB of the server's memory each")
    os.rmdir(folder)
    return 1 if given.limit and each > given.limit else 0


def drain(fd):
    total = 0
    try:
        while data := os.read(fd, 1 << 20):
            total += len(data)
    except OSError:  # a terminal whose last writer has gone
        pass
    return total


def bare(command, terminal):
    """Seconds until all that a command writes has been read from a bare pipe or terminal."""
    start = time.perf_counter()
    if terminal:
        master, slave = pty.openpty()
        child = subprocess.Popen(command, stdout=slave, stdin=slave)
        os.close(slave)
        drain(master)
        os.close(master)
    else:
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        drain(child.stdout.fileno())
        child.stdout.close()
    child.wait()
    return time.perf_counter() - start


def served(exec_client, server, command, terminal, binary, folder, name):
    """The same to a client of the server, which looks for the end only."""
    client = exec_client.Client(server)
    client.start_session(binary=binary)
    start = time.perf_counter()
    client.send({"id": 99, "method": "process/start",
                 "params": exec_client.start(name, command, folder, tty=terminal)})
    tail = b""
    while b'"process/closed"' not in tail:
        data = client.socket.recv(1 << 20)
        if not data:
            sys.exit("the server closed the connection")
        tail = (tail + data[-200:])[-200:]
    taken = time.perf_counter() - start
    client.drop()
    return taken


def alone(build, path, form):
    """Seconds in which the same bytes, read from a pipe and written to a socket by a loop that does nothing else (the
    program bench_stream), reach a client; None where that is not built."""
    program = os.path.join(build, "bench_stream")
    if not os.path.exists(program):
        return None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        start = time.perf_counter()
        reader, writer = os.pipe()
        source = subprocess.Popen(["/bin/cat", path], stdout=writer)
        loop = subprocess.Popen([program, form, str(listener.getsockname()[1])], stdin=reader)
        os.close(reader)
        os.close(writer)
        client = listener.accept()[0]
        while client.recv(1 << 20):
            pass
        taken = time.perf_counter() - start
        client.close()
        if source.wait() or loop.wait():
            sys.exit("bench_stream failed")
    return taken


def stream(given):
    """Throughput of a terminal and of a pipe to a client, in both forms of output, against a bare one in the same run."""
    exec_client = client_module(given.build)
    folder = tempfile.mkdtemp(prefix="gatehouse-bench-", dir="/var/tmp")
    path = os.path.join(folder, "text")
    line = b"0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ\n"
    with open(path, "wb") as file:
        file.write(line * (given.megabytes * (1 << 20) // len(line)))
    command = ["/bin/cat", path]
    with_priority()
    best = {}
    worst = None

    def note(name, taken):
        if taken:
            best[name] = min(taken, best.get(name, taken))

    with exec_client.Server("--no-auth") as server:
        for turn in range(5):
            for terminal in (True, False):
                where = "terminal" if terminal else "pipe"
                note((where, "bare"), bare(command, terminal))
                for form in ("text", "binary"):
                    if not terminal:
                        note((where, form, "alone"), alone(given.build, path, form))
                    note((where, form), served(exec_client, server, command, terminal, form == "binary", folder,
                                               f"{where}{form}{turn}"))
        for where in ("terminal", "pipe"):
            theirs = best[where, "bare"]
            print(f"{where:9} bare   {given.megabytes / theirs:8.1f} MB/s")
            for form in ("text", "binary"):
                ours = best[where, form]
                print(f"{where:9} {form:6} {given.megabytes / ours:8.1f} MB/s   ratio {theirs / ours:.2f}")
                if (loop := best.get((where, form, "alone"))):
                    print(f"{'':16} {given.megabytes / loop:8.1f} MB/s by a loop that only reads and sends in this form, "
                          f"ratio {theirs / loop:.2f}")
            # A client of ours takes what is quicker.
            ratio = theirs / min(best[where, "text"], best[where, "binary"])
            worst = ratio if worst is None else min(worst, ratio)
        print(f"server memory at the end: {status_of(server.process.pid, 'VmHWM') // 1024} MiB at most")
    os.remove(path)
    os.rmdir(folder)
    return 1 if given.limit and worst < given.limit else 0


def execute(given):
    """Sandboxed /bin/true through the server: calls a second at 1, 8 and 64 in flight."""
    exec_client = client_module(given.build)
    folder = tempfile.mkdtemp(prefix="gatehouse-bench-", dir="/var/tmp")
    with exec_client.Server("--no-auth") as server:
        for flight in (1, 8, 64):
            client = exec_client.Client(server)
            client.start_session()
            started = done = 0
            begun = time.perf_counter()
            while done < given.runs:
                while started < given.runs and started - done < flight:
                    client.send({"id": started, "method": "process/start",
                                 "params": exec_client.start(f"c{started}", ["/bin/true"], folder)})
                    started += 1
                message = client.receive(120)
                if "error" in message:
                    sys.exit(f"a call failed: {message['error']['message']}")
                done += message.get("method") == "process/closed"
            print(f"{flight:3} in flight: {given.runs / (time.perf_counter() - begun):7.1f} calls/s")
            client.drop()
    os.rmdir(folder)
    return 0
