# SPDX-License-Identifier: Apache-2.0
"""When garbage is worth collecting."""

from __future__ import annotations

from .. import hooks
from ..memory import CleanupReport

_MIB = 1 << 20
_WORTH_COLLECTING = 16 * _MIB
_WORTH_COLLECTING_SHARE = 0.1


class GarbageWatch:
    """A collection visits every object, 20 to 50 ms in a process of NVFlare, and mostly finds nothing: what a round leaves
    is freed when its last reference goes. Only cycles need a collection, and those that hold memory show in what a cleanup
    leaves: live or resident bytes have grown since the last collection. A device's memory does not show there."""

    def __init__(self) -> None:
        self._least: tuple[int, int] | None = None

    def may_hold_memory(self, report: CleanupReport) -> bool:
        """Of a cleanup without a collection. True where nothing can be said."""
        if report.disabled:
            return False
        left = _left_by(report)
        if left is None or self._least is None or hooks.uses_cuda():
            return True
        if any(now > least + max(_WORTH_COLLECTING, _WORTH_COLLECTING_SHARE * least)
               for now, least in zip(left, self._least)):
            return True
        self._least = min(left[0], self._least[0]), min(left[1], self._least[1])
        return False

    def collected(self, report: CleanupReport) -> None:
        """After a cleanup with one."""
        self._least = _left_by(report)


def _left_by(report: CleanupReport) -> tuple[int, int] | None:
    return None if report.live_after_bytes is None else (report.live_after_bytes, report.rss_after_bytes)
