# SPDX-License-Identifier: Apache-2.0
"""`python -m ebb` is the program ebb."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def program() -> Path:
    """$EBB_PROGRAM, else the program in this package."""
    named = os.environ.get("EBB_PROGRAM")
    return Path(named) if named else Path(__file__).resolve().parent / "_native" / "ebb"


def main() -> int:
    file = program()
    if not os.access(file, os.X_OK):
        print(f"ebb: {file} is not there: this package was built without the program. Install CLI11, "
              "SQLite, Boost's headers, node and npm (Debian: apt install libcli11-dev libsqlite3-dev libboost-dev "
              "npm), then run `pip install --force-reinstall .`; or name a program in EBB_PROGRAM.",
              file=sys.stderr)
        return 3
    os.execv(file, ["ebb", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
