"""§92b §48b What real tools say when the boundary refuses them: the path, the entry and the remedy are named."""
import json
import os
import shutil
import subprocess
import unittest

from boundary_support import BoundaryCase
from run_case import GRACE_S

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")
TOOLS_PATH = "/usr/local/bin:/usr/bin:/bin"

# (tool, script, the path that is refused, kind); {out} is read-only, {ws} writable, {secret} denied.
ROWS = [
    ("bash", "echo x > {out}/new", "{out}/new", "file_write"),
    ("bash", "cd {out} && echo x > new", "{out}/new", "file_write"),
    ("bash", "echo x >> {out}/old", "{out}/old", "file_write"),
    ("dash", "dash -c 'echo x > {out}/new'", "{out}/new", "file_write"),
    ("python3", "python3 -c 'open(\"{out}/new\", \"w\")'", "{out}/new", "file_write"),
    ("python3", "python3 -c 'import os; os.mkdir(\"{out}/d\")'", "{out}/d", "file_write"),
    ("python3", "python3 -c 'import shutil; shutil.copy(\"{ws}/f\", \"{out}/new\")'", "{out}/new", "file_write"),
    ("touch", "touch {out}/new", "{out}/new", "file_write"),
    ("touch", "touch {out}/old", "{out}/old", "file_write"),
    ("cp", "cp {ws}/f {out}/new", "{out}/new", "file_write"),
    ("cp", "cp {ws}/f {out}/", "{out}/f", "file_write"),
    ("sed", "sed -i s/a/b/ {out}/old", "{out}", "file_write"),
    ("tee", "echo x | tee {out}/new", "{out}/new", "file_write"),
    ("mkdir", "mkdir {out}/new", "{out}/new", "file_write"),
    ("mkdir", "mkdir -p {out}/new/deep", "{out}/new", "file_write"),
    ("ln", "ln -s f {out}/new", "{out}/new", "file_write"),
    ("ln", "ln {out}/old {out}/new", "{out}/new", "file_write"),
    ("mv", "mv {ws}/f {out}/new", "{out}/new", "file_write"),
    ("mv", "mv {out}/old {ws}/new", "{out}/old", "file_write"),
    ("rm", "rm {out}/old", "{out}/old", "file_write"),
    ("rmdir", "rmdir {out}/folder", "{out}/folder", "file_write"),
    ("chmod", "chmod 700 {out}/old", "{out}/old", "file_write"),
    ("tar", "tar cf {out}/t.tar f", "{out}/t.tar", "file_write"),
    ("tar", "tar cf a.tar f; tar xf a.tar -C {out}", "{out}/f", "file_write"),
    ("tar", "tar cf a.tar f; cd {out}; tar xf {ws}/a.tar", "{out}/f", "file_write"),
    ("curl", "curl -sS -o {out}/new file://{ws}/f", "{out}/new", "file_write"),
    ("curl", "cd {out}; curl -sSO file://{ws}/f", "{out}/f", "file_write"),
    ("curl", "curl -sS --create-dirs -o {out}/a/b file://{ws}/f", "{out}/a", "file_write"),
    ("curl", "curl -sS -o repo/.git/config file://{ws}/f", "{ws}/repo/.git/config", "file_write"),
    ("tar", "tar cf a.tar repo/.git/config; tar xf a.tar", "{ws}/repo/.git/config", "file_write"),
    ("gcc", "gcc -c -x c /dev/null -o {out}/new.o", "{out}/new.o", "file_write"),
    ("make", "printf 'all:\\n\\techo x > {out}/new\\n' > Makefile; make -s", "{out}/new", "file_write"),
    ("git", "git init -q {out}/new", "{out}/new", "file_write"),
    ("git", "git -C {ws}/repo commit -q --allow-empty -m x", "{ws}/repo/.git", "file_write"),
    ("npm", "cd {out} && npm init -y", "{out}/package.json", "file_write"),
    ("wget", "wget -q -O {out}/new file:///x; wget -O {out}/new http://127.0.0.1:9/", "{out}/new", "file_write"),
    ("cat", "cat {secret}", "{secret}", "file_read"),
    ("grep", "grep x {secret}", "{secret}", "file_read"),
    ("python3", "python3 -c 'print(open(\"{secret}\").read())'", "{secret}", "file_read"),
    ("head", "head -1 {secret}", "{secret}", "file_read"),
    ("cp", "cp {secret} {ws}/taken", "{secret}", "file_read"),
    ("tar", "tar cf t.tar {secret}", "{secret}", "file_read"),
    ("curl", "curl -sS https://example.com/", "example.com", "network"),
    ("wget", "wget -nv https://example.com/", "example.com", "network"),
    ("python3", "python3 -c 'import urllib.request as r; r.urlopen(\"http://example.com/\")'", "example.com", "network"),
    ("git", "git ls-remote https://example.com/x.git", "example.com", "network"),
    ("touch", "touch {ws}/.envrc", "{ws}/.envrc", "file_write"),
    ("mkdir", "mkdir {ws}/sub/.vscode", "{ws}/sub/.vscode", "file_write"),
]


class DenialsOfTools(BoundaryCase):
    def test_every_tool_names_its_path_entry_and_remedy(self):
        for folder in (self.out + "/folder", self.ws + "/sub"):
            os.mkdir(folder)
        for path in (self.out + "/old", self.ws + "/f", self.out + "/secret"):
            with open(path, "w", encoding="ascii") as file:
                file.write("aaaa\n")
        env = {"PATH": TOOLS_PATH, "HOME": self.base, "LANG": "C.UTF-8", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                    "GIT_COMMITTER_EMAIL": "a@b", "GATEHOUSE_HOME": self.base + "/gatehouse"}
        subprocess.run(["git", "init", "-q", self.ws + "/repo"], env=env, check=True)
        profile = json.dumps({"type": "managed", "network": "restricted", "file_system": {
            "type": "restricted", "entries": [
                {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"},
                {"path": {"type": "path", "path": self.out + "/secret"}, "access": "deny"}]}})
        names = {"out": self.out, "ws": self.ws, "secret": self.out + "/secret"}
        fill = lambda text: text.replace("{out}", names["out"]).replace("{ws}", names["ws"]).replace(
            "{secret}", names["secret"])
        for tool, script, refused, kind in ROWS:
            if not shutil.which(tool, path=TOOLS_PATH):
                continue
            with self.subTest(script=script):
                done = subprocess.run([GATEHOUSE, "run", "--json", "--ask", "never", "--profile", profile, "--cwd",
                                       self.ws, "--", "/bin/bash", "-c", fill(script)], env=env, timeout=GRACE_S,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                document = json.loads(done.stdout)
                denied = (document["attempts"] or [{}])[0].get("denied")
                self.assertIsNotNone(denied, done.stdout)
                self.assertEqual(denied["kind"], kind, denied)
                self.assertIn(fill(refused), denied.get("path", "") + denied.get("host", ""), denied)
                self.assertTrue(denied["entry"] and denied["remedy"], denied)


if __name__ == "__main__":
    unittest.main()
