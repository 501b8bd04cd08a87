#!/usr/bin/env python3
"""Says which names without linkage stand for two functions in one library: check_one_meaning.py BUILD

The release build compiles several sources of a library together (CMAKE_UNITY_BUILD). Two functions of the same name in
unnamed namespaces then stop it, or, which is worse, become overloads of one another. This looks at what the compiler has made
of every source by itself, in a build without that option, since the release build is in the second tier only.
"""
import collections
import os
import re
import subprocess
import sys

OURS = ("protocol", "policy", "config", "sandbox", "reactor", "actors", "cli")
# _ZN 9gatehouse 3cli 12_GLOBAL__N_1 3say E…: a function directly in an unnamed namespace of ours, as the compiler writes it.
FUNCTION = re.compile(r"^([^:]+):[0-9a-f]+ [tTwW] _ZN(9gatehouse[0-9a-z_]*12_GLOBAL__N_1)([0-9]+)([a-z_]\w*)")
NEVER_TOGETHER = ("gatehouse-sandbox-init.dir",)


def names(text):
    """Of what `nm -A` prints: each such function with its namespace, and the object file it is in."""
    for line in text.splitlines():
        found = FUNCTION.match(line)
        if found and found[4][int(found[3]):][:1] in ("E", "I"):  # its parameters or template arguments follow
            yield os.path.basename(found[1]), (found[2], found[4][:int(found[3])])


def libraries(build):
    """The object files of each target of ours."""
    for folder in OURS:
        for place, _, files in os.walk(os.path.join(build, folder, "CMakeFiles")):
            objects = [os.path.join(place, name) for name in files if name.endswith(".cpp.o")]
            target = re.search(r"CMakeFiles/([^/]+\.dir)", place)
            if objects and target and target[1] not in NEVER_TOGETHER:
                yield target[1], objects


def main():
    assert list(names("x/a.cpp.o:00 t _ZN9gatehouse3cli12_GLOBAL__N_13sayEi\nx/a.cpp.o:00 t main\n"
                      "x/a.cpp.o:00 t _ZN9gatehouse3cli12_GLOBAL__N_13one3sayEv")) == \
        [("a.cpp.o", ("9gatehouse3cli12_GLOBAL__N_1", "say"))]
    seen = collections.defaultdict(lambda: collections.defaultdict(set))
    for target, objects in libraries(sys.argv[1]):
        done = subprocess.run(["nm", "-A", "--defined-only", *objects], capture_output=True, text=True, check=True)
        for file, name in names(done.stdout):
            seen[target][name].add(file[:-2])
    wrong = 0
    for target, found in sorted(seen.items()):
        for name, files in sorted(found.items()):
            if len(files) > 1:
                wrong += 1
                print(f"{target[:-4]}: {name[1]} stands for different functions in {', '.join(sorted(files))}: "
                      "give each a name of its own, since the release build compiles them together")
    if not seen:
        print("no object files: build first", file=sys.stderr)
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
