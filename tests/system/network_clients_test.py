"""§143 The clients that agents use, each through the managed proxy to a TLS server with a CA of its own."""
import json
import os
import shutil
import subprocess
import unittest

from network_support import Network, Page, main


class Clients(Network):
    def test_84_curl_and_wget(self):
        self.page()
        r = self.run_it("curl -sS --cacert $CA https://ok.test/f.txt; echo")
        self.assertEqual(r["stdout"], "by tls\n", r["stderr"])
        self.need("wget")
        r = self.run_it("wget -q --ca-certificate=$CA -O - https://ok.test/f.txt; wget -O - https://denied.test/; exit 1")
        self.assertEqual(r["stdout"], "by tls", r["stderr"])
        self.assertIn("Blocked by Gatehouse", r["stderr"])

    def test_84_git(self):
        self.need("git")
        repository = os.path.join(self.files, "repo")
        shutil.rmtree(repository, ignore_errors=True)
        run = lambda *a: subprocess.run(a, check=True, capture_output=True, env=dict(
            os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b"))
        run("git", "init", "-q", repository)
        run("git", "-C", repository, "commit", "-q", "--allow-empty", "-m", "first")
        run("git", "-C", repository, "update-server-info")
        r = self.run_it("git -c http.sslCAInfo=$CA clone -q https://ok.test/repo/.git out && git -C out log --oneline")
        self.assertIn("first", r["stdout"], r["stderr"])

    def test_84_python_and_pip(self):
        self.page()
        r = self.run_it("SSL_CERT_FILE=$CA python3 -c 'import urllib.request as u;"
                        "print(u.urlopen(\"https://ok.test/f.txt\").read().decode())'")
        self.assertEqual(r["stdout"], "by tls\n", r["stderr"])
        if subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True).returncode != 0:
            self.skipTest("pip is not installed")
        index = os.path.join(self.files, "simple", "tiny")
        os.makedirs(index, exist_ok=True)
        wheel = "tiny-1.0-py3-none-any.whl"
        import zipfile
        with zipfile.ZipFile(os.path.join(index, wheel), "w") as z:
            z.writestr("tiny.py", "x = 1\n")
            z.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
            z.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            z.writestr("tiny-1.0.dist-info/RECORD", "")
        with open(os.path.join(index, "index.html"), "w") as file:
            file.write(f'<a href="{wheel}">{wheel}</a>')
        r = self.run_it("python3 -m pip install -q --disable-pip-version-check --no-cache-dir --cert $CA "
                        "--index-url https://ok.test/simple/ --target out tiny && cat out/tiny.py")
        self.assertEqual(r["stdout"], "x = 1\n", r["stderr"])

    def test_84_npm(self):
        self.need("npm")
        folder = os.path.join(self.base, "package")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "package.json"), "w") as file:
            json.dump({"name": "tiny", "version": "1.0.0"}, file)
        subprocess.run(["tar", "-czf", os.path.join(self.files, "tiny.tgz"), "-C", self.base, "package"], check=True)
        r = self.run_it("npm install --cache ./c --no-audit --no-fund --no-update-notifier --cafile $CA "
                        "https://ok.test/tiny.tgz >/dev/null; cat node_modules/tiny/package.json")
        self.assertIn('"tiny"', r["stdout"], r["stderr"])

    def test_84_BR085_node(self):
        self.need("node")
        self.page()
        major = int(subprocess.run(["node", "--version"], capture_output=True, text=True).stdout[1:].split(".")[0])
        fetch = "node -e \"fetch('https://ok.test/f.txt').then(r=>r.text()).then(console.log,e=>{console.log(e.cause.code);process.exit(2)})\""
        r = self.run_it("NODE_EXTRA_CA_CERTS=$CA " + fetch)
        if major >= 24:
            self.assertEqual(r["stdout"], "by tls\n", r["stderr"])
        else:  # it reads no proxy variable: the denial says that it went past the proxy
            denied = r["attempts"][0]["denied"]
            self.assertEqual(denied["kind"], "network")
            self.assertIn("proxy", denied["entry"] + denied["remedy"])
            self.assertIn("NODE_USE_ENV_PROXY", denied["remedy"])

    def test_84_apt(self):
        self.need("apt-get")
        os.makedirs(os.path.join(self.base, "deb"), exist_ok=True)
        script = ("mkdir -p l/partial c/partial && echo 'deb [trusted=yes] http://ok.test/deb ./' > s.list && "
                  "apt-get -o Dir::Etc::SourceList=$PWD/s.list -o Dir::Etc::SourceParts=- -o Dir::State::Lists=$PWD/l "
                  "-o Dir::Cache=$PWD/c -o APT::Sandbox::User=root -o Acquire::Languages=none update")
        r = self.run_it(script)
        self.assertTrue(any(path.startswith("/deb/") for _, _, path in Page.seen), r["stderr"])

    def test_84_cargo(self):
        self.need("cargo")
        self.page()
        os.makedirs(os.path.join(self.files, "index"), exist_ok=True)
        with open(os.path.join(self.files, "index", "config.json"), "w") as file:
            file.write('{"dl":"https://ok.test/dl"}')
        with open(os.path.join(self.ws, "Cargo.toml"), "w") as file:
            file.write('[package]\nname="p"\nversion="0.1.0"\nedition="2021"\n[dependencies]\nnope={version="1",registry="r"}\n')
        os.makedirs(os.path.join(self.ws, "src"))
        open(os.path.join(self.ws, "src", "lib.rs"), "w").close()
        r = self.run_it("CARGO_HOME=$PWD/ch CARGO_HTTP_CAINFO=$CA CARGO_REGISTRIES_R_INDEX=sparse+https://ok.test/index/ "
                        "cargo generate-lockfile 2>&1; true")
        if "rustup" in r["stdout"]:
            self.skipTest("cargo has no toolchain here")
        # The index answered: the package is not in it.
        self.assertIn("no matching package", r["stdout"])

    def test_84_java(self):
        self.need("java")
        with open(os.path.join(self.ws, "Get.java"), "w") as file:
            file.write('import java.net.*; public class Get { public static void main(String[] a) throws Exception {'
                       'var c=(HttpURLConnection)new URL("http://ok.test/j").openConnection();'
                       'System.out.println(c.getResponseCode()); } }')
        r = self.run_it("java Get.java")
        if "compiler" in r["stderr"] and "not" in r["stderr"]:
            self.skipTest("java has no compiler here")
        self.assertIn("200", r["stdout"], r["stderr"])


if __name__ == "__main__":
    main()
