#!/usr/bin/env python3
"""Says which names in unnamed namespaces stand for two things in one library: check_one_meaning.py BUILD

Several sources of a library can be compiled together (CMAKE_UNITY_BUILD). Two functions, types or constants of the same name in
unnamed namespaces then stop it, or, which is worse, two functions become overloads of one another. This looks at what the
compiler has made of every source by itself, in a build without that option.
"""
import collections
import os
import re
import subprocess
import sys

OURS = ("protocol", "policy", "config", "sandbox", "reactor", "actors", "cli")
# _ZN 9gatehouse 3cli 12_GLOBAL__N_1 3say E…: what stands in an unnamed namespace of ours, as the compiler writes it. A type is
# seen by its members (K: a const one), a constant has an L.
NAME = re.compile(r"^([^:]+):[0-9a-f]+ \w _ZNK?(9gatehouse[0-9a-z_]*12_GLOBAL__N_1)L?([0-9]+)([a-zA-Z_]\w*)")
NEVER_TOGETHER = ("gatehouse-sandbox-init.dir",)


def names(text):
    """Of what `nm -A` prints: each such name with its namespace, and the object file it is in."""
    for line in text.splitlines():
        found = NAME.match(line)
        if found:
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
    assert [name[1] for _, name in names("x/a.cpp.o:00 t _ZN9gatehouse3cli12_GLOBAL__N_13sayEi\nx/a.cpp.o:00 t main\n"
                                         "x/a.cpp.o:00 r _ZN9gatehouse3cli12_GLOBAL__N_1L4mostE\n"
                                         "x/a.cpp.o:00 t _ZNK9gatehouse3cli12_GLOBAL__N_16reader4nextEv")] == \
        ["say", "most", "reader"]
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
                print(f"{target[:-4]}: {name[1]} stands for different things in {', '.join(sorted(files))}: "
                      "give each a name of its own, since they may be compiled together")
    if not seen:
        print("no object files: build first", file=sys.stderr)
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
