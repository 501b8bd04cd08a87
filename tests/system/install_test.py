"""Stage 10: what `cmake --install` puts on a machine runs from there, and the unit file is one that systemd takes."""
import os
import shutil
import subprocess
import tempfile
import unittest

from run_case import GRACE_S

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tempfile.mkdtemp(prefix="gatehouse-install-", dir="/var/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, capture_output=True)

    def run_installed(self, *arguments):
        return subprocess.run([os.path.join(self.prefix, "bin", "gatehouse"), *arguments], capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL, timeout=GRACE_S, cwd=self.prefix)

    def test_the_programs_find_one_another_through_the_link(self):
        self.assertTrue(os.path.islink(os.path.join(self.prefix, "bin", "gatehouse")))
        self.assertRegex(self.run_installed("--version").stdout, r"^gatehouse \d")
        inside = self.run_installed("sandbox", "--profile", "read-only", "--", "/bin/echo", "inside")
        self.assertEqual((inside.returncode, inside.stdout), (0, "inside\n"), inside.stderr)
        called = self.run_installed("run", "--profile", "read-only", "--", "/bin/echo", "called")
        self.assertEqual((called.returncode, called.stdout), (0, "called\n"), called.stderr)

    def test_the_pages_come_along(self):
        for page in ("README.md", "docs/security.md", "docs/protocol.md", "docs/demo.svg", "docs/console.png"):
            self.assertTrue(os.path.exists(os.path.join(self.prefix, "share", "doc", "gatehouse", page)), page)

    def test_manual_pages_and_completions_come_along(self):
        for name in ("man/man1/gatehouse.1", "man/man1/gatehouse-run.1", "bash-completion/completions/gatehouse",
                     "zsh/vendor-completions/_gatehouse", "fish/vendor_completions.d/gatehouse.fish"):
            self.assertGreater(os.path.getsize(os.path.join(self.prefix, "share", name)), 200, name)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_takes_the_unit(self):
        # The unit names /usr/bin/gatehouse, which stands elsewhere here.
        with open(os.path.join(self.prefix, "lib/systemd/user/gatehouse.service"), encoding="utf-8") as file:
            text = file.read().replace("/usr/bin/gatehouse", os.path.join(self.prefix, "bin/gatehouse"))
        unit = os.path.join(self.prefix, "gatehouse.service")
        with open(unit, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run(["systemd-analyze", "verify", "--user", "--man=no", unit], capture_output=True, text=True,
                              check=False, env={**os.environ, "XDG_RUNTIME_DIR": self.prefix})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
