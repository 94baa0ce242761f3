# SPDX-License-Identifier: Apache-2.0
"""Cleanups in clients that live longer than one message."""

from __future__ import annotations

import functools
import os
from typing import Any, Callable

from flwr.app import Context, Message

from ..rounds import RoundKeeper
from .grid import is_training


class EbbMemoryMod:
    """A mod for `ClientApp(mods=[EbbMemoryMod()])`: every training is a round, after which the client's
    process is cleaned up as `every` says, see `ebb.RoundKeeper`. Put it first, so that it runs last.

    Rounds are counted by process, as one process may serve many clients and load the app anew for each
    message. Can be pickled. Thread-safe.
    """

    def __init__(self, every: int | str | None = None, cuda_empty_cache: bool | None = None) -> None:
        RoundKeeper("client", every, cuda_empty_cache)  # refuses here what it would refuse there
        self.every = every
        self.cuda_empty_cache = cuda_empty_cache

    def __call__(self, message: Message, context: Context,
                 call_next: Callable[[Message, Context], Message]) -> Message:
        try:
            return call_next(message, context)
        finally:
            if is_training(message):
                _keeper(os.getpid(), self.every, self.cuda_empty_cache).round_done()


@functools.cache
def _keeper(_process: int, every: Any, cuda_empty_cache: bool | None) -> RoundKeeper:
    return RoundKeeper("client", every, cuda_empty_cache)
