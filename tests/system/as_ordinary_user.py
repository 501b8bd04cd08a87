"""Runs a test script or program as an ordinary user: as_ordinary_user.py PROGRAM [ARGUMENT]...

The programs and the tests are copied to where that user can read them, whatever the modes of the build folder;
`{build}` and `{tests}` in an argument stand for the copies. Exit status 77: nobody to become, skipped.
"""
import os
import shutil
import subprocess
import sys
import tempfile

NOBODY = 65534


def main():
    if os.geteuid() != 0:
        return 77
    folder = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
    try:
        os.chmod(folder, 0o755)
        build, tests = os.path.join(folder, "build"), os.path.join(folder, "tests")
        os.mkdir(build)
        for name in ("gatehouse", "gatehouse-host", "gatehouse-sandbox", "gatehouse-sandbox-init",
                     "gatehouse-sandbox-patch", "test_sandbox"):
            if os.path.exists(program := os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], name)):
                shutil.copy(program, build)
        for name in ("tests", "docs"):
            shutil.copytree(os.path.join(os.environ["GATEHOUSE_SOURCE_DIR"], name), os.path.join(folder, name))
        for path, folders, files in os.walk(folder):
            for name in folders + files:
                os.chmod(os.path.join(path, name), 0o755)
        state = os.path.join(folder, "state")  # an ordinary user has a place for the audit
        os.mkdir(state, 0o700)
        os.chown(state, NOBODY, NOBODY)
        words = [word.format(build=build, tests=tests) for word in sys.argv[1:]]
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "XDG_STATE_HOME": state, "GATEHOUSE_BUILD_DIR": build,
               "GATEHOUSE_SOURCE_DIR": folder, "LANG": "C.UTF-8",
               "GATEHOUSE_SANITIZER": os.environ.get("GATEHOUSE_SANITIZER", "")}
        if words[0].endswith(".py"):
            words = ["/usr/bin/python3", "-B", *words]
        return subprocess.run(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", *words],
                              env=env, cwd=folder, check=False).returncode
    finally:
        shutil.rmtree(folder)


sys.exit(main())
