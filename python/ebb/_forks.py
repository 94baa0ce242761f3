# SPDX-License-Identifier: Apache-2.0
"""Locks and other objects in a defined state in a forked child, where the threads that held them are missing."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType
from typing import Any

from . import errors

_renewed: weakref.WeakSet[Any] = weakref.WeakSet()


def renew(thing: Any) -> None:
    """Calls `thing.renew_after_fork()` in every forked child, for as long as `thing` lives."""
    _renewed.add(thing)


class Lock:
    """A lock that no thread of the parent holds in a forked child.

    `guarded` names what a thread leaves half done where it is forked away in the middle of it: whoever enters the
    lock in such a child gets `Forked`, until `forget()`. "" for what is whole at any moment.
    """

    __slots__ = ("_lock", "_owner", "_guarded", "_is_torn", "__weakref__")

    def __init__(self, guarded: str = "") -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._guarded = guarded
        self._is_torn = False
        renew(self)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._owner = threading.get_ident()
        if self._is_torn and self._guarded:
            self.__exit__(None, None, None)
            raise errors.Forked(f"process {os.getpid()} was forked while another thread was changing "
                                f"{self._guarded}: expected a fork before or after that")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._owner = None
        self._lock.release()

    def forget(self) -> None:
        """What is guarded is made anew."""
        self._is_torn = False

    def renew_after_fork(self) -> None:
        # The thread that forked lives on, and releases what it holds.
        if self._lock.locked() and self._owner != threading.get_ident():
            self._lock = threading.Lock()
            self._owner = None
            self._is_torn = True


def _after_fork_in_child() -> None:
    for thing in list(_renewed):
        thing.renew_after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
