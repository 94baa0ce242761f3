# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package where it is installed, beside what its tests need from PyPI."""
import hashlib
import json
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testing.steps import BUILD, LOGS, ROOT, run

WANTED = ROOT / "python/tests/requirements.txt"
OLDER_NVFLARE = ROOT / "python/tests/requirements-nvflare-2.8.txt"


def interpreter():
    return "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable


def downloaded(tally, wanted):
    """A virtual environment with what comes from PyPI, shared by all checkouts of a user and made
    once per list of it; None where that failed."""
    python = interpreter()
    named = hashlib.sha256(f"{os.path.realpath(python)}\n".encode() + wanted.read_bytes()).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "ebb" / f"python-{named[:16]}"
    if folder.exists():
        return folder
    made = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(made, ignore_errors=True)
    for name, command in (
            ("venv", [python, "-m", "venv", made]),
            ("pip", [made / "bin/python", "-m", "pip", "install", "--disable-pip-version-check", "-r",
                     wanted])):
        succeeded, output = run(command, f"python-{name}.log")
        if not succeeded:
            shutil.rmtree(made, ignore_errors=True)
            tally.fail(f"python: {name}", output)
            return None
    try:
        made.rename(folder)
    except OSError:  # another checkout was quicker
        shutil.rmtree(made, ignore_errors=True)
    return folder


def environment(tally, wanted, name):
    """This checkout's own virtual environment, which sees the downloaded one, with the package inside; its
    interpreter, or None."""
    shared = downloaded(tally, wanted)
    if not shared:
        return None
    folder = BUILD / "python" / name
    shutil.rmtree(folder, ignore_errors=True)
    succeeded, output = run([interpreter(), "-m", "venv", "--without-pip", folder], "python-venv.log")
    if not succeeded:
        tally.fail("python: venv", output)
        return None
    packages = next(shared.glob("lib/python3*/site-packages"))
    own = next(folder.glob("lib/python3*/site-packages"))
    (own / "downloaded.pth").write_text(f"import site; site.addsitedir({str(packages)!r})\n",
                                        encoding="utf-8")
    python = folder / "bin/python"
    succeeded, output = run([python, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
                             "--no-build-isolation", "--force-reinstall", ROOT], "python-install.log",
                            ("env", f"EBB_BUILT={BUILD / 'release'}"))
    if not succeeded:
        tally.fail("python: pip install .", output)
        return None
    return python


def modules_side_by_side():
    """The modules in two groups: NVFlare's simulator picks ports before it listens there, so that its jobs come one
    after the other."""
    modules = sorted(path.stem for path in (ROOT / "python/tests").glob("test_*.py"))
    return [("nvflare", [name for name in modules if name.startswith("test_nvflare")]),
            ("others", [name for name in modules if not name.startswith("test_nvflare")])]


def run_modules(python, group, modules, long):
    """(group, what each case came to, whether all passed, the output)."""
    report = LOGS / f"python-{group}.jsonl"
    report.unlink(missing_ok=True)
    succeeded, output = run([python, ROOT / "python/tests/run.py", report, *(["--long"] if long else []), *modules],
                            f"python-{group}.log")
    cases = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()
             ] if report.exists() else []
    return group, cases, succeeded, output


def add_cases(tally, group, cases, succeeded, output, where=""):
    before = len(tally.failures)
    for case in cases:
        name = f"python: {where}{case['name']}"
        tally.costs.append((case["processor_s"], name))
        if case["outcome"] == "passed":
            tally.passed += 1
        elif case["outcome"] == "skipped":
            tally.skips.append((name, case["said"]))
        else:
            tally.fail(name, case["said"])
    if not cases or not succeeded and len(tally.failures) == before:
        tally.fail(f"python: {group}: ran no test" if not cases else f"python: {group}: run.py", output)


def test_package(tally, long):
    """Installs the package, with the library that is already built, and runs its tests there."""
    started = time.monotonic()
    python = environment(tally, WANTED, "venv")
    if not python:
        return
    tally.seconds["build"] = time.monotonic() - started
    started = time.monotonic()
    groups = modules_side_by_side()
    with ThreadPoolExecutor(len(groups)) as pool:
        for name, cases, succeeded, output in pool.map(lambda group: run_modules(python, *group, long), groups):
            add_cases(tally, name, cases, succeeded, output)
    if long:
        test_with_older_nvflare(tally)
    tally.seconds["run"] = time.monotonic() - started


def test_with_older_nvflare(tally):
    """The tests of NVFlare again, in an environment with the release before the one that all others use."""
    python = environment(tally, OLDER_NVFLARE, "venv-nvflare-2.8")
    if python:
        modules = dict(modules_side_by_side())["nvflare"]
        add_cases(tally, *run_modules(python, "nvflare-2.8", modules, long=True), where="NVFlare 2.8: ")
