# SPDX-License-Identifier: Apache-2.0
"""Cases in which each call that Ebb makes for one job fails, in turn.

What is swept is counted first, in runs in which no call fails. Each call of each kind then fails with each of its
errors, by its number; memory runs out for one call, and from that one on for all. The program asks for memory tens of
thousands of times, from hundreds of places: at each of these the first call fails, the second, the last and DRAWN
others.

Which shard a case belongs to depends on nothing but the case: shards that count a little differently leave out none.
"""
import concurrent.futures
import random
import re
import zlib
from dataclasses import dataclass

import drawing
import running



@dataclass(frozen=True)
class SweptCase(drawing.Case):
    def __str__(self):
        return f"--swept '{self.fault.order()}': {super().__str__()}"


# A native job that is over in a moment (`brief` in random_job.cpp), and one in Python. What they do with memory counts as
# critical, so that there are cleanups; the supervisor looks a few times.
NATIVE = SweptCase(0, 7, (), None, ("--interval", "100ms", "--warn", "0.01", "--critical", "0.02", "--sites"),
                      job_words=("brief",))
PYTHON = SweptCase(0, 7, (), None, NATIVE.options, "python")
COUNTING_RUNS = 3
DRAWN = 2

ERRORS = drawing.CALLS | drawing.MORE_CALLS
SWEPT = (*((where, call) for where, calls in (("ebb", tuple(drawing.CALLS)), ("agent", drawing.AGENTS),
                                              ("libebb", drawing.LIBRARYS)) for call in calls),
         *((where, call) for where in ("ebb", "agent", "libebb") for call in drawing.MORE_CALLS))


def job_of(where):
    return PYTHON if where == "libebb" else NATIVE


def counted(trial, where, call):
    """The places that make such calls, and how many at most in a run; the last is of all places."""
    most, of_all = {}, 0
    for _ in range(COUNTING_RUNS):
        case = job_of(where).with_fault(drawing.ShimFault(where, call, 0, 0, 1))
        folder = running.Folder(trial.next_folder())
        running.run_under_ebb(trial.programs, case, folder)
        in_run = {}
        for what, number, site in trial.note_sites(folder.report):
            if what == "call":
                place = site.split(" ", 1)[1]
                in_run[place] = in_run.get(place, 0) + 1
                of_all = max(of_all, int(number))
        folder.remove()
        for place, count in in_run.items():
            most[place] = max(count, most.get(place, 0))
        if not in_run:
            break
    return most, of_all


def numbers_at(place, count):
    """Which calls of a place fail, if not all."""
    chosen = {1, 2, count, *(random.Random(place).randint(1, count) for _ in range(DRAWN))}
    return sorted(number for number in chosen if number <= count)


def faults_of(where, call, most, of_all):
    """All faults of one kind, each with what it is sorted into shards by."""
    # Where memory is out it mostly stays so.
    times = (1, 0) if call == "malloc" else (1,)
    if (where, call) == ("ebb", "malloc"):
        for place, count in sorted(most.items()):
            for number in numbers_at(place, count):
                for many in times:
                    yield zlib.crc32(place.encode()), drawing.ShimFault(where, call, ERRORS[call][0], number, many,
                                                                        drawing.hash_of_place(place))
        return
    index = zlib.crc32(f"{where} {call}".encode())
    for number in range(1, of_all + 1):
        for error in ERRORS[call]:
            for many in times:
                index += 1
                yield index, drawing.ShimFault(where, call, error, number, many)


def swept(trial, shard, side_by_side):
    """All cases of a shard, which is a number from 1 on and how many there are. And how many cases there are in all."""
    cases, total = [], 0
    with concurrent.futures.ThreadPoolExecutor(side_by_side) as pool:
        counts = list(pool.map(lambda kind: counted(trial, *kind), SWEPT))
    for (where, call), count in zip(SWEPT, counts):
        for index, fault in faults_of(where, call, *count):
            total += 1
            if index % shard[1] == shard[0] - 1:
                cases.append(job_of(where).with_fault(fault))
    return cases, total


def again(words):
    """The case of a sweep with this fault, as the sweep has told it."""
    found = re.fullmatch(r"in=(\w+) call=(\w+) errno=(-?\d+) from=(\d+) times=(\d+)(?: at=([0-9a-f]+))?", words)
    if found is None or (found[1], found[2]) not in SWEPT:
        raise ValueError(f"'{words}': expected in=WHERE call=CALL errno=N from=N times=N [at=PLACE], as a sweep tells it")
    fault = drawing.ShimFault(found[1], found[2], int(found[3]), int(found[4]), int(found[5]), found[6] or "")
    return job_of(found[1]).with_fault(fault)
