#include "policy/starlark/program.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace gatehouse::policy::starlark;

namespace {

/// Runs `text` with one host function, `check(x)`, that wants True, and gives the problems.
std::vector<diagnostic> problems_of(std::string_view text, const run_limits& limits = {}) {
  int checks = 0;
  const std::vector<host_function> host{
      {"check", [&](const call_arguments& a) -> std::optional<std::string> {
         ++checks;
         const bool good = a.positional.size() == 1 && a.positional[0].is(value_kind::boolean) &&
                           a.positional[0].boolean;
         if (good) return std::nullopt;
         return "the check failed";
       }}};
  return run(text, host, limits).problems;
}

void is_true(std::string_view expression) {
  CAPTURE(expression);
  const auto problems = problems_of("check(" + std::string{expression} + ")\n");
  for (const auto& p : problems)
    FAIL_CHECK(p.message);
}

void runs(std::string_view text) {
  CAPTURE(text);
  const auto problems = problems_of(text);
  for (const auto& p : problems)
    FAIL_CHECK(p.message);
}

void is_wrong(std::string_view text) {
  CAPTURE(text);
  CHECK_FALSE(problems_of(text).empty());
}

} // namespace

TEST_SUITE("policy.starlark") {
  TEST_CASE("§21 expressions give the values that Starlark defines") {
    constexpr std::array expressions{
        R"((1 << 2000) > 1.5 and -(1 << 2000) < -1.5 and 1.5 < (1 << 2000) and (1 << 2000) != 1.5)",
        R"((1 << 2000) < float("inf") and float("-inf") < -(1 << 2000) and float(1 << 1000) > 1e300)",
        R"(1 + 2 * 3 == 7 and (1 + 2) * 3 == 9)",
        R"(-7 // 2 == -4 and -7 % 3 == 2 and 7 % -3 == -2 and 7.5 // 2 == 3.0)",
        R"(1 / 2 == 0.5 and type(4 / 2) == "float")",
        R"(1 << 100 > 10 and (1 << 100) >> 98 == 4 and -1 >> 3 == -1)",
        R"(99999999999999999999 + 1 == 100000000000000000000)",
        R"(9223372036854775807 + 1 == 9223372036854775808 and str(-9223372036854775808 - 1) == "-9223372036854775809")",
        R"(12345678901234567890 // -7 == -1763668414462081128 and 12345678901234567890 % -7 == -6)",
        R"(0xFF == 255 and 0o17 == 15 and 0b11 == 3)",
        R"(5 & 3 == 1 and 5 | 3 == 7 and 5 ^ 3 == 6 and ~5 == -6)",
        R"(1 == 1.0 and {1: "a"}[1.0] == "a" and True != 1)",
        R"("a" < "b" and [1, 2] < [1, 3] and (1,) < (1, 0) and 1 < 1.5)",
        R"(1.5e3 == 1500.0 and .5 == 0.5 and str(1.0) == "1.0" and str(1e100) == "1e+100")",
        R"("a" + 'b' == "ab" and "ab" * 2 == "abab" and [0] * 2 == [0, 0] and 2 * (1,) == (1, 1))",
        R"([1] + [2] == [1, 2] and (1,) + (2,) == (1, 2) and [1] * -1 == [])",
        R"({"a": 1} | {"b": 2} == {"b": 2, "a": 1})",
        R"("a" in "bab" and 1 in [1] and "k" in {"k": 0} and 3 not in (1, 2) and 4 in range(0, 6, 2))",
        R"((1 if [] else 2) == 2 and ([] or "x") == "x" and (0 and fail("no")) == 0 and not None)",
        R"([1, 2, 3][-1] == 3 and [1, 2, 3][1:] == [2, 3] and [1, 2, 3][::-1] == [3, 2, 1])",
        R"("héé"[1] == "é" and "abc"[::-1] == "cba" and "abc"[-2:] == "bc" and (1, 2, 3)[:2] == (1, 2))",
        R"(list(range(5)[::2]) == [0, 2, 4] and len(range(0, 10, 3)) == 4 and range(3)[-1] == 2)",
        R"([1, 2][5:] == [] and [1, 2, 3][-100:2] == [1, 2] and [1, 2, 3][2:-4:-1] == [3, 2, 1])",
        R"([x * y for x in [1, 2] for y in [3, 4] if x != y - 2] == [4, 6])",
        R"({k: v for k, v in [("a", 1)]} == {"a": 1})",
        R"([x for x in [1, 2, 3] if x % 2] == [1, 3])",
        R"((lambda x, y=2, *a, **k: [x, y, a, k])(1, 3, 4, z=5) == [1, 3, (4,), {"z": 5}])",
        R"(f"{1 + 1}-{'a'!r}-{[1, 2][0]}{{}}" == '2-"a"-1{}')",
        R"(f'{1 != 2}' == "True" and f"{ {'a': 1}['a'] }" == "1")",
        R"("%s %r %d %x %X %o %c%%" % ("a", "b", 10, 255, 255, 8, "z") == 'a "b" 10 ff FF 10 z%')",
        R"("%s" % [1] == "[1]" and "%s" % (("t",),) == '("t",)' and "%d" % 3.9 == "3")",
        R"("{} {}".format(1, 2) == "1 2" and "{1}{0}".format("a", "b") == "ba" and "{x!r}{{".format(x="q") == '"q"{')",
        R"(b"ok" != "ok" and len(b"\xff") == 1)",
        R"("\x41\u00e9\101\U0001F600\a" == "AéA😀\x07" and "\q\/" == "\\q\\/" and r"\n" == "\\n")",
        R"('''a
b''' == "a\nb" and """it's""" == 'it\'s')",
        "\"a\\\nb\" == \"ab\"",
        R"(... == ... and type(...) == "ellipsis")",
        R"([(a, b) for a, b in zip([1, 2], ["x", "y"])] == [(1, "x"), (2, "y")])",
        R"((1, 2) == (1, 2) and () == () and (1) == 1 and type((1,)) == "tuple")",
    };
    for (const auto* expression : expressions)
      is_true(expression);
  }

  TEST_CASE("§21 the builtins are there and do what they say") {
    constexpr std::array expressions{
        R"(len("é") == 1 and len({}) == 0 and len((1,)) == 1)",
        R"(min(3, 1, 2) == 1 and max([1, 3]) == 3 and max(["a", "bbb"], key=len) == "bbb" and min("ab".elems()) == "a")",
        R"(any([0, 1]) and not any([]) and all([]) and not all([1, 0]))",
        R"(reversed([1, 2]) == [2, 1] and sorted(["b", "a"]) == ["a", "b"])",
        R"(sorted([3, 1, 2], key=lambda x: -x) == [3, 2, 1] and sorted([1, 2], reverse=True) == [2, 1])",
        R"(enumerate(["a"]) == [(0, "a")] and enumerate(["a"], 1) == [(1, "a")] and zip() == [])",
        R"(dict([("a", 1)], b=2) == {"a": 1, "b": 2} and list((1, 2)) == [1, 2] and tuple([1]) == (1,))",
        R"(str([1, "a", None, True, 1.5, (1,), {"k": ()}]) == '[1, "a", None, True, 1.5, (1,), {"k": ()}]')",
        R"(int("42") == 42 and int("-0x1F", 16) == -31 and int("0b11", 0) == 3 and int(3.9) == 3 and int(True) == 1)",
        R"(float("1.5") == 1.5 and float(1) == 1.0 and bool("") == False and bool([0]))",
        R"([type(x) for x in [None, True, 1, 1.0, "", b"", [], (), {}, len, range(1)]] == ["NoneType", "bool", "int", "float", "string", "bytes", "list", "tuple", "dict", "function", "range"])",
        R"(repr("a\n\"") == '"a\\n\\""' and repr(b"a") == 'b"a"')",
        R"(hasattr("", "split") and not hasattr("", "nope") and getattr([], "nope", 7) == 7 and "append" in dir([]))",
        R"(chr(97) == "a" and ord("é") == 233 and hash("a") == 97 and abs(-2) == 2 and abs(-1.5) == 1.5)",
        R"("a b  c".split() == ["a", "b", "c"] and "a,b,c".split(",", 1) == ["a", "b,c"] and "a,b,c".rsplit(",", 1) == ["a,b", "c"])",
        R"(" a b ".rsplit(None, 1) == [" a", "b"] and "".split() == [] and "a,".split(",") == ["a", ""])",
        R"("a\nb\r\nc".splitlines() == ["a", "b", "c"] and "a\n".splitlines(True) == ["a\n"])",
        R"(" x ".strip() == "x" and "xxaxx".strip("x") == "a" and " x".lstrip() == "x" and "éé".rstrip("é") == "")",
        R"("aXbX".replace("X", "-") == "a-b-" and "aaa".replace("a", "b", 2) == "bba" and "ab".replace("", "-") == "-a-b-")",
        R"("aé".upper() == "AÉ" and "AB".lower() == "ab" and "hello world".title() == "Hello World" and "aB".capitalize() == "Ab")",
        R"("abc".startswith("ab") and "abc".endswith(("x", "c")) and "abc".startswith("b", 1) and not "abc".startswith("x"))",
        R"("héllo".find("l") == 2 and "abc".find("z") == -1 and "abcabc".rfind("b") == 4 and "abc".index("c") == 2)",
        R"("banana".count("an") == 2 and "-".join(["a", "b"]) == "a-b" and "a=b=c".partition("=") == ("a", "=", "b=c"))",
        R"("a=b=c".rpartition("=") == ("a=b", "=", "c") and "x".partition("=") == ("x", "", "") and "x".rpartition("=") == ("", "", "x"))",
        R"("abc".removeprefix("a") == "bc" and "abc".removesuffix("c") == "ab" and "abc".removeprefix("x") == "abc")",
        R"("12".isdigit() and not "".isdigit() and "ab".isalpha() and "a1".isalnum() and " ".isspace() and "A".isupper() and "a".islower() and "Ab Cd".istitle())",
        R"(list("aé".elems()) == ["a", "é"] and list("a".codepoints()) == [97])",
        R"({"a": 1}.get("b", 2) == 2 and {"a": 1}.keys() == ["a"] and {"a": 1}.values() == [1] and {"a": 1}.items() == [("a", 1)])",
    };
    for (const auto* expression : expressions)
      is_true(expression);
  }

  TEST_CASE("§21 statements do what Starlark says") {
    constexpr std::array programs{
        "x = 1\nx = 2\ncheck(x == 2)",
        "a, (b, c) = 1, [2, 3]\n[d, e] = (4, 5)\ncheck([a, b, c, d, e] == [1, 2, 3, 4, 5])",
        "x = [1]\ny = x\nx += [2]\ncheck(y == [1, 2])\nx[0] += 5\ncheck(y[0] == 6)",
        "x = 7\nx -= 1\nx *= 2\nx //= 5\nx %= 2\nx <<= 3\nx |= 1\nx ^= 2\nx &= 3\nx >>= 1\ncheck(x "
        "== 1)",
        "d = {}\nd['a'] = 1\nd.update(b=2)\nd.setdefault('c', 3)\ncheck(d.pop('a') == 1)\ncheck(d "
        "== {'b': 2, 'c': 3})\ncheck(d.popitem() == ('b', 2))",
        "l = [3]\nl.append(4)\nl.insert(0, 2)\nl.extend((5,))\ncheck(l.pop() == "
        "5)\nl.remove(3)\ncheck(l == [2, 4] and l.index(4) == 1)\nl.clear()\ncheck(not l)",
        "for i in range(5):\n  if i == 1: continue\n  elif i == 3:\n    break\n  else:\n    "
        "pass\ncheck(i == 3)",
        "def f(a, b=2, *args, c, d=4, **kw):\n  return [a, b, args, c, d, kw]\ncheck(f(1, c=3) == "
        "[1, 2, (), 3, 4, {}])\ncheck(f(*[1, 9, 8], **{'c': 3, 'z': 0}) == [1, 9, (8,), 3, 4, "
        "{'z': 0}])",
        "def f(*, p):\n  return p\ncheck(f(p=1) == 1)",
        "def outer(a):\n  def inner(b):\n    return a + b\n  return inner\ncheck(outer(1)(2) == 3)",
        "def fib(n):\n  return n if n < 2 else fib(n - 1) + fib(n - 2)\ncheck(fib(10) == 55)",
        "x = 'ok'\ndef f():\n  x = 'no'\nf()\ncheck(x == 'ok')",
        "def f():\n  return later()\ndef later():\n  return 1\ncheck(f() == 1)",
        "def f(x: str, y: int | None = None, *a: int, **k: bool) -> list[str]:\n  return "
        "[x]\ncheck(f('a', 1, 2, z=True) == ['a'])\nz: dict[str, int] = {'a': 1}\nt: tuple[int, "
        "...] = (1, 2)\nu: tuple[int, str] = (1, 'a')",
        "len = lambda x: 42\ncheck(len([]) == 42)",
        "x = 1; y = 2; check(x + y == 3);",
        "if True:\n check(True)\n",
        "x = [\n  1,\n  # a comment\n  2,\n]\ncheck(x == [1, 2])",
        "x = 1 + \\\n  2\ncheck(x == 3)",
        "check(True)\r\nif True:\r\n  check(True)\r\n",
        "# only a comment",
        "\n\n   \n",
        "'a docstring'\n\"\"\"another\n  one\"\"\"\npass",
        "def f(x): return x\ncheck(f(1) == 1)",
        "x = [i for i in range(3)]\ni = 'outer'\ny = [i for i in range(2)]\ncheck(i == 'outer')",
        "fs = [lambda: x for x in [1, 2]]\ncheck(fs[1]() == 2)",
        "x = {'a': [1]}\nx['a'][0] = 2\ncheck(x == {'a': [2]})",
        "def f(n):\n  if n > 1:\n    f(n - 1)\n  else:\n    check(True)\nf(48)",
        "l = [1, 2]\nfor x in l: pass\nl.append(3)\ndef f():\n  for x in l:\n    return "
        "x\nf()\nl.append(4)",
        "x = 1\nif x == 0:\n  y = 0\nelif x == 1:\n  y = 1\nelse:\n  y = 2\ncheck(y == 1)",
        "_a1 = 5\ncheck(_a1 == 5)",
        "for a, b in [(1, 2)]: check(a + b == 3)",
        "def f(a,\n      b=1,\n      ):\n  return a\ncheck(f(\n  1,\n  ) == 1)",
    };
    for (const auto* program : programs)
      runs(program);
  }

  TEST_CASE("§21 what the dialect leaves out is refused") {
    constexpr std::array programs{
        "while True:\n  pass",
        "import os",
        "class A:\n  pass",
        "try:\n  pass\nexcept:\n  pass",
        "x = 1\ndel x",
        "global x",
        "x = 1 is 1",
        "async = 1",
        "x = 2 ** 3",
        "def f(p, /):\n  pass",
        "x = {'a', 'b'}",
        "x = 1 < 2 < 3",
        "x = 'a' 'b'",
        "for x in []:\n  pass\nelse:\n  pass",
        "p = [1, 2]\np[0:1] = [3]",
        "p = [2, 1]\np.sort()",
        "return 1",
        "break",
        "continue",
        "for c in 'abc':\n  pass",
        "p = [1]\nfor x in p:\n  p.append(x)",
        "d = {1: 1}\nfor x in d:\n  d[2] = 2",
        "f()\ndef f():\n  pass",
        "for x in [1]:\n\tpass",
        "\xEF\xBB\xBFx = 1",
        "x = 1\f",
        "x = 1\ry = 2\r",
        "\xC3\xA9 = 1",
        "x = '\\ud800'",
        "x = '\\ud83d\\ude00'",
        "x = '\\x4'",
        "x = '\\U00110000'",
        "x = 'open",
        "x = '''open",
        "x = (1",
        "x = 1)",
        ";",
        "x = = 1",
        "x = y = 1",
        "  x = 1",
        "if True:\n  x = 1\n y = 2",
        "if True:\npass",
        "def f(a, a):\n  pass",
        "def f(a=1, b):\n  pass",
        "def f(**k, a):\n  pass",
        "f = lambda: x9",
        "def f():\n  return unknown_name",
        "x = print('a')",
        "x = set([1])",
        "x = json.decode('1')",
        "load('a.rules', 'x')",
        "x = [zz for zz in [1]]\ny = zz",
        "def f():\n  y = x\n  x = 1\nx = 0\nf()",
        "x: str = 1",
        "def f(x: int):\n  pass\nf('a')",
        "def f() -> int:\n  return 'a'\nf()",
        "def f(x: 3):\n  pass",
        "def f(*a: int):\n  pass\nf('x')",
        "x: list[int] = ['a']",
        "def f(a):\n  pass\nf()",
        "def f(a):\n  pass\nf(1, 2)",
        "def f(a):\n  pass\nf(1, a=2)",
        "def f(a):\n  pass\nf(b=2)",
        "def f(a):\n  pass\nf(a=1, a=2)",
        "def f(a):\n  pass\nf(**{1: 2})",
        "x = {'a': 1, 'a': 2}",
        "x = {[]: 1}",
        "x = [1][3]",
        "x = {}['k']",
        "x = 1 // 0",
        "x = 1 % 0",
        "x = 1.0 / 0",
        "x = 1 << -1",
        "x = 1 << 5000",
        "x = 'a' + 1",
        "x = None < None",
        "x = 5()",
        "x = 'a'.nope()",
        "x = [].append(1, 2)",
        "a, b = 1, 2, 3",
        "a, b = 'xy'",
        "x = range(1, 2, 0)",
        "x = int('z')",
        "x = int('1', 99)",
        "x = chr(0xD800)",
        "x = ord('ab')",
        "x = '%d' % 'a'",
        "x = '%s' % (1, 2)",
        "x = '%s %s' % 1",
        "x = '{} {0}'.format(1)",
        "x = '{:>3}'.format(1)",
        "x = '{a.b}'.format(a=1)",
        "x = f'{1'",
        "x = f'}'",
        "x = f'{1:>3}'",
        "fail('why')",
        "1 = 2",
        "f() = 2",
        "x.y = 2",
        "x = 'a'\nx[0] = 'b'",
        "x = (1,)\nx[0] = 2",
        "x = 01",
        "x = 1a",
        "x = 0x",
        "x = a if b",
        "x = not",
        "lambda x, x: 1",
        "def f(:\n  pass",
        "x = [1,, 2]",
        "x = @",
        "x = $",
        "x = 1 !",
        "x = `a`",
        "if True: if True: pass",
    };
    for (const auto* program : programs)
      is_wrong(program);
  }

  TEST_CASE("§21 calls nest 48 functions deep and no deeper") {
    const std::string body = "def f(n):\n  if n > 1:\n    f(n - 1)\n  else:\n    check(True)\n";
    CHECK(problems_of(body + "f(48)\n").empty());
    CHECK(problems_of(body + "f(49)\n").size() == 1);
  }

  TEST_CASE("§21 every problem has its place, counted in characters, and an excerpt") {
    const auto problems = problems_of("x = 'é'; y = nope\nz = [\n  1,\n  fail('here'),\n]\n");
    REQUIRE(problems.size() == 2);
    CHECK(problems[0].where == position{1, 14});
    CHECK(problems[0].excerpt == "x = 'é'; y = nope\n             ^");
    CHECK(problems[1].where == position{4, 3});
    CHECK(problems[1].message == "fail: here");
  }

  TEST_CASE("§D7 statements after a broken one still run") {
    int calls = 0;
    const std::vector<host_function> host{
        {"note", [&](const call_arguments&) -> std::optional<std::string> {
           ++calls;
           return std::nullopt;
         }}};
    SUBCASE("an open bracket") {
      const auto report = run("note(\nnote()\nnote()\n", host);
      CHECK(report.problems.size() == 1);
      CHECK(calls == 2);
    }
    SUBCASE("an open string") {
      const auto report = run("x = '''\nnote()\nnote()\n", host);
      CHECK(report.problems.size() == 1);
      CHECK(calls == 2);
    }
    SUBCASE("an unknown name, a failure, a broken block") {
      const auto report =
          run("note(nope)\nfail('x')\nfor x in [1]:\n  note(\nnote()\nif True:\n  note()\n", host);
      CHECK(report.problems.size() == 3);
      CHECK(calls == 2);
    }
    SUBCASE("a failure inside a loop leaves nothing locked") {
      const auto report = run("l = [1]\nfor x in l:\n  fail()\nl.append(2)\nnote()\n", host);
      CHECK(report.problems.size() == 1);
      CHECK(calls == 1);
    }
    SUBCASE("a broken line between sound ones") {
      const auto report = run("note(); note()\n)(\nnote()", host);
      CHECK(report.problems.size() == 1);
      CHECK(calls == 3);
    }
  }

  TEST_CASE("§21 steps, memory and depth are bounded") {
    run_limits small;
    small.steps = 100'000;
    small.memory = std::size_t{4} << 20;
    const std::array programs{
        "for i in range(2000000000): pass",
        "x = list(range(2000000000))",
        "x = 'a' * 1000000000",
        "x = 'a' * 1000000", // each copy is a step, however short
        "x = [0] * 1000000000",
        "x = ['aaaaaaaaaaaaaaaa' * 1000 for i in range(100000)]",
        "x = [1]\nfor i in range(60): x = [x, x]\ny = str(x)",
        "x = [1]\nfor i in range(60): x = [x, x]\nz = [1]\nfor i in range(60): z = [z, z]\ny = x "
        "== z",
        "x = 'ab'\nfor i in range(60): x = x + x",
        "x = 3\nfor i in range(60): x = x * x",
        "x = []\nfor i in range(300): x = [x]\ny = str(x)",
        "x = ()\nfor i in range(300): x = (x,)\ny = {x: 1}",
        "x = []\nx.append(x)\ny = str(x)",
        "x = []\nx.append(x)\ny = x == [x]",
        "l = list(range(1000))\nfor i in range(1000): 5000 in l",
        "def f():\n  return f()\nf()",
        "f = lambda: sorted([1], key=lambda x: f())\nf()",
        "x = 'a'.replace('', 'b' * 1000000)\ny = [x.replace('b', x) for i in range(1000)]",
        "x = {}\nfor i in range(100000): x[i] = i",
        "x = '%s' * 1000\nfor i in range(1000): y = x % tuple(range(1000))",
    };
    for (const std::string program : programs) {
      CAPTURE(program);
      CHECK_FALSE(problems_of(program, small).empty());
    }
    const auto nested = [](std::size_t levels) {
      return "x = " + std::string(levels, '[') + std::string(levels, ']');
    };
    CHECK(problems_of(nested(190)).empty());
    CHECK_FALSE(problems_of(nested(210)).empty());
    CHECK_FALSE(problems_of("x = " + std::string(100'000, '(')).empty());
    CHECK_FALSE(problems_of("x = " + std::string(100'000, '-') + "1").empty());
    CHECK_FALSE(problems_of(std::string(100'000, '[') + "\n").empty());
    std::string chain = "x = 1";
    for (int i = 0; i < 100'000; ++i)
      chain += " + 1";
    CHECK_FALSE(problems_of(chain).empty());
    std::string calls = "f";
    for (int i = 0; i < 100'000; ++i)
      calls += "()";
    CHECK_FALSE(problems_of(calls).empty());
    std::string blocks;
    for (int i = 0; i < 1000; ++i)
      blocks += std::string(static_cast<std::size_t>(i), ' ') + "if True:\n";
    CHECK_FALSE(problems_of(blocks).empty());
    CHECK_FALSE(problems_of("x = " + std::string(10'000, '9')).empty());
  }

  TEST_CASE("§21 an integer beyond all floats ended the program that read the rules") {
    for (const auto* text : {"x = (1 << 2000) / 2", "x = 1.5 + (1 << 2000)", "x = float(1 << 1024)",
                             "x = -(1 << 2000) * 0.5", "x = \"%f\" % (1 << 2000)"})
      is_wrong(text);
    is_wrong("x = " + std::string(400, '8') + " / 8");
  }

  TEST_CASE("§21 unclosed brackets on many lines do not make reading quadratic") {
    std::string text;
    for (int i = 0; i < 100; ++i)
      text += "f(\n" + std::string(10'000, ' ') + "\n";
    run_limits limits;
    limits.steps = 200'000;
    CHECK_FALSE(problems_of(text, limits).empty());
  }
}
