# SPDX-License-Identifier: Apache-2.0
"""A live view of this process's memory, for notebooks and terminals."""

from __future__ import annotations

import html
import sys
import threading
import time
from collections import deque
from types import TracebackType
from typing import Any

from . import errors
from ._forks import Lock, renew
from .memory import MemoryInfo, read_memory, rss

_MIB = 1 << 20
_BARS = "▁▂▃▄▅▆▇█"


class Watch:
    """Samples resident memory in the background until `stop()`, and shows it.

    In a notebook the output of `ebb.watch()` is a live view. Elsewhere `print(watch)` shows the current
    state. Thread-safe.
    """

    def __init__(self, interval: float = 1.0, history: int = 600) -> None:
        if not interval > 0:
            raise errors.BadInput(f"interval {interval}: expected seconds, more than 0")
        if history < 2:
            raise errors.BadInput(f"history {history}: expected 2 samples or more")
        self.interval = interval
        self._samples: deque[tuple[float, int]] = deque(maxlen=history)
        self._lock = Lock()
        self._stopped = threading.Event()
        self._display: Any = None
        self.sample()
        self._thread = threading.Thread(target=self._run, name="ebb-watch", daemon=True)
        self._thread.start()
        renew(self)

    def sample(self) -> int:
        """Takes a sample now and returns the resident bytes."""
        now = rss()
        with self._lock:
            self._samples.append((time.monotonic(), now))
        return now

    @property
    def samples(self) -> list[tuple[float, int]]:
        """(seconds of the monotonic clock, resident bytes), oldest first."""
        with self._lock:
            return list(self._samples)

    @property
    def running(self) -> bool:
        return not self._stopped.is_set() and self._thread.is_alive()

    def stop(self) -> None:
        """Ends the sampling; the samples so far stay."""
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def renew_after_fork(self) -> None:
        # Its lock may have been taken; the thread that waited for it is missing.
        self._stopped = threading.Event()

    def show(self) -> None:
        """Shows a live view in the notebook's output. Does nothing elsewhere."""
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython is not None else None
        if shell is not None and self._display is None:
            from IPython.display import display
            self._display = display(self, display_id=True)

    def _run(self) -> None:
        while not self._stopped.wait(self.interval):
            self.sample()
            if self._display is not None:
                self._display.update(self)

    def _rate(self) -> float:
        """Bytes per second over the samples that are kept."""
        samples = self.samples
        seconds = samples[-1][0] - samples[0][0]
        return (samples[-1][1] - samples[0][1]) / seconds if seconds > 0 else 0.0

    def _line(self) -> str:
        info = read_memory()
        state = "running" if self.running else "stopped"
        return (f"{state}: rss {_mib(info.rss_bytes)}, peak {_mib(info.hwm_bytes)}, "
                f"{_held(info)}{info.percent:.1f} % of {_mib(info.limit_bytes)}, "
                f"{self._rate() * 60 / _MIB:+.1f} MiB/min")

    def __repr__(self) -> str:
        values = [value for _, value in self.samples][-60:]
        low, high = min(values), max(values)
        span = max(1, high - low)
        line = "".join(_BARS[(value - low) * (len(_BARS) - 1) // span] for value in values)
        return f"ebb.Watch {self._line()}\n{line}"

    def _repr_html_(self) -> str:
        samples = self.samples
        start, low = samples[0][0], min(value for _, value in samples)
        span = max(_MIB, max(value for _, value in samples) - low)
        width = max(1e-9, samples[-1][0] - start)
        points = " ".join(f"{(when - start) / width * 600:.1f},{78 - (value - low) / span * 74:.1f}"
                          for when, value in samples)
        return (f'<div style="font:13px monospace">{html.escape(self._line())}<br>'
                f'<svg width="600" height="80" role="img" aria-label="resident memory over time">'
                f'<polyline points="{points}" fill="none" stroke="#2a7ab0" stroke-width="1.5"/>'
                f"</svg></div>")

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.stop()


def watch(interval: float = 1.0, history: int = 600) -> Watch:
    """Watches this process's memory; in a notebook, live. `stop()` ends it."""
    made = Watch(interval, history)
    made.show()
    return made


def _mib(value: int) -> str:
    return f"{value / _MIB:.1f} MiB"


def _held(info: MemoryInfo) -> str:
    return f"retained {_mib(info.retained_bytes)}, " if info.retained_bytes is not None else ""
