"""Stage 10: the Debian package in a fresh Debian 12: it installs, serves what people type, plays the demo, and goes again.

Second tier (scripts/test --all): it makes the release build, and a root of its own with debootstrap. Needs root and the
network that packages come from; skipped (77) without.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Package(unittest.TestCase):
    """The tests go on from one another, by their names: what one has installed the next one uses."""

    @classmethod
    def setUpClass(cls):
        package = os.environ.get("GATEHOUSE_PACKAGE")  # one that was made before
        if not package:
            made = subprocess.run([ROOT / "scripts/package"], capture_output=True, text=True, check=False)
            if made.returncode != 0:
                raise RuntimeError("scripts/package failed:\n" + made.stdout[-3000:] + made.stderr[-3000:])
            package = made.stdout.split()[-1]
        cls.folder = tempfile.mkdtemp(prefix="gatehouse-package-", dir="/var/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.root = os.path.join(cls.folder, "root")
        done = cls.inside("true")
        if done.returncode != 0:
            raise RuntimeError("no fresh root: " + done.stdout + done.stderr)
        shutil.copy(package, os.path.join(cls.root, "root"))

    @classmethod
    def inside(cls, text):
        return subprocess.run([ROOT / "scripts/bare-root", cls.root, "bash", "-ec", "export DEBIAN_FRONTEND=noninteractive\n" + text],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def works(self, text):
        done = self.inside(text)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout

    def test_1_it_installs_alone_and_builds_its_boundary(self):
        self.works("apt-get update -qq; apt-get install -y -qq --no-install-recommends /root/gatehouse_*.deb >/dev/null")
        self.assertRegex(self.works("gatehouse --version"), r"^gatehouse \d")
        self.assertEqual(self.works("cd /root; gatehouse run --profile read-only -- /bin/echo called"), "called\n")
        self.works("gatehouse doctor")

    def test_2_the_demo_plays_from_the_package(self):
        self.works("apt-get install -y -qq --no-install-recommends python3 curl procps git >/dev/null")
        self.assertIn(" 0 failed", self.works("python3 scripts/main_job.py /usr/bin/gatehouse"))

    def test_3_manual_pages_and_completions_stand_where_debian_looks(self):
        self.works("apt-get install -y -qq --no-install-recommends man-db bash-completion zsh fish >/dev/null")
        self.assertIn("gatehouse", self.works("man -P cat gatehouse-run"))
        self.assertIn("gatehouse", self.works(
            "source /usr/share/bash-completion/bash_completion; _completion_loader gatehouse || true; complete -p gatehouse"))
        self.assertIn("_gatehouse", self.works("zsh -fc 'autoload -Uz compinit; compinit -D -u; echo $_comps[gatehouse]'"))
        self.assertIn("review", self.works("fish -c 'complete -C \"gatehouse re\"'"))

    def test_4_systemd_takes_the_unit_and_nothing_was_started(self):
        self.works("apt-get install -y -qq --no-install-recommends systemd >/dev/null")
        said = self.works("mkdir -p /run/user/0; XDG_RUNTIME_DIR=/run/user/0 systemd-analyze verify --user "
                          "/usr/lib/systemd/user/gatehouse.service 2>&1")
        self.assertEqual(said, "")
        self.assertEqual(self.works("ls /etc/systemd/user/*.wants/gatehouse.service 2>/dev/null || true"), "")

    def test_5_what_is_removed_is_gone(self):
        self.works("apt-get purge -y -qq gatehouse >/dev/null")
        self.assertEqual(self.works("find / -xdev -path /root -prune -o -path /src -prune -o -path '/var/*' -prune -o "
                                    "-name '*gatehouse*' -print"), "")


if __name__ == "__main__":
    if os.getuid() != 0 or not shutil.which("debootstrap"):
        print("needs root and debootstrap", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
