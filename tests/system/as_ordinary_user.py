"""Runs a test script as an ordinary user: as_ordinary_user.py SCRIPT [ARGUMENT]...

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
        for name in ("gatehouse", "gatehouse-sandbox", "gatehouse-sandbox-init"):
            shutil.copy(os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], name), build)
        shutil.copytree(os.path.join(os.environ["GATEHOUSE_SOURCE_DIR"], "tests"), tests)
        for path, folders, files in os.walk(folder):
            for name in folders + files:
                os.chmod(os.path.join(path, name), 0o755)
        words = [word.format(build=build, tests=tests) for word in sys.argv[1:]]
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "GATEHOUSE_BUILD_DIR": build,
               "GATEHOUSE_SOURCE_DIR": folder, "LANG": "C.UTF-8"}
        return subprocess.run(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
                               "/usr/bin/python3", "-B", *words], env=env, check=False).returncode
    finally:
        shutil.rmtree(folder)


sys.exit(main())
