"""§83 Every recorded probe of a sandbox, put to the legacy backend: what it cannot express it refuses."""
import json
import os
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# It asks access(2), which does not know of Landlock; nothing is written.
ONLY_ASKS = {"write_rootfs_usr"}


def main():
    cases = os.path.join(TESTS, "cases")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        program, probes = os.path.join(folder, "gatehouse"), os.path.join(folder, "probes.jsonl")
        with open(program, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\n[ "$1" = sandbox ] || exit 2\nshift\nexec '
                       f'{os.environ["GATEHOUSE_BUILD_DIR"]}/gatehouse sandbox --backend landlock "$@"\n')
        os.chmod(program, 0o755)
        with open(os.path.join(cases, "sandbox_probes.jsonl"), encoding="utf-8") as source, \
                open(probes, "w", encoding="utf-8") as target:
            target.writelines(line for line in source if json.loads(line)["probe"] not in ONLY_ASKS)
        return subprocess.run([sys.executable, "-B", os.path.join(cases, "sandbox_probes.py"), program, probes, "-v"],
                              check=False).returncode


sys.exit(main())
