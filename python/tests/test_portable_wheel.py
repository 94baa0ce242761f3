# SPDX-License-Identifier: Apache-2.0
"""The wheel of scripts/wheel: its name, what it needs of a machine, and that every Python here runs it."""
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from support import ROOT, long_test
from test_package import backend

sys.path.insert(0, str(ROOT / "scripts"))
from packing import sqlite, symbols, toolchain  # noqa: E402

BUILT = ROOT / "build/release"
# Those that need nothing from PyPI.
MODULES = ("test_failures", "test_jobs", "test_memory", "test_nvflare_behaviours")
PLACES = ("/usr/bin", "/usr/local/bin", "/opt/*/bin", "~/.cache/ebb/*/bin", "~/.pyenv/versions/*/bin")
# Frees memory that glibc keeps, and forks, with the agent inside; what stays shows the cleanup.
JOB = """
import os, time
kept = [bytes(30_000) for _ in range(5000)][::50]
child = os.fork()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
time.sleep(8)
"""


def interpreters():
    """{(3, 11): [path]} of every Python 3 on this machine, each once."""
    found = {}
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(":") if folder]
    for place in PLACES:
        path = Path(place).expanduser()
        folders += Path("/").glob(str(path.relative_to("/")))
    for folder in folders:
        for path in sorted(folder.glob("python3.*")):
            version = re.fullmatch(r"python3\.(\d+)", path.name)
            # A shim is a script that may know no such Python.
            if version and os.access(path, os.X_OK) and path.read_bytes()[:4] == b"\x7fELF":
                known = found.setdefault((3, int(version[1])), {})
                known.setdefault(path.resolve(), path.resolve())
    return {version: list(paths) for version, paths in sorted(found.items())}


def done(*command, check=True, **options):
    ended = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=False, timeout=3600, **options)
    if check and ended.returncode != 0:
        raise AssertionError(f"{command} ended with {ended.returncode}: {ended.stdout}")
    return ended.stdout if check else ended


class Name(unittest.TestCase):
    def test_says_which_c_library_and_processor_it_is_for(self):
        self.assertEqual(toolchain.platform("x86_64"), "manylinux_2_28_x86_64")
        self.assertEqual(toolchain.platform("aarch64"), "manylinux_2_28_aarch64")
        with self.assertRaisesRegex(ValueError, "riscv64: expected one of x86_64, aarch64"):
            toolchain.platform("riscv64")

    def test_is_the_same_inside(self):
        variables = {"EBB_BUILT": str(BUILT), "EBB_PLATFORM": toolchain.platform("aarch64")}
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, variables):
            name = backend().build_wheel(folder)
            self.assertRegex(name, r"^ebb-[\d.]+-py3-none-manylinux_2_28_aarch64\.whl$")
            with zipfile.ZipFile(Path(folder) / name) as wheel:
                info, = (entry for entry in wheel.namelist() if entry.endswith("/WHEEL"))
                self.assertIn("Tag: py3-none-manylinux_2_28_aarch64\n", wheel.read(info).decode())


class Check(unittest.TestCase):
    def test_names_each_symbol_of_a_newer_c_library(self):
        library = BUILT / "lib/libebb.so"
        newer = {name: number for name, (kind, number) in symbols.versions(library).items()
                 if kind == "GLIBC" and number > (2, 28)}
        if not newer:
            self.skipTest("the C library of this machine is older than 2.29")
        found = symbols.violations(library)
        for name, number in newer.items():
            text = ".".join(map(str, number))
            self.assertIn(f"libebb.so needs {name} of glibc {text}, expected 2.28 or older", found)
        self.assertEqual(len(found), len(newer), found)

    def test_takes_a_library_that_needs_nothing_newer(self):
        self.assertEqual(symbols.violations(BUILT / "lib/libebb.so", glibc=(2, 999)), [])

    def test_names_libraries_that_a_machine_may_lack(self):
        found = symbols.violations(BUILT / "bin/ebb")
        for name in ("libsqlite3.so.0", "libstdc++.so.6"):
            self.assertIn(f"ebb needs {name}, expected nothing beyond the C library", found)

    def test_sqlite_that_is_not_the_expected_one_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            changed = Path(folder) / "package/deps/sqlite3/sqlite3.c"
            changed.parent.mkdir(parents=True)
            changed.write_text("int main;\n", encoding="utf-8")
            archive = Path(folder) / "changed.tgz"
            with tarfile.open(archive, "w:gz") as package:
                package.add(changed, "package/deps/sqlite3/sqlite3.c")
            with self.assertRaisesRegex(SystemExit, "sqlite3.c in changed.tgz has the SHA-256"):
                sqlite.unpack(archive, Path(folder))


