"""§D12 §63 What is looked at and what is done are the same: thousands of random tries to get between the two."""
import os
import random
import stat
import subprocess
import unittest

from boundary_support import BoundaryCase, managed, special

TRIES = 3000
SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif
static volatile int stop;
static char path[40] = "plain/x0000000000000000";
static int swap(const char* a, const char* b) { return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE); }
static void* exchange_folder_and_link(void* p) { while (!stop) swap("plain", "outside"); return p; }
static void* exchange_parents(void* p) { while (!stop) swap("deep/one", "deep/two"); return p; }
static void* rewrite_text(void* p) {
  while (!stop) { memcpy(path, ".git/hooks/pre-commit", 22); memcpy(path, "plain/x0000000000000", 21); }
  return p;
}
static void* remake_links(void* p) {
  while (!stop) { unlink("turn"); symlink(".git/hooks", "turn"); unlink("turn"); mkdir("turn", 0700); rmdir("turn"); }
  return p;
}
static void try_one(unsigned* seed, const char* out) {
  static const char* const targets[] = {"plain/x", "plain/victim", "plain/folder", "turn/pre-commit", "deep/one/sub/x",
                                        "deep/two/sub/x", "plain/.claude", "deep/one/sub/.git", ".git/config", ".envrc"};
  const char* target = rand_r(seed) % 4 ? targets[rand_r(seed) % 10] : path;
  char long_way[200]; int f = -1, d;
  switch (rand_r(seed) % 14) {
  case 0: f = open(target, O_CREAT | O_WRONLY | O_TRUNC | O_NONBLOCK, 0600); break;
  case 1: f = open(target, O_CREAT | O_RDWR | O_APPEND | O_NONBLOCK, 0600); break;
  case 2: mkdir(target, 0700); break;
  case 3: close(open("mine", O_CREAT | O_WRONLY, 0600)); rename("mine", target); break;
  case 4: link("own", target); break;
  case 5: symlink(out, target); break;
  case 6: unlink(target); break;
  case 7: rmdir(target); break;
  case 8: mknod(target, S_IFIFO | 0600, 0); break;
  case 9: swap(target, "own2"); break;
  case 10: d = open("plain", O_RDONLY | O_DIRECTORY);
    snprintf(long_way, sizeof long_way, "/proc/self/fd/%d/x", d); f = open(long_way, O_CREAT | O_WRONLY | O_NONBLOCK, 0600);
    unlinkat(d, "victim", 0); mkdirat(d, ".claude", 0700); close(d); break;
  case 11: f = open("plain", O_TMPFILE | O_WRONLY, 0600); snprintf(long_way, sizeof long_way, "/proc/self/fd/%d", f);
    linkat(AT_FDCWD, long_way, AT_FDCWD, target, AT_SYMLINK_FOLLOW); break;
  case 12: { struct sockaddr_un a = {AF_UNIX, ""}; strncpy(a.sun_path, target, 100);
    int s = socket(AF_UNIX, SOCK_STREAM, 0); bind(s, (struct sockaddr*)&a, sizeof a); close(s); unlink(target); break; }
  case 13: linkat(AT_FDCWD, "plain/victim", AT_FDCWD, "taken", 0); link(".git/config", "taken"); link(target, "taken");
    f = open("taken", O_WRONLY | O_NONBLOCK); if (f >= 0) write(f, "changed", 7); unlink("taken"); close(f); f = open("turn/../secret", O_RDONLY | O_CREAT | O_NONBLOCK, 0600); break;
  }
  if (f >= 0) { char text[16]; if (read(f, text, sizeof text) == 6 && !memcmp(text, "secret", 6)) puts("read a secret"); }
  if (f >= 0) close(f);
}
int main(int argc, char** argv) {
  unsigned seed = (unsigned)atoi(argv[2]);
  pthread_t t[4];
  pthread_create(&t[0], 0, exchange_folder_and_link, 0); pthread_create(&t[1], 0, exchange_parents, 0);
  pthread_create(&t[2], 0, rewrite_text, 0); pthread_create(&t[3], 0, remake_links, 0);
  for (int i = 0; i < atoi(argv[3]); ++i) try_one(&seed, argv[1]);
  stop = 1;
  for (int i = 0; i < 4; ++i) pthread_join(t[i], 0);
  return argc == 4 ? 0 : 9;
}
"""


def state_of(folder):
    found = {}
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(at, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    found[path] = file.read()
            else:
                found[path] = os.lstat(path).st_mode
    return found


class Race(BoundaryCase):
    def test_no_order_of_exchanges_renames_and_links_reaches_what_is_protected(self):
        for folder in ("ws/plain/folder", "ws/deep/one/sub", "ws/deep/two", "ws/.git/hooks", "out/folder", "out/sub"):
            os.makedirs(os.path.join(self.base, folder))
        for name, text in (("out/victim", "old"), ("out/sub/x", "old"), ("ws/plain/victim", "own"), ("ws/own", "own"),
                           ("ws/own2", "own"), ("ws/.git/config", "old"), ("ws/secret", "secret")):
            with open(os.path.join(self.base, name), "w", encoding="ascii") as file:
                file.write(text)
        os.symlink(self.out, self.ws + "/outside")
        os.symlink(self.out + "/sub", self.ws + "/deep/two/sub")
        with open(self.base + "/race.c", "w", encoding="ascii") as file:
            file.write(SOURCE)
        subprocess.run(["cc", "-O1", "-w", "-pthread", "-o", self.base + "/race", self.base + "/race.c"], check=True)
        before = state_of(self.out), state_of(self.ws + "/.git")
        profile = managed([special("root", "read"), special("project_roots", "write"),
                           {"path": {"type": "path", "path": self.ws + "/secret"}, "access": "deny"}])
        seed = random.randrange(1 << 30)
        with self.subTest(seed=seed):
            status, out, err, _ = self.run_it([self.base + "/race", self.out, str(seed), str(TRIES)], profile,
                                              cwd=self.ws)
            self.assertEqual((status, out), (0, ""), err)
            self.assertEqual((state_of(self.out), state_of(self.ws + "/.git")), before)
            # Names that bind() made are the kernel's work on a text that may change: nothing but sockets.
            made = [path for path, state in state_of(self.ws).items()
                    if os.path.basename(path) in (".claude", ".envrc", ".git") and path != self.ws + "/.git"
                    and not (isinstance(state, int) and stat.S_ISSOCK(state))]
            self.assertEqual(made, [])


if __name__ == "__main__":
    unittest.main()
