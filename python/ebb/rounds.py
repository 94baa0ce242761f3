# SPDX-License-Identifier: Apache-2.0
"""Cleanups by rounds."""

from __future__ import annotations

import ctypes
import functools
import inspect
import os
import weakref
from types import TracebackType
from typing import Any, Callable, TypeVar

from . import _abi, errors
from ._library import check, library
from .memory import CleanupReport, new_report, report_from

_Function = TypeVar("_Function", bound=Callable[..., Any])


class RoundKeeper:
    """Cleans up after rounds, as often as the role recommends or as told.

      keeper = RoundKeeper("server")
      for round in range(rounds):
          with keeper:                 # one round; an exception ends it as well
              train()

      @RoundKeeper("client", every=2)  # each call is one round
      def train_round(): ...

    `role`: "server", "client", "trainer", "aggregator" or "simulator"; None for what EBB_ROLE says, else
    "trainer". `every`: rounds between cleanups; 0 for none; "auto" to decide by measured benefit and cost;
    None for what the environment says, else what suits the role. Thread-safe.
    """

    def __init__(self, role: str | None = None, every: int | str | None = None,
                 cuda_empty_cache: bool | None = None) -> None:
        options = _abi.KeeperOptions(struct_size=ctypes.sizeof(_abi.KeeperOptions),
                                     role=None if role is None else role.encode(),
                                     rounds=_abi.ROUNDS_DEFAULT, cuda_empty_cache=-1)
        if every == "auto":
            options.rounds = _abi.ROUNDS_AUTO
        elif isinstance(every, int) and not isinstance(every, bool):
            options.rounds, options.every = _abi.ROUNDS_EVERY, every
        elif every is not None:
            raise errors.BadInput(f"every={every!r}: expected a number of rounds, 'auto' or None")
        if cuda_empty_cache is not None:
            options.cuda_empty_cache = int(bool(cuda_empty_cache))
        self.role = role or os.environ.get("EBB_ROLE") or "trainer"
        self.last_report: CleanupReport | None = None
        self.returned_bytes = 0
        self._keeper = ctypes.c_void_p()
        check(library().ebb_keeper_create(ctypes.byref(options), ctypes.byref(self._keeper)))
        weakref.finalize(self, library().ebb_keeper_destroy, self._keeper)

    def round_done(self, round: int | None = None) -> CleanupReport | None:
        """Call after each round. A round that is given its number (from 0) counts once, however often it
        is announced. Returns the report if it cleaned up."""
        cleaned = ctypes.c_int()
        native = new_report()
        if round is None:
            code = library().ebb_keeper_round_done(self._keeper, ctypes.byref(cleaned),
                                                   ctypes.byref(native))
        elif round < 0:
            raise errors.BadInput(f"round {round}: expected 0 or more")
        else:
            code = library().ebb_keeper_numbered_round_done(
                self._keeper, round, ctypes.byref(cleaned), ctypes.byref(native))
        check(code)
        if not cleaned.value:
            return None
        self.last_report = report_from(native)
        self.returned_bytes += self.last_report.returned_bytes
        return self.last_report

    def __enter__(self) -> RoundKeeper:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.round_done()

    def __call__(self, function: _Function) -> _Function:
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def one_async_round(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await function(*args, **kwargs)
            return one_async_round  # type: ignore[return-value]

        @functools.wraps(function)
        def one_round(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)
        return one_round  # type: ignore[return-value]