class Time(unittest.TestCase):
    def test_is_told_before_compiling(self):
        minutes = backend().minutes
        self.assertEqual(minutes(8, 2), "4 minutes on 2 cores")
        self.assertEqual(minutes(8, 1), "8 minutes on 1 core")
        self.assertEqual(minutes(8, 64), "1 minute on 64 cores")


class Anywhere(unittest.TestCase):
    @long_test
    def test_every_python_of_this_machine_installs_and_runs_it(self):
        if platform.machine() not in toolchain.ARCHITECTURES:
            self.skipTest(f"no wheel for {platform.machine()}")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done(ROOT / "scripts/wheel", "--out", folder)
            wheel, = folder.glob("*.whl")
            self.assertTrue(wheel.name.endswith(f"-py3-none-{toolchain.platform(platform.machine())}.whl"))
            shown = " ".join(toolchain.auditwheel(wheel).split())
            self.assertIn(f'the following platform tag: "{toolchain.platform(platform.machine())}"', shown)
            self.exports(wheel, folder / "files")
            tried = 0
            for version, paths in interpreters().items():
                for path in paths:
                    with self.subTest(python=str(path)):
                        venv = folder / f"venv-{version[1]}-{tried}"
                        tried += 1
                        self.install(path, version, wheel, venv)
            self.assertGreater(tried, 0)

    def exports(self, wheel, folder):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        checks = ROOT / "tests/checks/exports.py"
        native = folder / "ebb/_native"
        done(sys.executable, checks, native / "libebb.so", ROOT / "src/capi/exports.txt")
        done(sys.executable, checks, native / "agent/libebb-agent.so", ROOT / "src/agent/exports.txt")
        for path in (native / "libebb.so", native / "agent/libebb-agent.so", native / "ebb"):
            self.assertEqual(symbols.violations(path), [])

    def install(self, path, version, wheel, venv):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("PYTHON", "EBB_"))} | {"XDG_STATE_HOME": str(venv / "state")}
        done(path, "-m", "venv", venv, env=environment)
        python = venv / "bin/python"
        ended = done(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", wheel,
                     check=False, env=environment)
        if version < (3, 10):
            self.assertNotEqual(ended.returncode, 0, "expected that an older Python is refused")
            return
        self.assertEqual(ended.returncode, 0, ended.stdout)
        said = done(python, "-c", "import ebb; print(ebb.library_path(), ebb.cleanup_memory())",
                    env=environment)
        self.assertIn(str(venv), said)
        self.assertIn("returned", said)
        done(python, ROOT / "python/tests/run.py", venv / "report.jsonl", *MODULES, env=environment)
        ebb = venv / "bin/ebb"
        self.assertEqual(json.loads(done(ebb, "info", "--json", env=environment))["allocator"], "glibc")
        done(ebb, "run", "--", python, "-c", JOB, env=environment)
        report = json.loads(done(ebb, "report", "--json", env=environment))
        self.assertEqual(report["run"]["exit_code"], 0)
        self.assertTrue(report["processes"][0]["agent"])
        self.assertTrue(report["cleanups"]["count"] or report["verdict"] == "healthy", report)


if __name__ == "__main__":
    unittest.main()
