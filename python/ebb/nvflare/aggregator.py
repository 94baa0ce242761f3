# SPDX-License-Identifier: Apache-2.0
"""FedAvg's weighted mean in native memory: one accumulator, the same bits in whatever order clients
answer."""

from __future__ import annotations

import math
import re
from typing import Any

from nvflare.apis.fl_constant import FLMetaKey
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.aggregators.model_aggregator import ModelAggregator

from .. import errors
from .._forks import Lock
from ..sums import TensorSum


class EbbAggregator(ModelAggregator):
    """For `FedAvg(aggregator=EbbAggregator())` and every workflow that takes a ModelAggregator.

    Weights are NVFlare's: those of `aggregation_weights`, by client, times the steps that the client
    reports. A result with an array of another shape, or with a value that is not a finite number, is
    refused as a whole with an error in the log; nothing of it is added. Thread-safe.

    Args:
        exclude_vars: variables whose names match this pattern are left out.
        aggregation_weights: by name of client; 1.0 for those not listed.
        release_results: removes each array from a result's params as it is added, so that sums and
            results are never both in memory; the first result serves as its own accumulator. Set it to
            False if components read params afterwards.
    """

    def __init__(self, exclude_vars: str | None = None,
                 aggregation_weights: dict[str, float] | None = None,
                 release_results: bool = True) -> None:
        super().__init__()
        self.exclude_vars = exclude_vars
        self.aggregation_weights = aggregation_weights or {}
        self.release_results = release_results
        self._excluded = re.compile(exclude_vars) if exclude_vars else None
        self._lock = Lock("these sums")
        self.reset_stats()

    def reset_stats(self) -> None:
        self._lock.forget()
        with self._lock:
            self._sums: dict[str, TensorSum] = {}
            self._metrics: dict[str, list[tuple[float, float]]] | None = {}
            self._params_type: Any = None

    def accept_model(self, model: FLModel) -> None:
        weight = self._weight_of(model)
        params: dict[str, Any] = model.params or {}
        with self._lock:
            sums = {}
            for name, values in params.items():
                if self._excluded is None or not self._excluded.search(name):
                    sums[name] = self._sums.get(name) or TensorSum()
                    try:
                        sums[name].check(_in_memory(values))
                    except errors.BadInput as failure:
                        raise errors.BadInput(f"{name}: {failure}") from None
            # Nothing but a lack of memory can fail now, and that is the end of the sums anyway.
            for name in sums:
                if self.release_results:
                    sums[name].add(_in_memory(params.pop(name)), weight, keep=True, checked=True)
                else:
                    sums[name].add(_in_memory(params[name]), weight)
            self._sums.update(sums)
            if self._params_type is None:
                self._params_type = model.params_type
            if model.metrics is None:
                self._metrics = None  # a mean over some of the clients would mislead
            elif self._metrics is not None:
                for name, value in model.metrics.items():
                    if isinstance(value, (int, float)):
                        self._metrics.setdefault(name, []).append((float(value), weight))

    def aggregate_model(self) -> FLModel:
        with self._lock:
            if not self._sums:
                raise errors.BadInput("no result was accepted: expected one or more")
            # One by one, so that each accumulator is gone before the next mean is made.
            params = {name: self._sums.pop(name).take() for name in list(self._sums)}
            metrics = {name: math.fsum(value * weight for value, weight in values) /
                       math.fsum(weight for _, weight in values)
                       for name, values in (self._metrics or {}).items()}
            params_type = self._params_type
        self.reset_stats()
        return FLModel(params=params, params_type=params_type, metrics=metrics or None)

    def _weight_of(self, model: FLModel) -> float:
        meta = model.meta or {}
        own = float(self.aggregation_weights.get(str(meta.get("client_name")), 1.0))
        steps = meta.get(FLMetaKey.NUM_STEPS_CURRENT_ROUND)
        try:
            counted = 1.0 if steps is None or isinstance(steps, bool) else float(steps)
        except (TypeError, ValueError, OverflowError):
            counted = 1.0
        return own * (counted if math.isfinite(counted) and counted > 0 else 1.0)


def _in_memory(values: Any) -> Any:
    """Reads what NVFlare's disk offload left in a file; returns anything else as it is."""
    materialize = getattr(values, "materialize", None)
    return materialize() if callable(materialize) else values
