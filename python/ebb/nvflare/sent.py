# SPDX-License-Identifier: Apache-2.0
"""Lets go of what a client has sent."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from nvflare.apis.fl_constant import FLContextKey

from .results import let_go

# NVFlare's runner, which is about to drop it; the variable here; the argument of the question.
_HOLDERS = 3


class SentResult:
    """The result of the task at hand. NVFlare's contexts and its runner hold it until the next task is asked for."""

    def __init__(self) -> None:
        self._result: weakref.ref[Any] | None = None

    def leaves(self, fl_ctx: Any) -> None:
        """Its filters are done: this is what will be sent."""
        result = fl_ctx.get_prop(FLContextKey.TASK_RESULT)
        self._result = None if result is None else weakref.ref(result)

    def is_sent(self, fl_ctx: Any) -> None:
        """Drops it from the contexts and empties it, unless somebody else holds it too: an executor may keep
        what it answers with."""
        let_go(fl_ctx)
        result = self._result() if self._result is not None else None
        self._result = None
        if result is not None and sys.getrefcount(result) <= _HOLDERS:
            result.clear()
