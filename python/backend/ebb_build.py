# SPDX-License-Identifier: Apache-2.0
"""Builds libebb with CMake and packs it with the package `ebb` into a wheel (PEP 517).

The program ebb goes in as well where it can be built: it needs CLI11, SQLite, Boost's headers, node and npm. So does
ebb-simulate, which also needs libtorch.

  EBB_BUILT=FOLDER         takes lib/libebb.so and, if they are there, bin/ebb and bin/ebb-simulate from
                           FOLDER, builds nothing
  EBB_BUILD_PROGRAM=OFF    leaves both programs out
  EBB_BUILD_SIMULATOR=OFF  leaves ebb-simulate out
  EBB_PLATFORM=NAME        the platform in the wheel's name; scripts/wheel names those it has checked

What is compiled, and how far it is, goes to stderr, which pip shows with -v.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "python" / "ebb"
SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "cmake", "include", "python",
           "src", "tests/conformance", "tests/device", "tests/support", "web")
METADATA = """Metadata-Version: 2.1
Name: ebb
Version: {version}
Summary: Keeps the memory of long machine-learning jobs flat
License: Apache-2.0
Requires-Python: >=3.10
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{description}"""


# Processor time of a build: a rough guess, not measured.
LIBRARY_MINUTES, PROGRAM_MINUTES, SIMULATOR_MINUTES = 4, 4, 3


def version():
    """The project's, from the one place that has it."""
    found = re.search(r"project\(ebb VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text("utf-8"))
    return found[1]


def platform_tag():
    """$EBB_PLATFORM, else this machine's."""
    return os.environ.get("EBB_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")


def minutes(processor_minutes, cores):
    """How long so much work takes, in words: "4 minutes on 2 cores"."""
    whole = max(1, round(processor_minutes / cores))
    return (f"{whole} minute{'s' if whole > 1 else ''} on {cores} core{'s' if cores > 1 else ''}")


def say(text):
    print(f"ebb: {text}", file=sys.stderr, flush=True)


def run(command, optional=False):
    """Runs a command with its output where pip -v shows it."""
    print("+", *command, file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    if done.returncode and not optional:
        raise SystemExit(f"ebb: {command[0]} failed with status {done.returncode}: see above")
    return done.returncode == 0


def is_wanted(variable):
    return os.environ.get(variable, "ON").upper() not in ("OFF", "0", "NO")


def configure(folder, program):
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    return run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release",
                "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=12",
                "-DEBB_BUILD_TESTS=OFF", "-DEBB_WARNINGS_AS_ERRORS=OFF",
                f"-DEBB_BUILD_PROGRAMS={'ON' if program else 'OFF'}",
                *(["-DEBB_BUILD_SIMULATOR=OFF"] if not is_wanted("EBB_BUILD_SIMULATOR") else [])],
               optional=program)


def has_torch(folder):
    """Whether a build that is configured has found libtorch, and so can make ebb-simulate."""
    cache = folder / "CMakeCache.txt"
    text = cache.read_text("utf-8") if cache.is_file() else ""
    found = re.search(r"^EbbTorch_torch_cpu_LIBRARY:\w+=(.+)$", text, re.MULTILINE)
    return found is not None and not found[1].endswith("-NOTFOUND")


def build(folder):
    """The library, and the program where this machine can build it, under `folder`."""
    if not shutil.which("cmake"):
        raise SystemExit("ebb: no cmake on the PATH: install CMake 3.25 or later and a C++20 "
                         "compiler (Debian: apt install cmake g++)")
    program = is_wanted("EBB_BUILD_PROGRAM")
    if not (program and configure(folder, program=True)):
        if program:
            say("the program cannot be built here, see above; it needs CLI11, SQLite, Boost's headers, "
                "node and npm (Debian: apt install libcli11-dev libsqlite3-dev libboost-dev npm)")
        program = False
        shutil.rmtree(folder, ignore_errors=True)
        configure(folder, program=False)
    simulator = program and is_wanted("EBB_BUILD_SIMULATOR") and has_torch(folder)
    cores = len(os.sched_getaffinity(0))
    say("compiles the library" + (", then the agent and the program" if program else "")
        + (", then ebb-simulate" if simulator else "") + ": about "
        + minutes(LIBRARY_MINUTES + (PROGRAM_MINUTES if program else 0)
                  + (SIMULATOR_MINUTES if simulator else 0), cores))
    if program and not simulator and is_wanted("EBB_BUILD_SIMULATOR"):
        say("ebb.simulate will not find its program: ebb-simulate needs libtorch (Debian: apt install "
            "libtorch-dev)")
    command = ["cmake", "--build", str(folder), "--parallel", str(cores), "--target"]
    run([*command, "ebb"])
    if program:
        run([*command, "ebb-program"], optional=True)
    if simulator:
        run([*command, "ebb-simulate"], optional=True)


