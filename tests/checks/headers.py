# SPDX-License-Identifier: Apache-2.0
"""Compiles each public header alone, as the file sets of the targets list them.

  headers.py BUILD
"""
import subprocess
import sys
from pathlib import Path
from typing import List

from common import finish


def check(build: Path) -> List[str]:
    done = subprocess.run(["cmake", "--build", build, "--target", "all_verify_interface_header_sets"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return [done.stdout] if done.returncode != 0 else []


if __name__ == "__main__":
    finish(check(Path(sys.argv[1])))
