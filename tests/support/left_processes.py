# SPDX-License-Identifier: Apache-2.0
"""Ends what a test has left behind, also where the test is killed."""
import os
import subprocess
import time
from pathlib import Path


def end_with_this_process(entry):
    """From now on whatever has an environment with an entry that begins like this ends when this process does."""
    environment = {name: value for name, value in os.environ.items() if not f"{name}={value}".startswith(entry)}
    script = Path(__file__).with_name("end_left.sh")
    reading, _ = os.pipe()  # whose other end stays open as long as this process lives
    subprocess.run(["sh", script, entry], stdin=reading, env=environment, check=True)
    os.close(reading)


def end_all_with_this_process():
    """The same of all that this process starts from now on."""
    name, value = "EBB_TEST_OF", f"{os.getpid()}-{time.time_ns()}/"
    end_with_this_process(f"{name}={value}")
    os.environ[name] = value
