#!/usr/bin/env python3
"""`gatehouse batch --engine slurm` (§202) on a real Slurm of one machine, started here. Second tier: needs root and Debian's
slurm-wlm and munge; status 77 when they are missing."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """munged, slurmctld and slurmd, in one folder and on the loopback."""

    def __init__(self, base):
        self.base = base
        self.programs = []
        host = socket.gethostname().split(".")[0]
        munge = base + "/munge"
        os.makedirs(munge, mode=0o755)
        key = munge + "/key"
        with open(key, "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(key, 0o400)
        self.socket = munge + "/socket"
        self.start(["/usr/sbin/munged", "-F", "-f", "--key-file", key, "--socket", self.socket, "--pid-file", munge + "/pid",
                    "--log-file", munge + "/log", "--seed-file", munge + "/seed"])
        for name in ("state", "spool"):
            os.mkdir(f"{base}/{name}")
        with open(base + "/slurm.conf", "w", encoding="ascii") as file:
            file.write("\n".join([
                "ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", "SlurmdUser=root", "AuthType=auth/munge",
                f"AuthInfo=socket={self.socket}", "CredType=cred/munge", f"SlurmctldPort={free_port()}", f"SlurmdPort={free_port()}",
                f"StateSaveLocation={base}/state", f"SlurmdSpoolDir={base}/spool", f"SlurmctldPidFile={base}/ctld.pid",
                f"SlurmdPidFile={base}/d.pid", f"SlurmctldLogFile={base}/ctld.log", f"SlurmdLogFile={base}/d.log",
                "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core",
                "JobAcctGatherType=jobacct_gather/none", "AccountingStorageType=accounting_storage/none", "MpiDefault=none", "ReturnToService=2",
                f"NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN",
                f"PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP", ""]))
        self.env = {"SLURM_CONF": base + "/slurm.conf"}
        env = dict(os.environ, **self.env)
        self.start(["/usr/sbin/slurmctld", "-D", "-c"], env)
        self.start(["/usr/sbin/slurmd", "-D", "-c", "-N", host], env)
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            said = subprocess.run(["sinfo", "-h", "-o", "%T"], env=env, capture_output=True, text=True, check=False)
            if "idle" in said.stdout:
                return
            time.sleep(0.3)
        self.stop()
        logs = "".join(open(f"{base}/{name}", encoding="utf-8").read()[-1500:] for name in ("ctld.log", "d.log") if os.path.exists(f"{base}/{name}"))
        raise RuntimeError(f"the cluster does not come up: {said.stdout}{said.stderr}{logs}")

    def start(self, argv, env=None):
        self.programs.append(subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(0.5)

    def stop(self):
        for program in reversed(self.programs):
            program.send_signal(signal.SIGTERM)
        for program in self.programs:
            try:
                program.wait(20)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="gatehouse-slurm-", dir="/var/tmp")
        os.chmod(cls.base, 0o755)
        cls.cluster = Cluster(cls.base)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()
        shutil.rmtree(cls.base, True)

    def setUp(self):
        self.ws = tempfile.mkdtemp(dir=self.base)
        self.work = self.ws + "-work"
        self.env = dict(os.environ, **self.cluster.env, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")

    def batch(self, count, *options, command="echo {n} >> log-{n}; echo {n}"):
        path = self.ws + ".jsonl"
        with open(path, "w", encoding="ascii") as file:
            for n in range(count):
                file.write(json.dumps({"arguments": {"command": command.format(n=n)}}) + "\n")
        done = subprocess.run([GATEHOUSE, "batch", "--engine", "slurm", "--work", self.work, "--cwd", self.ws, "--profile", "workspace-write", *options, path],
                              env=self.env, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_202_a_job_array_gives_the_results_of_one_run(self):
        status, results, said = self.batch(25, "--tasks", "4", "-j", "2")
        self.assertEqual(status, 0, said)
        self.assertEqual([(r["index"], r["callId"], r["result"]["output"]) for r in results], [(n, f"item-{n + 1}", f"{n}\n") for n in range(25)])
        # Again: everything is remembered and nothing runs a second time.
        status, again, said = self.batch(25, "--tasks", "4", "-j", "2", "--resume", "--retry-started")
        self.assertEqual((status, len(again)), (0, 25), said)
        for n in range(25):
            with open(f"{self.ws}/log-{n}", encoding="ascii") as file:
                self.assertEqual(file.read(), f"{n}\n")

    def test_202_failed_calls_are_told_and_another_input_is_refused(self):
        status, results, said = self.batch(6, "--tasks", "2", command="exit {n}")
        self.assertEqual((status, [r["result"]["exitCode"] for r in results]), (1, list(range(6))), said)
        status, _, said = self.batch(7, "--tasks", "2")
        self.assertEqual(status, 2)
        self.assertIn("belongs to another batch", said)


if __name__ == "__main__":
    if os.geteuid() != 0 or not all(map(os.path.exists, ("/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd"))):
        print("needs root and `apt-get install slurm-wlm munge`")
        sys.exit(77)
    unittest.main()
