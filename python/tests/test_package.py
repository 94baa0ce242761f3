# SPDX-License-Identifier: Apache-2.0
"""The wheel: what is in it, that it is typed, and that it can be built from source."""
import base64
import hashlib
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import ebb
from support import ROOT, long_test


def backend():
    spec = importlib.util.spec_from_file_location("ebb_build", ROOT / "python/backend/ebb_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Wheel(unittest.TestCase):
    def build(self, folder):
        with mock.patch.dict(os.environ, {"EBB_BUILT": str(ROOT / "build/release")}):
            name = backend().build_wheel(folder)
        return name, zipfile.ZipFile(Path(folder) / name)

    def test_is_for_this_platform_and_any_python_3(self):
        with tempfile.TemporaryDirectory() as folder:
            name, _ = self.build(folder)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        self.assertEqual(name, f"ebb-{ebb.version()}-py3-none-{platform}.whl")

    def test_records_every_file_with_its_hash(self):
        with tempfile.TemporaryDirectory() as folder:
            _, wheel = self.build(folder)
            listed = {}
            for line in wheel.read(f"ebb-{ebb.version()}.dist-info/RECORD").decode().splitlines():
                name, digest, _ = line.rsplit(",", 2)
                listed[name] = digest
            self.assertEqual(sorted(listed), sorted(wheel.namelist()))
            for name, digest in listed.items():
                if digest:
                    found = hashlib.sha256(wheel.read(name)).digest()
                    text = base64.urlsafe_b64encode(found).rstrip(b"=").decode()
                    self.assertEqual(digest, f"sha256={text}")
            for name in ("ebb/py.typed", "ebb/_native/libebb.so", "ebb/nvflare/widget.py",
                         "ebb/flower/strategy.py"):
                self.assertIn(name, listed)
            self.assertFalse([name for name in listed if "__pycache__" in name])

    def test_a_folder_without_a_library_is_refused(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(os.environ, {"EBB_BUILT": folder}), \
                self.assertRaisesRegex(SystemExit, "libebb.so is not there"):
            backend().build_wheel(folder)

    def test_brings_what_is_built_and_wanted(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"EBB_BUILD_SIMULATOR": "ON"}):
            is_built = (ROOT / "build/release/bin/ebb-simulate").is_file()
            self.assertEqual("ebb/_native/ebb-simulate" in self.build(folder)[1].namelist(), is_built)
            os.environ["EBB_BUILD_SIMULATOR"] = "OFF"
            self.assertNotIn("ebb/_native/ebb-simulate", self.build(folder)[1].namelist())

    def test_a_machine_that_cannot_build_a_program_does_without(self):
        for has_cli11, torch, targets in ((True, "/lib/libtorch_cpu.so", ["ebb", "ebb-program", "ebb-simulate"]),
                                          (True, "EbbTorch_torch_cpu_LIBRARY-NOTFOUND", ["ebb", "ebb-program"]),
                                          (False, "/lib/libtorch_cpu.so", ["ebb"])):
            module, asked = backend(), []

            def run(command, optional=False):
                asked.append(command)
                if "-B" in command:
                    made = Path(command[command.index("-B") + 1])
                    made.mkdir(exist_ok=True)
                    (made / "CMakeCache.txt").write_text(f"EbbTorch_torch_cpu_LIBRARY:FILEPATH={torch}\n")
                fails = "-DEBB_BUILD_PROGRAMS=ON" in command and not has_cli11
                self.assertTrue(optional or not fails)
                return not fails

            with mock.patch.object(module, "run", run), tempfile.TemporaryDirectory() as folder, \
                    mock.patch.dict(os.environ), mock.patch("sys.stderr"):
                os.environ.pop("EBB_BUILD_PROGRAM", None)
                os.environ.pop("EBB_BUILD_SIMULATOR", None)
                module.build(Path(folder) / "build")
            self.assertEqual([command[-1] for command in asked if "--build" in command], targets)

    def test_without_cmake_it_says_what_to_install(self):
        module = backend()
        with mock.patch.object(module.shutil, "which", return_value=None), \
                self.assertRaisesRegex(SystemExit, "install CMake"):
            module.build(Path("nowhere"))

    def test_is_the_one_that_is_tested(self):
        self.assertNotIn(str(ROOT / "python"), ebb.__file__)
        self.assertEqual(Path(ebb.library_path()).parent.parent, Path(ebb.__file__).parent)

    @long_test
    def test_can_be_built_from_a_source_distribution(self):
        with tempfile.TemporaryDirectory() as folder:
            source = backend().build_sdist(folder)
            environment = {**os.environ, "EBB_BUILD_PROGRAM": "OFF"}
            environment.pop("EBB_BUILT", None)
            subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder,
                            str(Path(folder) / source)], check=True, env=environment)
            wheel, = Path(folder).glob("*.whl")
            target = Path(folder) / "installed"
            subprocess.run([sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(target),
                            str(wheel)], check=True)
            said = subprocess.run([sys.executable, "-c", "import ebb; print(ebb.cleanup_memory())"],
                                  env={**environment, "PYTHONPATH": str(target)}, text=True, check=True,
                                  capture_output=True).stdout
            self.assertIn("returned", said)


class Types(unittest.TestCase):
    def test_are_complete_and_right(self):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"),
             "--no-error-summary", "--cache-dir", str(ROOT / "build/python/mypy"),
             str(ROOT / "python/ebb")], text=True, capture_output=True, check=False)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
