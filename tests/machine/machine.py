#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries Ebb on a real kernel with control groups of version 2: boots a small virtual machine of Debian's packages (one
GiB of memory, no swap, no network), runs a suite of cases in it as root, and prints a line for each.

  tests/machine/machine.py programs     the tests of `ebb run` in control groups
  tests/machine/machine.py units        services, scopes and slices of systemd: limits, peaks, pressure, `--cgroup`
  tests/machine/machine.py kills        the kernel's kill for the whole machine, and systemd-oomd's
  tests/machine/machine.py chaos        the faults of scripts/chaos that control groups give

Needs what `scripts/setup long` installs; the first time it makes a root file system, which takes minutes and Debian's
servers. Without KVM the machine is emulated, ten times as slowly. Exit 77: it cannot be made here.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import image

ROOT = Path(__file__).resolve().parent.parent.parent
SUITES = ("programs", "units", "kills", "chaos")
SKIPPED = 77
SECONDS = 2400  # for one suite, under KVM
BOOT_SECONDS = 60
BOOTS = 4
SLOWER = 6      # where it is emulated


def has_kvm():
    # Within a virtual machine there may be a KVM that runs no kernel as it is: it needs the processor's own means.
    if not re.search(r"^flags\b.* (vmx|svm) ", Path("/proc/cpuinfo").read_text(), re.MULTILINE):
        return False
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR))
    except OSError:
        return False
    return True


def command_line(folder, disk, work, with_kvm):
    processor = ["-enable-kvm", "-cpu", "host"] if with_kvm else ["-accel", "tcg,thread=multi", "-cpu", "Nehalem"]
    return ["qemu-system-x86_64", *processor, "-machine", "q35", "-smp", "2", "-m", "1024", "-nodefaults", "-display",
            "none", "-no-reboot", "-nic", "none", "-kernel", folder / "kernel", "-initrd", folder / "initrd",
            "-append", "root=/dev/vda rw console=ttyS0 quiet panic=1 psi=1 mitigations=off no_timer_check",
            # What is written to the root file system is thrown away in the end.
            "-drive", f"file={folder / 'root'},if=virtio,format=raw,snapshot=on",
            "-drive", f"file={disk},if=virtio,format=raw,readonly=on",
            "-serial", f"file:{work / 'console'}", "-device", "virtio-serial-pci",
            "-chardev", f"file,id=told,path={work / 'told'}", "-device", "virtserialport,chardev=told,name=ebb"]


class Told:
    """The lines that the guest wrote so far."""

    def __init__(self, path):
        self.path, self.at = path, 0

    def take(self):
        text = self.path.read_bytes() if self.path.exists() else b""
        whole = text.rfind(b"\n") + 1
        lines, self.at = text[self.at:whole], whole
        return [json.loads(line) for line in lines.splitlines()]


def show(line):
    said = line["said"].strip()
    print(f"{line['result']:8} {line['seconds']:6.1f} s  {line['case']}", flush=True)
    if said:
        print("".join(f"    {one}\n" for one in said.splitlines()[-60:]), end="", flush=True)


class Machine:
    """A virtual machine that runs, and the lines that its guest writes, each shown as it comes."""

    def __init__(self, command, work, with_kvm):
        for old in ("told", "console"):
            (work / old).unlink(missing_ok=True)
        self.work, self.with_kvm = work, with_kvm
        self.told, self.lines = Told(work / "told"), []
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL)

    def follow(self, seconds, is_enough):
        """Until it has ended, enough was told or the time is up."""
        until = time.monotonic() + seconds
        has_ended = False
        while not has_ended and not is_enough(self.lines) and time.monotonic() < until:
            has_ended = self.process.poll() is not None  # before the last look
            for line in self.told.take():
                if "began" in line:
                    print(f"{line['began']}, {'KVM' if self.with_kvm else 'emulated'}", flush=True)
                if "case" in line:
                    show(line)
                self.lines.append(line)
            time.sleep(0.1)

    def has_begun(self):
        return any("began" in line or "case" in line for line in self.lines)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def console(self):
        path = self.work / "console"
        return path.read_text(errors="replace")[-6000:] if path.exists() else ""


def boot(suite, words, build, source, work):
    """Runs the suite, or those of its cases with these words; what each came to."""
    with_kvm = has_kvm()
    slower = 1 if with_kvm else SLOWER
    folder = image.cached()
    disk = work / "disk"
    image.programs_disk(disk, work / "staging", source, build,
                        {"suite": suite, "words": words, "source": str(source), "build": str(build),
                         "slower": slower})
    command = command_line(folder, disk, work, with_kvm)
    for _ in range(BOOTS):
        machine = Machine(command, work, with_kvm)
        try:
            # An emulated kernel that is not given a processor for a while may stand still for ever.
            machine.follow(BOOT_SECONDS * slower, lambda lines: lines)
            if machine.has_begun():
                machine.follow(SECONDS * slower, lambda lines: any("ended" in line for line in lines))
        finally:
            machine.end()
        if machine.has_begun():
            break
    lines = machine.lines
    if not any("ended" in line for line in lines):
        lines.append({"case": "the machine", "result": "failed", "seconds": 0.0,
                      "said": f"it ended, or its time was up, before the cases were over\n{machine.console()}"})
        show(lines[-1])
    return [line for line in lines if "case" in line]


def report_of(suite, lines):
    """As GoogleTest lists its cases: scripts/test counts them one by one."""
    outcomes = []
    for line in lines:
        one = {"name": line["case"], "result": "SKIPPED" if line["result"] == "skipped" else "COMPLETED"}
        if line["result"] == "failed":
            one["failures"] = [{"failure": line["said"]}]
        if line["result"] == "skipped":
            one["skipped"] = [{"message": line["said"]}]
        outcomes.append(one)
    return {"testsuites": [{"name": f"machine.{suite}", "testsuite": outcomes}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--case", default="", metavar="WORDS", help="only cases with these words in their name")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="folder of the programs")
    parser.add_argument("--source", type=Path, default=ROOT, help="what they were built from")
    parser.add_argument("--report", type=Path, metavar="FILE", help="where to list the cases, as JSON")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the machine ends with us
    with tempfile.TemporaryDirectory(prefix="ebb-machine-") as work:
        try:
            lines = boot(options.suite, options.case, options.build.resolve(), options.source.resolve(), Path(work))
        except image.NotHere as reason:
            print(reason)
            return SKIPPED
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(json.dumps(report_of(options.suite, lines)))
    count = {result: sum(line["result"] == result for line in lines) for result in ("passed", "failed", "skipped")}
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{count['passed']} passed, {count['failed']} failed{skipped}")
    return int(count["failed"] > 0 or not lines)


if __name__ == "__main__":
    sys.exit(main())
