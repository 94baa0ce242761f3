# SPDX-License-Identifier: Apache-2.0
"""Flower's strategies, with one reply in memory at a time and cleanups between rounds."""

from __future__ import annotations

import copy
import functools
import gc
import logging
import sys
from typing import Any, Iterable

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import (FedAdagrad, FedAdam, FedAvg, FedAvgM, FedYogi, Result, Strategy)

from .. import errors, memory
from .._library import library
from ..rounds import RoundKeeper
from .grid import OneByOneGrid
from .means import WeightedMeans

log = logging.getLogger("flwr")  # the one whose lines a Flower job shows
_MIB = 1 << 20
# A trim walks the heap: not for replies that left less than this.
_WORTH_A_TRIM = 16 * _MIB
# Those whose aggregate_train does everything with FedAvg's mean.
_OF_THE_MEAN = tuple(kind.aggregate_train for kind in (FedAvg, FedAvgM, FedAdam, FedYogi, FedAdagrad))


class _Keeping(Strategy):
    """Cleans up when a round is over: before the next one is configured, and at the end. Under `ebb run`
    the supervisor does that, which knows the rounds from Flower's log."""

    ebb_every: int | str | None = None
    ebb_at_once = True
    _ebb_keeper: RoundKeeper | None = None
    _ebb_rss = sys.maxsize

    def start(self, grid: Grid, *args: Any, **kwargs: Any) -> Result:
        if self.ebb_at_once:
            memory.give_back_at_once()
            self._ebb_rss = memory.rss()
        self._ebb_keeper = RoundKeeper("server", self.ebb_every)
        result = super().start(self._ebb_grid(grid), *args, **kwargs)
        self._ebb_round_done("at the end")
        return result

    def configure_train(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord,
                        grid: Grid) -> Any:
        if server_round > 1:
            self._ebb_round_done(f"before round {server_round}")
        return super().configure_train(server_round, arrays, config, grid)

    def aggregate_train(self, server_round: int, replies: Iterable[Message]) -> Any:
        try:
            return super().aggregate_train(server_round, replies)
        finally:
            # Strategy.start would hold them until all replies of the next round are there, and the views
            # `array_records` and `metric_records`, each of which is a cycle, until garbage is collected.
            if isinstance(replies, list):
                replies.clear()
                gc.collect()
            self._ebb_trim()

    def _ebb_grid(self, grid: Grid) -> Grid:
        return grid

    def _ebb_trim(self) -> None:
        """If memory has grown enough since its last low."""
        if not self.ebb_at_once:
            return
        now = memory.rss()
        if now >= self._ebb_rss + _WORTH_A_TRIM:
            gc.collect(1)  # Flower's transfer leaves cycles, all of them young
            self._ebb_rss = memory.trim().rss_after_bytes
        else:
            self._ebb_rss = min(self._ebb_rss, now)

    def _ebb_round_done(self, when: str) -> None:
        if self._ebb_keeper is None or library().ebb_is_supervised():
            return
        report = self._ebb_keeper.round_done()
        if report is not None:
            log.info("Ebb %s: returned %.1f MiB, rss %.1f MiB -> %.1f MiB (%s)", when,
                     report.returned_bytes / _MIB, report.rss_before_bytes / _MIB,
                     report.rss_after_bytes / _MIB, memory.allocator())


