# SPDX-License-Identifier: Apache-2.0
"""The suite `units`: jobs as systemd starts them, in groups that it makes and limits."""
import json
import subprocess
from pathlib import Path

from cases import GROUPS, Case, Failed, Record, adds_up, call, death_of, expect, mebibytes, unit, wait_for

LIMIT = 256 << 20
LIMITED = ("MemoryMax=256M", "MemorySwapMax=0")


def a_service_that_is_full_names_its_own_group(settings):
    # As systemd has it by default, it also ends what is left of the service: whoever comes first, the cause is one.
    record = Record(settings, "service")
    _, said = call(unit("ebbservice", record.run(record.dies("leak")), *LIMITED))
    told = record.doctor()
    death = death_of(told)
    expect(death["by"] == "cgroup" and death["level"] == 0, f"{death}\n{said}")
    expect(death["group"] == "/system.slice/ebbservice.service", death["group"])
    expect(death["limit_bytes"] == LIMIT, death["limit_bytes"])
    return f"{death['text']}; {adds_up(told, LIMIT)}"


def a_slice_that_is_full_names_the_level_above(settings):
    record = Record(settings, "slice")
    call(["systemctl", "start", "ebbabove.slice"])
    call(["systemctl", "set-property", "--runtime", "ebbabove.slice", *LIMITED])
    call(unit("ebbinner", record.run(record.dies("leak")), "Slice=ebbabove.slice"))
    call(["systemctl", "stop", "ebbabove.slice"])
    told = record.doctor()
    death = death_of(told)
    expect((death["by"], death["level"], death["group"]) == ("cgroup", 1, "/ebbabove.slice"), death)
    expect(death["limit_bytes"] == LIMIT, death["limit_bytes"])
    return f"{death['text']}; {adds_up(told, LIMIT)}"


def without_the_log_the_counts_name_the_level(settings):
    """As a user who may not read the kernel's log."""
    record = Record(settings, "user")
    call(["systemctl", "start", "ebbuser.slice"])
    call(["systemctl", "set-property", "--runtime", "ebbuser.slice", *LIMITED])
    call(unit("ebbnobody", record.run(record.dies("leak")), "Slice=ebbuser.slice", "User=nobody"))
    call(["systemctl", "stop", "ebbuser.slice"])
    told = record.doctor()
    death = death_of(told)
    expect((death["by"], death["level"], death["group"]) == ("cgroup", 1, "/ebbuser.slice"), death)
    expect(not any("log" in line for line in death["findings"]), death["findings"])
    expect(death["memory"] is None, "it could read the log")
    return f"{death['text']}; {'; '.join(death['findings'])}; {adds_up(told, LIMIT)}"


def a_group_that_is_killed_as_a_whole_leaves_a_record(settings):
    record = Record(settings, "whole")
    call(unit("ebbwhole", record.run(record.dies("leak")), *LIMITED, "OOMPolicy=kill"))
    told = record.doctor()
    expect(told["run"]["death"] is None, f"nobody was left to see it: {told['run']['death']}")
    expect("cut short" in record.text(), record.text())
    return f"cut short; {adds_up(told, LIMIT)}"


def a_command_that_moves_into_a_scope_is_followed(settings):
    """`ebb run` itself lives outside of the group that is full."""
    record = Record(settings, "moves")
    call(record.run(unit("ebbmoved", record.dies("leak"), *LIMITED, scope=True)))
    told = record.doctor()
    death = death_of(told)
    expect((death["by"], death["level"]) == ("cgroup", 0), death)
    expect(death["group"].endswith("/ebbmoved.scope"), death["group"])
    return f"{death['text']}; {'; '.join(death['findings'])}; {adds_up(told, LIMIT)}"


def the_peak_of_a_job_is_that_of_its_group(settings):
    """200 MiB for a moment, of which no sample need know."""
    record = Record(settings, "peak")
    job = ["/usr/bin/python3", "-c", "x = bytearray(200 << 20)"]
    status, said = call(unit("ebbpeak", record.run(job), "MemoryMax=512M"))
    expect(status == 0, said)
    run = json.loads(record.ask("report", "last", "--db", record.db, "--json"))["run"]
    peak = run.get("peak_bytes") or run.get("peak_group_bytes")
    expect(peak is not None, sorted(run))
    expect(200 << 20 <= peak < 300 << 20, f"peak {peak}")
    expect("at least" not in said, said)
    return f"memory.peak: {mebibytes(peak)}"


