# SPDX-License-Identifier: Apache-2.0
"""Where what is made and fetched lies, and how a step says that it failed."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ebb"


def say(text):
    print(f"wheel: {text}", flush=True)


def fail(text):
    raise SystemExit(f"wheel: {text}")


def run(*command, **options):
    """Runs a command whose output the user sees; ends with its name where it fails."""
    command = [str(part) for part in command]
    if subprocess.run(command, check=False, **options).returncode != 0:
        fail(f"failed, see above: {' '.join(command)}")


def output(*command):
    """What a command prints; ends with what it said where it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
