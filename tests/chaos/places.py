# SPDX-License-Identifier: Apache-2.0
"""Faults that only the kernel can give, where it is permitted: disks that are full, control groups that are too small."""
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

# What limits a controller's group: in hierarchies of their own (version 1), and in the one for all (version 2).
LIMITS = {"memory": ("memory.limit_in_bytes", "memory.max"), "pids": ("pids.max", "pids.max"),
          "freezer": ("freezer.state", "cgroup.freeze")}


def mounted(kind, word=None):
    """Where a file system of that kind, with that option, is mounted."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, found, options = line.split()[:4]
        if found == kind and (word is None or word in options.split(",")):
            return Path(place)
    return None


def own_group(controller):
    """The folder of this process's group, and whether it is of version 2."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            top = mounted("cgroup", controller)
        elif controllers == "" and mounted("cgroup", controller) is None:
            top = mounted("cgroup2")
        else:
            continue
        if top is not None:
            # Within a namespace of its own the path may lead nowhere.
            group = top / path.lstrip("/")
            return (group if group.is_dir() else top), controllers == ""
    raise OSError(f"no control group for {controller}")


class Group:
    """A control group below this process's own, for as long as the block lasts."""

    count = 0
    lock = threading.Lock()

    def __init__(self, controller):
        with Group.lock:
            Group.count += 1
            number = Group.count
        above, is_unified = own_group(controller)
        self.path = above / f"ebb-chaos-{os.getpid()}-{number}"
        self.limit = self.path / LIMITS[controller][is_unified]

    def __enter__(self):
        self.path.mkdir()
        try:
            if not self.limit.exists():
                raise OSError(f"no {self.limit.name} in a new control group")
        except OSError:
            self.path.rmdir()
            raise
        return self

    def add(self, pid):
        (self.path / "cgroup.procs").write_text(f"{pid}\n")

    def set(self, value):
        self.limit.write_text(f"{value}\n")

    def freeze(self, frozen):
        is_unified = self.limit.name == "cgroup.freeze"
        self.set(str(int(frozen)) if is_unified else ("FROZEN" if frozen else "THAWED"))

    def __exit__(self, *_):
        until = time.monotonic() + 20
        while True:
            try:
                return self.path.rmdir()
            except OSError:  # the kernel still takes leave of its last process
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)


class SmallDisk:
    """A file system of a few bytes at `path`, for as long as the block lasts."""

    def __init__(self, path, size, files=200):
        self.path, self.options = path, f"size={size},nr_inodes={files}"

    def __enter__(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", self.options, "ebb-chaos", self.path], capture_output=True)
        if done.returncode != 0:
            raise OSError(done.stderr.decode(errors="replace").strip())
        return self

    def fill(self):
        with open(self.path / "filler", "wb") as filler:
            try:
                while True:
                    os.write(filler.fileno(), bytes(4096))
            except OSError:
                pass

    def empty(self):
        (self.path / "filler").unlink(missing_ok=True)

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", self.path], check=True)


def why_not():
    """What is not permitted here, and why."""
    found = {}
    for controller in LIMITS:
        try:
            with Group(controller):
                pass
        except OSError as failure:
            found[controller] = f"control group for {controller}: {failure}"
    try:
        with tempfile.TemporaryDirectory(prefix="ebb-chaos-") as folder, SmallDisk(folder, 4096):
            pass
    except OSError as failure:
        found["disk"] = f"tmpfs: {failure}"
    return found


def why_not_preloaded(library):
    """Why it cannot be, in a line; nothing where it can."""
    done = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": library}, capture_output=True)
    return f"{library} is not installed" if done.stderr else ""
