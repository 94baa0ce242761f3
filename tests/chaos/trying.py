# SPDX-License-Identifier: Apache-2.0
"""Tries cases side by side, and says how far it has come."""
import concurrent.futures
import sys
import time

SECONDS_BETWEEN_LINES = 60


class Progress:
    """How many of a known number of cases are done: in place on a terminal, else a line each minute."""

    def __init__(self, trial, total):
        self.trial, self.total = trial, total
        self.begun = self.told = time.monotonic()

    def tell(self):
        now = time.monotonic()
        is_terminal = sys.stderr.isatty()
        if now < self.told + (0.2 if is_terminal else SECONDS_BETWEEN_LINES):
            return
        self.told = now
        line = (f"{self.trial.cases} of {self.total} cases in {now - self.begun:.0f} s, {len(self.trial.findings)} "
                "findings")
        print(*(("\r" + line,) if is_terminal else (line,)), end="" if is_terminal else "\n", file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class NoProgress:
    def tell(self):
        pass

    def end(self):
        pass


def try_all(cases, trial, side_by_side, until, progress):
    """Until they end, the time is over, or somebody asks to: those under way are judged, and nothing of theirs is left.
    Whether they have come to their end."""
    with concurrent.futures.ThreadPoolExecutor(side_by_side) as pool:
        waiting = set()
        try:
            for case in cases:
                if time.monotonic() >= until:
                    return False
                waiting.add(pool.submit(trial.run, case))
                if len(waiting) >= side_by_side:
                    waiting = concurrent.futures.wait(waiting, return_when="FIRST_COMPLETED").not_done
                progress.tell()
        except KeyboardInterrupt:
            print("stopped")
            return False
        finally:
            progress.end()
    return True
