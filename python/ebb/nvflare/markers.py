# SPDX-License-Identifier: Apache-2.0
"""RSS markers: NVFlare's own lines, where NVFlare does not write them, and the server's.

All of them go to the logger that NVFlare writes its own to. Under `ebb run` the start-up hook sees that logger and
has every line recorded, whoever wrote it.
"""

from __future__ import annotations

import functools
import importlib
import logging
from typing import Any, Callable, Iterator

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType

from .. import memory
from .._forks import Lock

_MODULE = "nvflare.fuel.utils.mem_utils"
_logger = logging.getLogger(_MODULE)

# Executors that hand tasks on: to a script, which has the Client API, or to an executor of their own.
_PASS_ON = {"ClientAPIExecutor", "InProcessClientAPIExecutor", "TaskExchanger", "IPCExchanger",
            "MultiProcessExecutor", "ClientSideController"}


def write(role: str, source: str, site: str, round: Any, tag: str, task: str = "") -> None:
    """Logs a marker if the environment asks `role` for them."""
    if memory.memory_profile(role):
        number = round if isinstance(round, int) and round >= 0 else None
        _logger.info(memory.rss_marker(source, site, number, tag, task))


def rebindings() -> Iterator[tuple[Any, str, Any]]:
    """(owner, name, replacement) of what makes NVFlare write the markers that are asked of clients: its own switch,
    which knows only NVFlare's variable, and the Client API of external trainers, where that writes none itself."""
    try:
        mem_utils = importlib.import_module(_MODULE)
    except ImportError:  # before 2.7.2
        return
    if not memory.memory_profile("client"):
        return
    yield mem_utils, "_ENABLED", True
    _make_visible()
    try:
        cell = importlib.import_module("nvflare.client.cell.api")
    except ImportError:  # before 2.9
        return
    if not hasattr(cell, "log_rss"):
        yield cell.CellClientAPI, "receive", _marking_receive(cell.CellClientAPI.receive)
        yield cell.CellClientAPI, "send", _marking_send(cell.CellClientAPI.send)


def _make_visible() -> None:
    """A trainer's script may have configured no logging at all."""
    if not _logger.isEnabledFor(logging.INFO):
        _logger.setLevel(logging.INFO)
    if not _logger.hasHandlers():
        _logger.addHandler(logging.StreamHandler())


def _marking_receive(receive: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(receive)
    def receive_and_mark(api: Any, *args: Any, **kwargs: Any) -> Any:
        model = receive(api, *args, **kwargs)
        if model is not None:
            api._mem_round = model.current_round
            write("trainer", "CA", api.get_site_name(), model.current_round, "recv")
        return model

    return receive_and_mark


def _marking_send(send: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(send)
    def send_and_mark(api: Any, *args: Any, **kwargs: Any) -> Any:
        answer = send(api, *args, **kwargs)
        if hasattr(api, "_mem_round"):  # not on ranks that only follow
            write("trainer", "CA", api.get_site_name(), api._mem_round, "send")
        return answer

    return send_and_mark


class _RelaysOfNvflare(logging.Filter):
    """Counts the relay markers that this process writes, without keeping any line from the log."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        self.count += record.getMessage().startswith("[RSS] CJ ")
        return True


_relays = _RelaysOfNvflare()


class EventMarkers:
    """Writes what the events of one job say: on a client CA recv and send where a plain Executor trains, and CJ
    relay where NVFlare itself does not; where models are aggregated, SV aggregate and end. `handle` comes after
    whatever else was done about the event. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._task: tuple[Any, bool, int] | None = None  # round, trained here, relays before it
        self._is_client = False
        self._round: Any = None
        self._aggregated: Any = None

    def handle(self, event_type: str, fl_ctx: FLContext) -> None:
        if event_type == EventType.START_RUN:
            if _relays not in _logger.filters:
                _logger.addFilter(_relays)
        elif event_type == EventType.BEFORE_TASK_EXECUTION:
            self._is_client = True
            self._task_begins(fl_ctx)
        elif event_type == EventType.AFTER_TASK_EXECUTION:
            if self._task is not None and self._task[1]:
                write("client", "CA", fl_ctx.get_identity_name(), self._task[0], "send")
        elif event_type == EventType.BEFORE_SEND_TASK_RESULT:
            self._result_leaves(fl_ctx)
        elif event_type == AppEventType.ROUND_STARTED:
            self._round_begins(fl_ctx)
        # FedAvg of 2.8 and earlier fires the second alone.
        elif event_type in (AppEventType.AFTER_AGGREGATION, AppEventType.BEFORE_SHAREABLE_TO_LEARNABLE):
            self._aggregation_ends(fl_ctx)
        elif event_type == EventType.END_RUN:
            self._round_ends(fl_ctx)

    def _task_begins(self, fl_ctx: FLContext) -> None:
        data = fl_ctx.get_prop(FLContextKey.TASK_DATA)
        number = data.get_header(AppConstants.CURRENT_ROUND) if data is not None else None
        executor = _executor_of(fl_ctx)
        names = {kind.__name__ for kind in type(executor).__mro__}
        if "ClientSideController" in names:
            self._task = None  # swarm and its kin: what it answers with is no result
            return
        trains = executor is not None and _PASS_ON.isdisjoint(names)
        self._task = number, trains, _relays.count
        if trains:
            write("client", "CA", fl_ctx.get_identity_name(), number, "recv")

    def _result_leaves(self, fl_ctx: FLContext) -> None:
        task, self._task = self._task, None
        if task is not None and _relays.count == task[2]:
            write("client", "CJ", fl_ctx.get_identity_name(), task[0], "relay",
                  str(fl_ctx.get_prop(FLContextKey.TASK_NAME)))

    def _round_begins(self, fl_ctx: FLContext) -> None:
        current = fl_ctx.get_prop(AppConstants.CURRENT_ROUND)
        with self._lock:
            again = current == self._round
        if not again:
            self._round_ends(fl_ctx)
        with self._lock:
            self._round = current

    def _aggregation_ends(self, fl_ctx: FLContext) -> None:
        with self._lock:
            current = fl_ctx.get_prop(AppConstants.CURRENT_ROUND, self._round)
            if current == self._aggregated:
                return
            self._aggregated = current
        write("server", "SV", fl_ctx.get_identity_name(), current, "aggregate")

    def _round_ends(self, fl_ctx: FLContext) -> None:
        with self._lock:
            ended, self._round = self._round, None
            # In a swarm rounds start on every client, and one of them aggregates.
            is_ours = not self._is_client or ended == self._aggregated
        if ended is not None and is_ours:
            write("server", "SV", fl_ctx.get_identity_name(), ended, "end")


def _executor_of(fl_ctx: FLContext) -> Any:
    runner = fl_ctx.get_prop(FLContextKey.RUNNER)
    find = getattr(runner, "find_executor", None)
    return find(fl_ctx.get_prop(FLContextKey.TASK_NAME)) if find is not None else None