class EbbFedAvg(_Keeping, FedAvg):
    """FedAvg in bounded memory: each reply is added to one running mean as it comes and dropped at once, so
    that memory does not grow with the number of clients.

    The mean is that of `ebb.sums`: exact, rounded at the end, and with the same bits in whatever order clients
    answer. Flower rounds after every step; the two differ by no more than that, and not at all where
    Flower's steps are exact. Errors, dropouts and replies that do not fit together end as in FedAvg.

    Strategies that build on FedAvg's mean stream as well: `class Mine(FedAdam, EbbFedAvg): ...`, or `keep`.

    Args:
        ebb_every: rounds between cleanups, as in `ebb.RoundKeeper`.
        ebb_at_once: makes freed memory go back at once, see `ebb.give_back_at_once`; what the transfer of a
            reply left behind goes after that reply.
        All others are FedAvg's. `train_metrics_aggr_fn` is given replies without the data of their arrays.
    """

    def __init__(self, *args: Any, ebb_every: int | str | None = None, ebb_at_once: bool = True,
                 **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ebb_every = ebb_every
        self.ebb_at_once = ebb_at_once

    def aggregate_train(self, server_round: int, replies: Iterable[Message]
                        ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        means = WeightedMeans()
        bare: list[Message] = []
        added = 0
        failure: Exception | None = None
        # From a list or the like the caller may still read; what was pulled for this loop only is used up.
        used_up = not isinstance(replies, (list, tuple))
        for reply in replies:
            if failure is None and self._can_be_weighed(reply):
                try:
                    self._add(reply, means, used_up)
                    added += 1
                except Exception as problem:  # raised below, after what Flower checks first
                    failure = problem
            bare.append(_without_data(reply))
            del reply
            self._ebb_trim()
        valid, _ = self._check_and_log_replies(bare, is_train=True)
        if failure is not None:
            raise failure
        if not valid:
            return None, None
        if len(valid) != added:
            raise errors.Bug(f"{added} replies were added, {len(valid)} are valid: expected as many")
        arrays = ArrayRecord()
        for name, mean in means.take():
            arrays[name] = Array(mean)
            del mean
        self._ebb_trim()
        return arrays, self.train_metrics_aggr_fn([message.content for message in valid],
                                                  self.weighted_by_key)

    def _can_be_weighed(self, reply: Message) -> bool:
        """Whether it is no error and has what Flower will ask of each reply."""
        if reply.has_error():
            return False
        metrics = list(reply.content.metric_records.values())
        return (len(reply.content.array_records) == 1 and len(metrics) == 1 and
                self.weighted_by_key in metrics[0] and
                not isinstance(metrics[0][self.weighted_by_key], list))

    def _add(self, reply: Message, means: WeightedMeans, used_up: bool) -> None:
        metrics, = reply.content.metric_records.values()
        arrays, = reply.content.array_records.values()
        means.weigh(metrics[self.weighted_by_key])
        for name, array in list(arrays.items()):
            values = array.numpy()
            if used_up:
                array.data = b""
            means.add(name, values)

    def _ebb_grid(self, grid: Grid) -> Grid:
        return OneByOneGrid(grid)


def keep(strategy: Strategy, *, every: int | str | None = None, at_once: bool = True) -> Strategy:
    """A copy of the strategy, with its settings and its state, whose memory stays flat. `every` and `at_once`
    are the `ebb_…` of EbbFedAvg.

    FedAvg, FedAvgM, FedAdam, FedYogi, FedAdagrad, FedProx and every class that leaves `aggregate_train` to one
    of them hold one reply at a time, as EbbFedAvg does. All others need the replies of a round together (a
    median, Krum), or may: they are cleaned up after only, which the log says once.
    """
    if isinstance(strategy, _Keeping):
        return strategy
    kind: Any = type(strategy)
    streams = isinstance(strategy, FedAvg) and kind.aggregate_train in _OF_THE_MEAN
    kept = copy.copy(strategy)
    kept.__class__ = _streaming(kind) if streams else _cleaning(kind)
    kept.ebb_every = every
    kept.ebb_at_once = at_once
    return kept


@functools.cache
def _streaming(kind: Any) -> Any:
    return EbbFedAvg if kind is FedAvg else type(f"Ebb{kind.__name__}", (kind, EbbFedAvg), {})


@functools.cache
def _cleaning(kind: Any) -> Any:
    log.info("Ebb: %s may need all replies of a round together, so they are not taken one by one; they are "
             "dropped, and memory is cleaned up, after each round", kind.__name__)
    return type(f"Ebb{kind.__name__}", (_Keeping, kind), {})


def _without_data(reply: Message) -> Message:
    """What is left of a reply that was added: everything but the data of its arrays."""
    if reply.has_error():
        return reply
    bare = copy.copy(reply)
    bare.content = RecordDict({name: _emptied(record) if isinstance(record, ArrayRecord) else record
                               for name, record in reply.content.items()})
    return bare


def _emptied(record: ArrayRecord) -> ArrayRecord:
    return ArrayRecord({name: Array(dtype=array.dtype, shape=array.shape, stype=array.stype, data=b"")
                        for name, array in record.items()})
