#include "policy/shell/patch_script.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace gatehouse::policy;

namespace {

using words = std::vector<std::string>;

constexpr const char* body = "*** Begin Patch\n*** Add File: a\n+$HOME `x` \\n\n*** End Patch\n";

patch_reading script(const std::string& text, const char* shell = "bash",
                     const char* flag = "-lc") {
  return read_patch_command(words{shell, flag, text});
}

std::string document(const std::string& opening, const std::string& tag) {
  return opening + "\n" + body + tag;
}

} // namespace

TEST_SUITE("policy.patch_script") {
  TEST_CASE("§11 a command that is nothing but a patch is caught, in every form") {
    for (const auto& text : std::vector<std::string>{
             document("apply_patch <<'EOF'", "EOF"), document("apply_patch <<EOF", "EOF\n"),
             document("applypatch << \"P_1\"", "P_1"),
             document("\n  apply_patch <<'EOF'  ", "EOF\n \n"),
             document("A=b C='d e' apply_patch <<'EOF'", "EOF"),
             document("apply-patch <<'EOF'", "EOF"), "apply_patch '" + std::string{body} + "'"}) {
      CAPTURE(text);
      const auto read = script(text);
      CHECK(read.refusal.empty());
      REQUIRE(read.patch);
      CHECK(read.patch->text == body);
      CHECK(read.patch->folder.empty());
    }
    CHECK(read_patch_command(words{"apply_patch", body}).patch->text == body);
    for (const char* shell : {"sh", "/bin/bash", "zsh"})
      CHECK(script(document("apply_patch <<EOF", "EOF"), shell, "-c").patch);
  }

  TEST_CASE("§11 the folder of a leading cd goes with the patch") {
    for (const auto& [opening, folder] :
         std::vector<std::pair<std::string, std::string>>{{"cd sub/dir && ", "sub/dir"},
                                                          {"cd 'my dir' && ", "my dir"},
                                                          {"cd \"a b\" &&\n", "a b"},
                                                          {"X=1 cd /abs&&", "/abs"}}) {
      const auto text = document(opening + "apply_patch <<'EOF'", "EOF");
      CAPTURE(text);
      const auto read = script(text);
      REQUIRE(read.patch);
      CHECK(read.patch->folder == folder);
    }
  }

  TEST_CASE("§11 <<- takes the leading tabs away, as a shell does, and nothing else") {
    const auto read = script("apply_patch <<-EOF\n\t*** Begin Patch\n\t\t+ x\t\n\tEOF");
    REQUIRE(read.patch);
    CHECK(read.patch->text == "*** Begin Patch\n+ x\t\n");
  }

  TEST_CASE("§11 a script with carriage returns is read as one without") {
    const auto read = script("apply_patch <<'EOF'\r\n*** Begin Patch\r\n*** End Patch\r\nEOF\r\n");
    REQUIRE(read.patch);
    CHECK(read.patch->text == "*** Begin Patch\r\n*** End Patch\r\n");
  }

  TEST_CASE("§11 BR-190 what is nearly a patch is refused with the right form, never run in part") {
    for (const auto& text :
         std::vector<std::string>{document("echo hi; apply_patch <<'EOF'", "EOF"),
                                  document("apply_patch <<'EOF'", "EOF\necho hi"),
                                  document("apply_patch <<'EOF'", "EOF") + "\n; true",
                                  document("cd a && cd b && apply_patch <<'EOF'", "EOF"),
                                  document("cd -- a && apply_patch <<'EOF'", "EOF"),
                                  document("cd $X && apply_patch <<'EOF'", "EOF"),
                                  document("cd a || apply_patch <<'EOF'", "EOF"),
                                  document("cd a; apply_patch <<'EOF'", "EOF"),
                                  document("apply_patch <<'EOF' > log", "EOF"),
                                  document("apply_patch <<'EOF' | cat", "EOF"),
                                  document("(apply_patch <<'EOF'", "EOF\n)"),
                                  document("# note\napply_patch <<'EOF'", "EOF"),
                                  document("apply_patch --dry <<'EOF'", "EOF"),
                                  std::string{"apply_patch <<< '*** Begin Patch'"},
                                  std::string{"apply_patch \"$PATCH\""},
                                  std::string{"apply_patch < f.patch"},
                                  document("apply_patch \"$(cat <<'EOF'", "EOF\n)\""),
                                  "bash -lc \"apply_patch 'x'\"",
                                  std::string{"cat p | apply_patch"},
                                  document("apply_patch <<'EOF'", "NEVER"),
                                  std::string{body},
                                  "\n  " + std::string{body}}) {
      CAPTURE(text);
      const auto read = script(text);
      CHECK_FALSE(read.patch);
      CHECK(read.refusal.find("apply_patch <<'EOF'") != std::string::npos);
    }
    CHECK_FALSE(read_patch_command(words{"apply_patch", "a", "b"}).refusal.empty());
    CHECK_FALSE(read_patch_command(words{"env", "A=b", "apply_patch", "x"}).refusal.empty());
    CHECK_FALSE(read_patch_command(words{body}).refusal.empty());
  }

  TEST_CASE("§11 a command that only speaks of apply_patch is a command") {
    for (const auto& argv :
         {words{"grep", "apply_patch", "f"}, words{"bash", "-c", "echo apply_patch"},
          words{"/opt/apply_patch", "x"},
          words{"bash", "-c", "cat > f <<'EOF'\napply_patch x\nEOF"},
          words{"bash", "-c", "git log # apply_patch"}, words{"ls"}, words{"apply_patch"},
          words{"bash", "-lc", " apply_patch\n"}, words{}}) {
      const auto read = read_patch_command(argv);
      CHECK_FALSE(read.patch);
      CHECK(read.refusal == "");
    }
  }
}
