# SPDX-License-Identifier: Apache-2.0
"""Cases in which each call that Ebb makes for one job fails, in turn."""
import dataclasses
import math
import time

import drawing

# A quiet job of several processes; calls up to this number fail one by one, and the first from each place.
NATIVE_JOB = 7
PYTHON_JOB = 7
SWEPT_CALLS = 200


SWEPT = tuple((where, call) for where, calls in (("ebb", tuple(drawing.CALLS)), ("agent", drawing.AGENTS),
                                                 ("libebb", drawing.LIBRARYS)) for call in calls)


def cut_off(place, number):
    """What a sweep that ends in front of this call of SWEPT[place] has not tried."""
    where, call = SWEPT[place]
    later = ", ".join(f"{where} {call}" for where, call in SWEPT[place + 1:]) or "nothing"
    return f"CUT OFF BY TIME: {where} {call} from call {number} on; not begun: {later}"


def swept(trial, until):
    for place, (where, call) in enumerate(SWEPT):
        program, job = ("python", PYTHON_JOB) if where == "libebb" else ("native", NATIVE_JOB)
        error = drawing.CALLS[call][0]
        counting = drawing.Case(0, job, (), drawing.ShimFault(where, call, error, 0, 1), ("--interval", "50ms"),
                                program)
        trial.run(counting)
        numbers = sorted({*range(1, SWEPT_CALLS + 1), *trial.first.values()})
        # Where memory is out it mostly stays so.
        for times in (1, 0) if call == "malloc" else (1,):
            for number in numbers:
                if time.monotonic() >= until:
                    print(cut_off(place, number))
                    return
                if number > trial.unreached:
                    break
                fault = drawing.ShimFault(where, call, error, number, times)
                yield dataclasses.replace(counting, seed=number, fault=fault)
        trial.first.clear()
        trial.unreached = math.inf
