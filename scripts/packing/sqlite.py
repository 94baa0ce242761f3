# SPDX-License-Identifier: Apache-2.0
"""SQLite's amalgamation, to be linked into the program: sqlite3.c and sqlite3.h, public domain.

It comes inside the npm package better-sqlite3, which carries both files as sqlite.org publishes them.
"""
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from packing.places import CACHE, fail, say

PACKAGE = "better-sqlite3@13.1.1"
VERSION = "3.54.1"
FILES = {"sqlite3.c": "75a4760a7b9727a4c4c877aec92eacf39e52a8f2921ce00bd33be6d3a8e8e254",
         "sqlite3.h": "d6c84557261893439b341d2e6c35187ae3ea24fbfd843ad94616f72d89242b8c"}


def source():
    """The folder with both files, fetched once per user; ends where they are not the expected ones."""
    folder = CACHE / f"sqlite-{VERSION}"
    if folder.exists():
        return folder
    say(f"fetches SQLite {VERSION} (public domain) from npm's {PACKAGE}, once, into {folder}")
    made = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(["npm", "pack", PACKAGE, "--ignore-scripts", "--loglevel=error"],
                              cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(f"npm pack {PACKAGE} failed: {done.stderr.strip()}")
        archive, = Path(scratch).glob("*.tgz")
        unpack(archive, made)
    try:
        made.rename(folder)
    except OSError:  # another checkout was quicker
        shutil.rmtree(made, ignore_errors=True)
    return folder


def unpack(archive, folder):
    """Takes FILES out of an npm package, each only with its expected hash."""
    with tarfile.open(archive) as package:
        for name, expected in FILES.items():
            member = package.extractfile(f"package/deps/sqlite3/{name}")
            content = member.read() if member else b""
            found = hashlib.sha256(content).hexdigest()
            if found != expected:
                fail(f"{name} in {archive.name} has the SHA-256 {found}, expected {expected}")
            (folder / name).write_bytes(content)
