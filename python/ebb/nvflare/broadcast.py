# SPDX-License-Identifier: Apache-2.0
"""One model in memory, however many clients it is sent to."""

from __future__ import annotations

import copy
import weakref
from typing import Any, Iterator

from .._forks import Lock


class SharedBroadcast:
    """Makes copies of what is sent share its NumPy arrays, which are read-only meanwhile. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._locked: list[Any] = []

    def share(self, shareable: Any) -> None:
        """The next deep copy of `shareable` copies everything but arrays."""
        if shareable is None or "__deepcopy__" in vars(shareable):
            return

        # Weak: a model that only a cycle holds would live until garbage is collected.
        original = weakref.ref(shareable)

        def copy_without_arrays(memo: dict[int, Any]) -> Any:
            whole = original()
            del vars(whole)["__deepcopy__"]
            arrays = list(_arrays_in(whole))
            with self._lock:
                for array in arrays:
                    if array.flags.writeable:
                        array.flags.writeable = False
                        self._locked.append(array)
            memo.update((id(array), array) for array in arrays)
            return copy.deepcopy(whole, memo)

        shareable.__deepcopy__ = copy_without_arrays

    def end(self) -> None:
        """Nothing is being sent any more: the arrays may be written to again."""
        with self._lock:
            for array in self._locked:
                array.flags.writeable = True
            self._locked.clear()


def _arrays_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _arrays_in(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _arrays_in(inner)
    elif hasattr(value, "__array_interface__") and hasattr(value, "flags"):
        yield value
