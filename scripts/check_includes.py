#!/usr/bin/env python3
"""Checks who may include whom (docs/architecture.md, "Folders"), and where third-party headers may stand.

Exit status 0 when the tree obeys, 1 with one line per offence, `file:line: what is wrong`.
"""
import fnmatch
import re
import subprocess
import sys

# Folder -> folders it may include besides itself.
MAY_INCLUDE = {
    "protocol": set(),
    "policy": {"protocol"},
    "config": {"protocol", "policy"},
    "sandbox": {"protocol", "policy"},
    "reactor": {"protocol"},
    "actors": {"protocol", "policy", "config", "sandbox", "reactor"},
    "console": {"actors"},
    "cli": {"protocol", "policy", "config", "sandbox", "reactor", "actors", "console"},
}
# Header prefix -> the only places (glob patterns) where it may be included.
ONLY_IN = {
    "caf/": ["actors/*", "reactor/actor_scheduler.*", "tests/actors/*", "tests/reactor/*", "tests/support/*"],
    "boost/asio": ["reactor/*.cpp", "reactor/detail/*", "reactor/actor_scheduler.*", "tests/reactor/*"],
    "boost/beast": ["reactor/http_client.cpp", "reactor/websocket_client.cpp", "reactor/websocket_peer.cpp",
                    "reactor/lib_beast.cpp"],
    "openssl/": ["reactor/*.cpp"],
    "boost/json": ["protocol/*.cpp", "tests/*"],
    "tree_sitter/": ["policy/shell/bash_tree.cpp"],
    "seccomp.h": ["sandbox/*.cpp"],
    "toml++/": ["config/*.cpp"],
    "sqlite3.h": ["actors/audit/audit_store.cpp", "actors/audit/sqlite_statement.hpp", "tests/actors/audit_*_test.cpp"],
    "nettle/": ["actors/audit/audit_chain.cpp", "actors/sha256.cpp"],
}
# policy decides without looking at the world.
FORBIDDEN = {"policy": re.compile(r"^(unistd\.h|fcntl\.h|sys/|dirent\.h|filesystem|fstream|thread|mutex)")}

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def offences(path):
    folder = path.split("/", 1)[0]
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quoted, header = match.group(1) == '"', match.group(2)
            target = header.split("/", 1)[0]
            if quoted and folder in MAY_INCLUDE and target in MAY_INCLUDE:
                if target != folder and target not in MAY_INCLUDE[folder]:
                    yield f"{path}:{number}: {folder}/ may not include {target}/"
            for prefix, places in ONLY_IN.items():
                if header.startswith(prefix) and not any(fnmatch.fnmatch(path, p) for p in places):
                    yield f"{path}:{number}: <{header}> may be included only in {', '.join(places)}"
            if folder in FORBIDDEN and FORBIDDEN[folder].match(header):
                yield f"{path}:{number}: {folder}/ may not include <{header}>"


def main():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.cpp", "*.hpp", "*.h"],
        capture_output=True, text=True, check=True).stdout.split()
    found = [o for path in listed for o in offences(path)]
    print("\n".join(found) if found else f"{len(listed)} files obey the table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
