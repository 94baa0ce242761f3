# SPDX-License-Identifier: Apache-2.0
"""Weighted means of named NumPy arrays that come one after the other, as Flower's FedAvg makes them of
all at once."""

from __future__ import annotations

import math
from typing import Any, Iterator

import numpy

from .. import errors
from ..sums import TensorSum

# What TensorSum adds exactly.
_EXACT = frozenset({"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"})


class WeightedMeans:
    """One running mean for each name. Their types, values that are not finite, shapes that NumPy broadcasts
    and shapes that do not fit are dealt with as in `mean += values * (weight / total)`, with NumPy's own
    exceptions. Not thread-safe."""

    def __init__(self) -> None:
        self._means: dict[str, _ExactMean | _PlainMean] = {}
        self._weights: list[float] = []

    def weigh(self, weight: float) -> None:
        """Says how much the arrays weigh that are added next."""
        self._weights.append(weight)

    def add(self, name: str, values: Any) -> None:
        """Nobody may change `values` any more."""
        values = numpy.asarray(values, values.dtype.newbyteorder("="))
        if name not in self._means:
            self._means[name] = (_ExactMean if values.dtype.name in _EXACT else _PlainMean)(values)
        if math.isfinite(self._weights[-1]):
            self._means[name].add(values, float(self._weights[-1]))

    def take(self) -> Iterator[tuple[str, Any]]:
        """Names and means. Each sum is freed while its mean is made."""
        total = sum(self._weights)
        shares = [weight / total for weight in self._weights]  # raises where Flower does
        is_finite = all(map(math.isfinite, shares))
        for name in list(self._means):
            one = self._means.pop(name)
            yield name, one.take(total) if is_finite else numpy.full(one.shape, math.nan, one.type)


class _ExactMean:
    """The mean of the exact sum of all finite values; the others are added beside it."""

    def __init__(self, first: Any) -> None:
        self.shape = first.shape
        self.type = _type_of_products(first)
        self._sum = TensorSum()
        self._others: Any = None

    def add(self, values: Any, weight: float) -> None:
        if values.shape != self.shape or values.dtype.name not in _EXACT:
            # Fits if NumPy says so, and raises what NumPy raises.
            fitted = numpy.zeros(self.shape, self.type)
            fitted += values * 1.0
            values = fitted
        try:
            self._sum.add(values, weight, keep=True)
        except errors.BadInput:
            finite = numpy.isfinite(values)
            self._sum.add(numpy.where(finite, values, values.dtype.type(0)), weight, keep=True)
            if self._others is None:
                self._others = numpy.zeros(self.shape, self.type)
            with numpy.errstate(invalid="ignore"):
                self._others += numpy.where(finite, 0, values) * weight

    def take(self, total: float) -> Any:
        mean = self._sum.take().astype(self.type, copy=False)
        if self._others is not None:
            mean += self._others * math.copysign(1.0, total)
        return mean


class _PlainMean:
    """For types of which there is no exact sum, such as complex numbers."""

    def __init__(self, first: Any) -> None:
        self.shape = first.shape
        self.type = _type_of_products(first)
        self._sum = numpy.zeros(self.shape, self.type)

    def add(self, values: Any, weight: float) -> None:
        self._sum += values * weight

    def take(self, total: float) -> Any:
        return numpy.asarray(self._sum / total, self.type)


def _type_of_products(values: Any) -> Any:
    """The type of values * 0.5, which may be another for a single value than for an array."""
    return (numpy.zeros((0,) if values.ndim else (), values.dtype) * 1.0).dtype
