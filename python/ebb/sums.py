# SPDX-License-Identifier: Apache-2.0
"""Weighted means of NumPy arrays and PyTorch tensors, with the same bits in whatever order they come.

  mean = TensorSum()
  for values, weight in results:
      mean.add(values, weight)
  print(mean.take())
"""

from __future__ import annotations

import ctypes
import math
import weakref
from typing import Any, Sequence

from . import _abi, errors
from ._forks import Lock
from ._library import check, library

_TYPES = {"float32": 1, "float64": 2, "float16": 3, "bfloat16": 4, "int8": 5, "int16": 6, "int32": 7,
          "int64": 8, "uint8": 9, "bool": 9}


class TensorSum:
    """One accumulator in native memory: a little more than 8 bytes per element, and no temporaries.

    Takes arrays and tensors of one shape, of float16, bfloat16, float32, float64, bool and integers up
    to 64 bits. The mean has the narrowest floating-point type that can hold all of theirs; for integers
    that is float64. Thread-safe; a child forked while another thread adds to it gets `Forked`.
    """

    def __init__(self) -> None:
        self._lock = Lock("this sum")
        self._sum: ctypes.c_void_p | None = None
        self._kept: tuple[Any, float] | None = None
        self._shape: tuple[int, ...] | None = None
        self._kind = ""
        self._types: set[str] = set()

    def check(self, values: Any) -> None:
        """Raises BadInput if `values` cannot be added to this sum."""
        with self._lock:
            self._check_finite(self._fitting(values))

    def add(self, values: Any, weight: float = 1.0, *, keep: bool = False, checked: bool = False) -> None:
        """Adds weight * values; adding them with the negative weight takes them back. Raises BadInput, with
        nothing added, for another shape, an unknown type or a value that is not finite.

        `keep` promises that nobody changes `values` any more. The first addition is then held as it is,
        and no accumulator is needed until the second. `checked` says that `check` has just accepted them:
        they are then not read once more to be kept.
        """
        if not math.isfinite(weight):
            raise errors.BadInput(f"weight {weight}: expected a finite number")
        with self._lock:
            whole = self._fitting(values)
            if keep and self._sum is None and self._kept is None:
                if not checked:
                    self._check_finite(whole)
                self._kept = whole, float(weight)
                self._remember(whole)
                return
            self._add_kept()
            self._add(whole, float(weight))

    def mean(self) -> Any:
        """The mean of what was added, as a new array or tensor. More can be added afterwards."""
        return self._read(release=False)

    def take(self) -> Any:
        """The mean. The sum frees its memory while it is read, and is empty afterwards."""
        return self._read(release=True)

    @property
    def additions(self) -> int:
        with self._lock:
            return int(self._report().additions) + (self._kept is not None)

    @property
    def weight(self) -> float:
        with self._lock:
            return float(self._report().weight) + (self._kept[1] if self._kept is not None else 0.0)

    @property
    def nbytes(self) -> int:
        """Bytes of native memory."""
        with self._lock:
            return int(self._report().bytes)

    def _report(self) -> _abi.SumReport:
        report = _abi.SumReport(struct_size=ctypes.sizeof(_abi.SumReport))
        if self._sum is not None:
            check(library().ebb_sum_info(self._sum, ctypes.byref(report)))
        return report

    def _fitting(self, values: Any) -> Any:
        """The values in one piece of memory; raises if shape or type do not fit this sum."""
        shape, kind, name, whole = _described(values)
        if name not in _TYPES:
            raise errors.BadInput(f"{kind} of {name}: expected {', '.join(_TYPES)}")
        if self._shape is not None and shape != self._shape:
            raise errors.BadInput(f"shape {shape}: expected {self._shape}, as before")
        if self._shape is not None and kind != self._kind:
            raise errors.BadInput(f"{kind}: expected {self._kind}, as before")
        return whole

    @staticmethod
    def _check_finite(whole: Any) -> None:
        name = _described(whole)[2]
        check(library().ebb_sum_check(_TYPES[name], _elements(whole.shape), _address(whole)))

    def _remember(self, whole: Any) -> None:
        self._shape, self._kind, name, _ = _described(whole)
        self._types.add(name)

    def _add(self, whole: Any, weight: float) -> None:
        made = self._sum or self._new_sum(whole)
        name = _described(whole)[2]
        check(library().ebb_sum_add(made, _TYPES[name], _address(whole), weight))
        self._sum = made  # what is refused decides no shape
        self._remember(whole)

    def _new_sum(self, whole: Any) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        check(library().ebb_sum_create(_elements(whole.shape), ctypes.byref(made)))
        weakref.finalize(made, library().ebb_sum_destroy, ctypes.c_void_p(made.value))
        return made

    def _add_kept(self) -> None:
        if self._kept is not None:
            (whole, weight), self._kept = self._kept, None
            self._add(whole, weight)

    def _read(self, release: bool) -> Any:
        with self._lock:
            self._add_kept()
            if self._sum is None or self._shape is None:
                raise errors.BadInput("nothing was added: expected one addition or more")
            name = _mean_type(self._types)
            result: Any
            if self._kind == "numpy array":
                import numpy
                result = numpy.empty(self._shape, name)
            else:
                import torch
                result = torch.empty(self._shape, dtype=getattr(torch, name))
            check(library().ebb_sum_mean(self._sum, _TYPES[name], _address(result), int(release)))
            return result


def _mean_type(types: set[str]) -> str:
    """The narrowest that holds all of them, whichever came first."""
    if not types <= {"float16", "bfloat16", "float32"}:
        return "float64"
    return next(iter(types)) if len(types) == 1 else "float32"


def _described(values: Any) -> tuple[tuple[int, ...], str, str, Any]:
    """(shape, kind, name of the type, the same values in one piece of this process's memory)."""
    if hasattr(values, "data_ptr"):
        tensor = values.detach().cpu().contiguous()
        return tuple(tensor.shape), "PyTorch tensor", str(tensor.dtype).removeprefix("torch."), tensor
    if hasattr(values, "__array_interface__"):
        import numpy
        array = numpy.ascontiguousarray(values).reshape(numpy.shape(values))
        name = array.dtype.name if array.dtype.isnative else "another byte order"
        return tuple(array.shape), "numpy array", name, array
    raise errors.BadInput(f"{type(values).__name__}: expected a NumPy array or a PyTorch tensor")


def _elements(shape: Sequence[int]) -> int:
    elements = 1
    for extent in shape:
        elements *= extent
    return elements


def _address(values: Any) -> int | None:
    address: int = values.data_ptr() if hasattr(values, "data_ptr") else values.ctypes.data
    return address or None
