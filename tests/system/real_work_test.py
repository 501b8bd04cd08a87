"""§D14 BR-115 Real work still works inside the boundary; what needs more says so. A tool that is not here is skipped."""
import os
import shutil
import subprocess
import unittest

from boundary_support import BoundaryCase
from run_case import GRACE_S

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")


def needs(*tools):
    missing = [tool for tool in tools if not shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin")]
    return unittest.skipIf(missing, f"{', '.join(missing)} not installed")


class RealWork(BoundaryCase):
    def setUp(self):
        super().setUp()
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.base, "LANG": "C.UTF-8",
                    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                    "GIT_COMMITTER_EMAIL": "a@b"}

    def host(self, *words, cwd=None):
        subprocess.run(words, env=self.env, cwd=cwd or self.ws, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)

    def inside(self, script, *options, cwd=None):
        return subprocess.run([GATEHOUSE, "sandbox", "--profile", "workspace-write", "--cwd", cwd or self.ws, *options,
                               "--", "sh", "-ec", script], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)

    def works(self, script, *options, cwd=None):
        done = self.inside(script, *options, cwd=cwd)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def write(self, name, text):
        with open(os.path.join(self.ws, name), "w", encoding="utf-8") as file:
            file.write(text)

    @needs("git")
    def test_git_with_the_preset_commits_branches_stashes_merges_and_makes_worktrees(self):
        self.host("git", "init", "-q", "-b", "main", ".")
        self.host("git", "commit", "-q", "--allow-empty", "-m", "first")
        self.write("f", "one\n")
        denied = self.inside("git status --porcelain && git add f")
        self.assertEqual(denied.stdout, "?? f\n")
        self.assertNotEqual(denied.returncode, 0)
        out = self.works("""git add f && git commit -qm second && git checkout -q -b topic && echo two >> f &&
            git commit -qam third && git checkout -q main && git merge -q --no-ff -m merge topic && git tag v1 &&
            echo three >> f && git stash -q && git stash pop -q && git checkout -q f && git branch -q -d topic &&
            git pack-refs --all && git gc -q && git worktree add -q sub/w && git -C sub/w commit -q --allow-empty -m w &&
            git cherry-pick --allow-empty $(git -C sub/w rev-parse HEAD) >/dev/null && git reset -q --hard v1 &&
            git log --oneline | wc -l && git fsck --no-progress""", "--preset", "git")
        self.assertEqual(out.split()[0], "4")

    @needs("git")
    def test_br_115_a_linked_worktree_commits_with_the_preset_and_is_refused_without(self):
        main = self.out + "/main"
        self.host("git", "init", "-q", "-b", "main", main)
        self.host("git", "commit", "-q", "--allow-empty", "-m", "a", cwd=main)
        tree = self.base + "/tree"
        self.host("git", "worktree", "add", "-q", tree, cwd=main)
        script = "touch f && git add f && git commit -qm b && git branch topic && git status --porcelain"
        refused = self.inside(script, cwd=tree)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(main + "/.git/worktrees/tree/index.lock", refused.stderr)
        self.assertEqual(self.works(script, "--preset", "git", cwd=tree), "")
        for attempt in (f"echo x > {main}/.git/hooks/pre-commit", f"echo x >> {main}/.git/config",
                        f"echo gitdir: /tmp > {tree}/.git", f"echo x > {main}/.git/worktrees/tree/commondir",
                        f"echo x > {main}/.git/worktrees/tree/config.worktree", f"rm {tree}/.git", f"touch {main}/f",
                        f"mv {main}/.git/worktrees/tree {main}/.git/worktrees/x",
                        f"mv {main}/.git/worktrees {main}/.git/x", f"rm {main}/.git/worktrees/tree/commondir"):
            self.assertNotEqual(self.inside(attempt, "--preset", "git", cwd=tree).returncode, 0, attempt)

    @needs("git")
    def test_a_pointer_file_opens_no_folder_that_does_not_know_its_work_tree(self):
        victim = self.out + "/victim"
        self.host("git", "init", "-q", victim)
        os.makedirs(self.ws + "/admin")
        self.write("admin/gitdir", self.ws + "/.git\n")
        self.write("admin/commondir", victim + "/.git\n")
        self.write("admin/HEAD", "ref: refs/heads/main\n")
        for named in (victim + "/.git", victim, self.ws + "/admin"):
            self.write(".git", f"gitdir: {named}\n")
            self.assertNotEqual(self.inside(f"touch {victim}/.git/f || touch {victim}/f", "--preset",
                                            "git").returncode, 0, named)

    @needs("git")
    def test_the_preset_in_a_configured_profile_opens_no_pointer_file(self):
        home = self.base + "/gatehouse"
        os.mkdir(home)
        with open(home + "/config.toml", "w", encoding="ascii") as file:
            file.write('[permissions.dev]\nextends = "workspace-write"\npresets = ["git"]\n')
        self.env["GATEHOUSE_HOME"] = home
        self.host("git", "init", "-q", "-b", "main", ".")
        self.write("f", "one\n")
        done = subprocess.run([GATEHOUSE, "sandbox", "--profile", "dev", "--cwd", self.ws, "--", "sh", "-ec",
                               "git add f && git commit -qm a; ! touch .git/hooks/x; ! git config a.b c"],
                              env=self.env, capture_output=True, text=True, check=False, timeout=GRACE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.rmtree(self.ws + "/.git")
        self.write(".git", "gitdir: /nowhere\n")
        done = subprocess.run([GATEHOUSE, "sandbox", "--profile", "dev", "--cwd", self.ws, "--", "sh", "-c",
                               "echo gitdir: evil > .git || mv .git g || rm -f .git"],
                              env=self.env, capture_output=True, text=True, check=False, timeout=GRACE_S)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        with open(self.ws + "/.git", encoding="ascii") as file:
            self.assertEqual(file.read(), "gitdir: /nowhere\n")

    @needs("cmake", "make", "cc")
    def test_cmake_configures_builds_and_tests(self):
        self.write("main.c", "int main(void) { return 0; }\n")
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_executable(p main.c)\n"
                                     "enable_testing()\nadd_test(NAME p COMMAND p)\n")
        self.works("cmake -S . -B build >/dev/null && cmake --build build -j2 >/dev/null && cd build && ctest -Q")

    @needs("npm", "node")
    def test_npm_ci_from_a_local_package(self):
        os.makedirs(self.ws + "/dep/.vscode")
        self.write("dep/package.json", '{"name":"dep","version":"1.0.0","bin":{"dep":"run.js"}}')
        self.write("dep/run.js", '#!/usr/bin/env node\nconsole.log("dep ran")\n')
        self.write("dep/.vscode/settings.json", "{}")
        self.host("npm", "pack", "./dep", "--silent")
        shutil.rmtree(self.ws + "/dep")
        self.write("package.json", '{"name":"p","version":"1.0.0","dependencies":{"dep":"file:dep-1.0.0.tgz"}}')
        self.host("npm", "install", "--package-lock-only", "--offline", "--silent")
        out = self.works("npm ci --offline --no-audit --no-fund --cache ./cache --silent && npx --offline dep")
        self.assertEqual(out, "dep ran\n")

    @needs("python3")
    def test_a_python_venv(self):
        self.works("python3 -m venv --without-pip v && v/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'")

    @needs("ccache", "cc")
    def test_ccache_with_its_cache_in_the_workspace(self):
        self.write("f.c", "int f;\n")
        out = self.works("export CCACHE_DIR=$PWD/cache; for i in 1 2; do ccache cc -c f.c -o f.o; rm f.o; done; "
                         "ccache -s -v | grep -iE 'hits' | head -1")
        self.assertRegex(out, "[1-9]")

    @needs("tar", "make")
    def test_archives_patches_and_makefiles(self):
        self.write("Makefile", "all: a\na:\n\tcp Makefile a\n")
        self.works("make -s && tar cf t.tar a && mkdir x && tar xf t.tar -C x && diff a x/a && sed -i s/all/ALL/ a && "
                   "cmp -s a x/a || test $? = 1")


if __name__ == "__main__":
    unittest.main()
