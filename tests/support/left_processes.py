# SPDX-License-Identifier: Apache-2.0
"""Ends what a test has left behind, also where the test is killed."""
import os
import subprocess
import time
from pathlib import Path

_inputs = []  # of what ends others: open as long as this process lives


def end_with_this_process(entry):
    """From now on whatever has an environment with an entry that begins like this ends when this process does."""
    environment = {name: value for name, value in os.environ.items() if not f"{name}={value}".startswith(entry)}
    script = Path(__file__).with_name("end_left.sh")
    ender = subprocess.Popen(["sh", script, entry], stdin=subprocess.PIPE, env=environment)
    ender.wait()
    _inputs.append(ender.stdin)


def end_all_with_this_process():
    """The same of all that this process starts from now on."""
    name, value = "EBB_TEST_OF", f"{os.getpid()}-{time.time_ns()}/"
    end_with_this_process(f"{name}={value}")
    os.environ[name] = value