def built_files():
    """(name in the wheel, content) of what is compiled."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("EBB_BUILT") or scratch)
        if not os.environ.get("EBB_BUILT"):
            build(folder)
        library = folder / "lib" / "libebb.so"
        if not library.is_file():
            raise SystemExit(f"ebb: {library} is not there: expected a library built by CMake")
        yield "ebb/_native/libebb.so", library.read_bytes()
        simulator = folder / "bin" / "ebb-simulate"
        if simulator.is_file() and is_wanted("EBB_BUILD_SIMULATOR"):
            yield "ebb/_native/ebb-simulate", simulator.read_bytes()
        program = folder / "bin" / "ebb"
        if program.is_file():
            yield "ebb/_native/ebb", program.read_bytes()
            # What `ebb run` starts jobs with lies beside the program.
            for name in ("libebb-agent.so", "python/sitecustomize.py", "python/nvflare_results.py"):
                yield f"ebb/_native/agent/{name}", (folder / "lib/ebb" / name).read_bytes()
            sites = folder / "lib/ebb/libebb-sites.so"  # for x86-64 alone
            if sites.is_file():
                yield f"ebb/_native/agent/{sites.name}", sites.read_bytes()


def package_files():
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc" and "_native" not in path.parts:
            yield f"ebb/{path.relative_to(PACKAGE).as_posix()}", path.read_bytes()


def dist_info():
    folder = f"ebb-{version()}.dist-info"
    description = (ROOT / "README.md").read_text("utf-8")
    yield f"{folder}/METADATA", METADATA.format(version=version(), description=description).encode()
    yield f"{folder}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: ebb_build\nRoot-Is-Purelib: false\n"
                              f"Tag: py3-none-{platform_tag()}\n").encode()
    yield f"{folder}/entry_points.txt", b"[console_scripts]\nebb = ebb.__main__:main\n"
    yield f"{folder}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes()
    yield f"{folder}/licenses/third-party.txt", Path(__file__).with_name("third-party.txt").read_bytes()


class Wheel:
    """A zip file that records the hash of each member."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, content):
        member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        executable = name.startswith("ebb/_native/")
        member.external_attr = (0o100755 if executable else 0o100644) << 16
        member.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(member, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}\n")

    def close(self):
        name = f"ebb-{version()}.dist-info/RECORD"
        self.archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)),
                              "".join(self.record) + f"{name},,\n")
        self.archive.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"ebb-{version()}-py3-none-{platform_tag()}.whl"
    wheel = Wheel(Path(wheel_directory) / name)
    for source in (package_files, built_files, dist_info):
        for member, content in source():
            wheel.add(member, content)
    wheel.close()
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    for name, content in dist_info():
        path = Path(metadata_directory) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return f"ebb-{version()}.dist-info"


def build_sdist(sdist_directory, config_settings=None):
    stem = f"ebb-{version()}"
    with tarfile.open(Path(sdist_directory) / f"{stem}.tar.gz", "w:gz") as archive:
        for source in SOURCES:
            archive.add(ROOT / source, f"{stem}/{source}",
                        filter=lambda entry: None if "__pycache__" in entry.name else entry)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as metadata:
            metadata.write(METADATA.format(version=version(), description=""))
            metadata.flush()
            archive.add(metadata.name, f"{stem}/PKG-INFO")
    return f"{stem}.tar.gz"
