#!/usr/bin/env python3
"""Says which test files nobody runs: every tests/system/*_test.py, tests/agents/*_test.py and tests/clients/*.test.mjs
must be in a command of ctest or of scripts/test.

usage: check_registered.py [CTEST BUILD]     left out: ctest, and build/dev of this project
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def unregistered(files, commands):
    """The files (relative to the project) that no word of a command ends with."""
    return [file for file in files if not any(word == file or word.endswith("/" + file) for word in commands)]


def test_files():
    for folder, end in (("system", "_test.py"), ("agents", "_test.py"), ("clients", ".test.mjs")):
        yield from (f"tests/{folder}/{name}" for name in sorted(os.listdir(f"{ROOT}/tests/{folder}")) if name.endswith(end))


def main():
    if len(sys.argv) not in (1, 3):
        sys.exit(__doc__.split("\n\n")[1].strip())
    ctest, build = sys.argv[1:] or ("ctest", os.path.join(ROOT, "build", "dev"))
    if not os.path.exists(os.path.join(build, "CTestTestfile.cmake")):
        sys.exit(f"check_registered.py: {build} is no build folder with tests. Next: scripts/build")
    listed = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    words = [word.replace("{tests}", "tests") for test in json.loads(listed.stdout)["tests"] for word in test.get("command", [])]
    with open(ROOT + "/scripts/test", encoding="utf-8") as file:
        words += [word.strip('")') for line in file if not line.lstrip().startswith("#") for word in line.split()]
    assert unregistered(["tests/system/a_test.py", "tests/system/aa_test.py"], ["/x/tests/system/aa_test.py"]) == ["tests/system/a_test.py"]
    missing = unregistered(list(test_files()), words)
    for file in missing:
        print(f"{file} is run by nobody: add it to tests/CMakeLists.txt, or to the second tier of scripts/test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
