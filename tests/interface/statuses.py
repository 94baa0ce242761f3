# SPDX-License-Identifier: Apache-2.0
"""The exit statuses of a table of commands.

exit_statuses.txt has a line per command: the status, then the command. -N stands for signal N.
A command of `ebb_call` ends with the code that the call returned.
"""
from concurrent.futures import ThreadPoolExecutor
from typing import List, Tuple

from programs import Programs
from recordings import Part, Recording


def rows_of(recording: Recording) -> List[Tuple[str, str]]:
    """The recorded status of each command; `?` where it is to be recorded."""
    return [(status, line) for status, line in
            (row.split(maxsplit=1) for row in recording.lines())]


def found(recording: Recording, programs: Programs) -> List[Tuple[str, str, str]]:
    rows = [(status, line) for status, line in rows_of(recording) if programs.can_run(line)]
    with ThreadPoolExecutor(2) as pool:
        finished = pool.map(lambda row: programs.run(row[1]), rows)
        return [(status, line, str(done.status)) for (status, line), done in zip(rows, finished)]


def check(recording: Recording, programs: Programs) -> Part:
    violations = [f"{line}: ended with {status}, and now with {now}"
                  for status, line, now in found(recording, programs) if now != status]
    skipped = [line for _, line in rows_of(recording) if not programs.can_run(line)]
    return Part(violations, [], skipped)


def update(recording: Recording, programs: Programs) -> Recording:
    now = {line: status for _, line, status in found(recording, programs)}
    rows = [f"{now.get(line, status) if status == '?' else status}  {line}"
            for status, line in rows_of(recording)]
    return Recording(recording.opening, {"": rows})