def files_in_tmpfs_and_anonymous_memory_are_read_from_outside(settings):
    """`ebb doctor --cgroup` of a service that Ebb did not start, by its folder and by its name."""
    record = Record(settings, "outside")
    file, ready = Path("/dev/shm/ebb-outside"), record.folder / "ready"
    job = ["/usr/bin/python3", "-c",
           f"import time\nopen('{file}', 'wb').write(b'x' * (60 << 20))\nkept = bytearray(100 << 20)\n"
           f"open('{ready}', 'w').close()\ntime.sleep(600)"]
    service = subprocess.Popen(unit("ebboutside", job, "MemoryMax=300M"), stdout=subprocess.DEVNULL)
    try:
        wait_for("the service has its memory", ready.exists)
        said = []
        for path in ("/sys/fs/cgroup/system.slice/ebboutside.service", "/system.slice/ebboutside.service"):
            told = json.loads(record.ask("doctor", "--cgroup", path, "--json"))
            parts = told["parts"]
            expect(abs(parts["tmpfs_bytes"] - (60 << 20)) < 1 << 20, parts)
            expect(told["limit_bytes"] == 300 << 20, told["limit_bytes"])
            expect(len(told["processes"]) == 1 and told["processes"][0]["bytes"] > 100 << 20, told["processes"])
            for known in ("slab_bytes", "kernel_stacks_bytes", "page_tables_bytes", "sockets_bytes"):
                expect(parts[known] is not None, f"{known} is not known: {parts}")
            said.append(adds_up(told))
        above = json.loads(record.ask("doctor", "--cgroup", "/sys/fs/cgroup/system.slice", "--json"))
        said.append(f"the slice above: {adds_up(above)}, {len(above['processes'])} processes")
        return "; ".join(said)
    finally:
        call(["systemctl", "stop", "ebboutside.service"])
        service.wait()
        file.unlink(missing_ok=True)


def the_group_is_pressed_and_ebb_reads_it(settings):
    """Above MemoryHigh the kernel holds the job back: tasks stand still, and the group's own pressure says so."""
    record = Record(settings, "pressure")
    service = subprocess.Popen(unit("ebbpressed", record.run(record.dies("leak"), "--interval", "100ms"),
                                    "MemoryHigh=100M", "MemoryMax=400M", "MemorySwapMax=0"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        group = GROUPS / "system.slice/ebbpressed.service"
        wait_for("its group is there", (group / "memory.pressure").exists)

        def pressure():
            return (group / "memory.pressure").read_text()

        def events():
            return (group / "memory.events").read_text()

        wait_for(lambda: f"the group is pressed: {pressure()} {events()}",
                 lambda: float(pressure().split("avg10=")[1].split()[0]) > 1)

        def seen():
            info = json.loads(record.ask("info", "--pid", job_of(group), "--json"))
            return info["pressure_some_avg10"]

        told = wait_for("ebb info tells pressure", seen)
        return f"kernel: {pressure().splitlines()[0]}; ebb info: {told}; {' '.join(events().split())}"
    finally:
        call(["systemctl", "kill", "--signal=KILL", "ebbpressed.service"])
        service.wait()


def job_of(group):
    for pid in (group / "cgroup.procs").read_text().split():
        if Path(f"/proc/{pid}/comm").read_text().strip() == "dies":
            return pid
    raise Failed(f"no job in {group}")


def every_event_near_the_limit_is_a_look(settings):
    """Page cache that is dropped again and again: the group meets its limit, nobody is killed, and samples come."""
    record = Record(settings, "events")
    job = ["/usr/bin/python3", "-c",
           f"import os\nkept = bytearray(180 << 20)\nfor i in range(6):\n"
           f"  f = open('{record.folder}/large', 'wb')\n  f.write(bytes(120 << 20)); f.flush(); os.fsync(f.fileno())\n"
           f"  f.close()"]
    status, said = call(unit("ebbevents", record.run(job, "--interval", "10s", "--warn", "98", "--critical", "99"),
                             "MemoryMax=400M", "MemorySwapMax=0"))
    expect(status == 0, f"{status}: {said}")
    told = record.doctor()
    expect(told["run"]["death"] is None, told["run"])
    return said.strip()


def cases(settings):
    return [Case.of(one, settings) for one in (
        a_service_that_is_full_names_its_own_group, a_slice_that_is_full_names_the_level_above,
        without_the_log_the_counts_name_the_level, a_group_that_is_killed_as_a_whole_leaves_a_record,
        a_command_that_moves_into_a_scope_is_followed, the_peak_of_a_job_is_that_of_its_group,
        files_in_tmpfs_and_anonymous_memory_are_read_from_outside, the_group_is_pressed_and_ebb_reads_it,
        every_event_near_the_limit_is_a_look)]
