# SPDX-License-Identifier: Apache-2.0
"""The suite `kills`: who kills when the machine is full, or before it is."""
import os
import subprocess

from cases import GROUPS, Case, Failed, Record, call, death_of, expect, unit, wait_for


def the_machine_is_full_and_the_log_says_so(settings):
    record = Record(settings, "machine")
    status, said = call(record.run(record.dies("leak")))
    expect(status == -9, f"{status}: {said}")
    death = death_of(record.doctor())
    expect(death["by"] == "machine" and death["of_command"], death)
    expect(any("log" in line for line in death["findings"]), death["findings"])
    expect("the kernel killed it, since the memory of the machine was full" in said, said)
    return "; ".join([death["text"], *death["findings"]])


def the_machine_is_full_and_no_group_was(settings):
    """In a group with a limit that is above what the machine has, as a user who may not read the log."""
    record = Record(settings, "unlimited")
    call(unit("ebbunlimited", record.run(record.dies("leak")), "MemoryMax=8G", "User=nobody"))
    told = record.doctor()
    death = death_of(told)
    expect(death["by"] == "machine", death)
    expect("none of its control groups was full" in death["findings"], death["findings"])
    return "; ".join([death["text"], *death["findings"]])


def the_machine_is_full_without_groups_that_count(settings):
    """In the root group, which counts no kills: what /proc/vmstat says has to do."""
    record = Record(settings, "rootgroup")
    status, said = call(["setpriv", "--reuid=65534", "--clear-groups", *record.run(record.dies("leak"))])
    expect(status == -9, f"{status}: {said}")
    death = death_of(record.doctor())
    expect(death["by"] == "machine", death)
    return "; ".join([death["text"], *death["findings"]])


# The daemon kills only where the kernel also looks for pages to drop: what it cannot drop is not enough. One thread, so
# that all of the group stands still whenever it does.
PRESSED = """
import os
file = os.open({file!r}, os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(file, 256 << 20)
os.pwrite(file, b"x" * (64 << 20), 0)
kept, at = [], 0
while True:
    kept.append(bytearray(b"x" * (1 << 19)))
    at = (at + (8 << 20)) % (56 << 20)
    os.pread(file, 8 << 20, at)
"""


def pressed_job(record):
    return ["/usr/bin/python3", "-c", PRESSED.format(file=str(record.folder / "read-again"))]


class WatchedSlice:
    """A slice whose groups systemd-oomd kills when their tasks stand still for a second."""

    folder = GROUPS / "ebboomd.slice"

    def __enter__(self):
        status, said = call(["systemctl", "start", "systemd-oomd.service", "ebboomd.slice"])
        expect(status == 0, said)
        call(["systemctl", "set-property", "--runtime", "ebboomd.slice", "MemoryHigh=120M", "MemoryMax=700M",
              "ManagedOOMMemoryPressure=kill", "ManagedOOMMemoryPressureLimit=1%"])
        wait_for(lambda: f"the daemon watches the slice: {call(['oomctl'])[1]}",
                 lambda: "/ebboomd.slice" in call(["oomctl"])[1])
        return self

    def __exit__(self, *_):
        call(["systemctl", "stop", "ebboomd.slice", "systemd-oomd.service"])

    def said(self):
        """What the daemon and the kernel say of it."""
        text = (self.folder / "memory.pressure").read_text() + call(["oomctl"])[1]
        return text + call(["journalctl", "--no-pager", "--unit=systemd-oomd"])[1]


def kills_of(folder):
    try:
        return os.getxattr(folder, "user.oomd_kill").decode()
    except OSError as failure:
        return str(failure)


def run_watched(watched, command):
    """Runs it to its end, which the daemon is to bring about."""
    try:
        return call(command)
    except subprocess.TimeoutExpired:
        call(["systemctl", "kill", "--signal=KILL", "ebboomd.slice"])
        raise Failed(f"nobody has killed it: {watched.said()}") from None


def systemd_oomd_is_named_where_the_supervisor_survives(settings):
    """`ebb run` outside of the watched slice, the job in a group inside it that outlives it."""
    record = Record(settings, "oomd")
    with WatchedSlice() as watched:
        group = watched.folder / "job"
        group.mkdir()
        (watched.folder / "cgroup.subtree_control").write_text("+memory")
        into = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *pressed_job(record)]
        status, said = run_watched(watched, record.run(into))
        attribute = kills_of(group)
        group.rmdir()
        expect(status == -9, f"{status}: {said} {watched.said()}")
        death = death_of(record.doctor())
        expect(death["by"] == "systemd_oomd", f"{death}; user.oomd_kill: {attribute}")
        expect(death["group"] == "/ebboomd.slice/job", death["group"])
        return "; ".join([death["text"], *death["findings"], f"user.oomd_kill: {attribute}"])


def systemd_oomd_is_named_for_a_unit_that_goes_with_its_kill(settings):
    """The scope is removed as soon as it is empty, and the attribute with it: nobody may be named, but nobody else."""
    record = Record(settings, "oomdscope")
    with WatchedSlice() as watched:
        job = unit("ebbscope", pressed_job(record), "Slice=ebboomd.slice", scope=True)
        status, said = run_watched(watched, record.run(job))
        expect(status == -9, f"{status}: {said} {watched.said()}")
        death = death_of(record.doctor())
        expect(death["by"] in ("systemd_oomd", "unknown"), death)
        return "; ".join([death["text"], *death["findings"]])


def systemd_oomd_takes_the_supervisor_too(settings):
    record = Record(settings, "oomdwhole")
    with WatchedSlice() as watched:
        run_watched(watched, unit("ebbwhole", record.run(pressed_job(record)), "Slice=ebboomd.slice"))
        told = record.doctor()
        expect(told["run"]["death"] is None, f"nobody was left to see it: {told['run']['death']}")
        expect("cut short" in record.text(), record.text())
        return "cut short"


def cases(settings):
    return [Case.of(one, settings) for one in (
        the_machine_is_full_and_the_log_says_so, the_machine_is_full_and_no_group_was,
        the_machine_is_full_without_groups_that_count, systemd_oomd_is_named_where_the_supervisor_survives,
        systemd_oomd_is_named_for_a_unit_that_goes_with_its_kill, systemd_oomd_takes_the_supervisor_too)]
