# SPDX-License-Identifier: Apache-2.0
"""Lets go of what NVFlare would hold longer than it is needed.

`ebb run --nvflare` uses this file in jobs that do not have the package: it needs nothing but NVFlare.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import logging
import os
import threading
import time
from typing import Any, Callable

_MARK = "_ebb_wraps"


def held_once(decode: Callable[..., Any]) -> Callable[..., Any]:
    """NVFlare's decode_payload, so that a decoded message holds each array once. NVFlare holds it twice: in
    the message, and in the context of the decoding, which lives until the message is answered. The
    context is emptied once the message is decoded."""

    @functools.wraps(decode)
    def decode_and_let_go(*args: Any, **kwargs: Any) -> Any:
        answer = decode(*args, **kwargs)
        context = kwargs.get("fobs_ctx")
        if isinstance(context, dict):
            for key in [key for key, value in context.items()
                        if str(key).endswith("_items") and isinstance(value, dict)]:
                del context[key]
        return answer

    return decode_and_let_go


def parted(finish: Callable[..., Any]) -> Callable[..., Any]:
    """A method of NVFlare's StreamFuture that ends it, so that future and sender then part. They hold each other, for
    `cancel` alone, which does nothing once the future is done: every message that was sent, and the sender's buffer of
    1 MiB, would stay until garbage is collected."""

    @functools.wraps(finish)
    def finish_and_part(future: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return finish(future, *args, **kwargs)
        finally:
            if future.waiter.is_set():
                future.task_handle = None

    return finish_and_part


class OneTimer:
    """Calls functions later, all of them from one thread. A forked child begins with none."""

    class Call:
        def __init__(self, function: Callable[[], Any]) -> None:
            self.function: Callable[[], Any] | None = function

        def cancel(self) -> None:
            self.function = None

    def __init__(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._calls: list[tuple[float, int, OneTimer.Call]] = []  # a heap by time
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, function: Callable[[], Any]) -> Call:
        call = self.Call(function)
        with self._changed:
            heapq.heappush(self._calls, (time.monotonic() + seconds, next(self._numbers), call))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ebb-later", daemon=True)
                self._thread.start()
            else:
                self._changed.notify()
        return call

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._calls or self._calls[0][0] > time.monotonic():
                    self._changed.wait(self._calls[0][0] - time.monotonic() if self._calls else None)
                call = heapq.heappop(self._calls)[2]
            function, call.function = call.function, None
            try:
                if function is not None:
                    function()
            except Exception:
                logging.getLogger(__name__).exception("what was to be done later failed")
            del call, function  # held by nobody while this thread sleeps


_timer = OneTimer()


def forgotten_by_one_thread(schedule: Callable[..., Any]) -> Callable[..., Any]:
    """NVFlare's RxTask._schedule_remove_task, so that one thread forgets all messages that were received. NVFlare 2.9
    remembers each for a minute, for senders who repeat themselves, and starts a thread of its own to wait for that."""

    @functools.wraps(schedule)
    def schedule_with_the_others(task: Any, ttl: float | None = None) -> None:
        if not all(hasattr(task, name) for name in ("stop_lock", "cleanup_timer", "completed_task_ttl",
                                                    "_remove_task")):
            schedule(task, ttl)  # another release
            return
        with task.stop_lock:
            if not task.cleanup_timer:
                task.cleanup_timer = _timer.after(task.completed_task_ttl if ttl is None else ttl, task._remove_task)

    return schedule_with_the_others


# Methods of NVFlare's streams, by module and class, and what is put around each.
STREAMS: list[tuple[str, str, str, Callable[..., Any]]] = [
    ("nvflare.fuel.f3.streaming.stream_types", "StreamFuture", "set_result", parted),
    ("nvflare.fuel.f3.streaming.stream_types", "StreamFuture", "set_exception", parted),
    ("nvflare.fuel.f3.streaming.byte_receiver", "RxTask", "_schedule_remove_task", forgotten_by_one_thread)]


def let_go(fl_ctx: Any) -> None:
    """Drops the result that was processed; NVFlare's contexts would hold it until the next one arrives."""
    from nvflare.apis.fl_constant import FLContextKey

    fl_ctx.set_prop(FLContextKey.TASK_RESULT, None, private=True, sticky=False)
    peer = fl_ctx.get_peer_context()
    if peer is None:
        return
    detail = peer.get_prop_detail(FLContextKey.SHAREABLE)
    if detail is not None:
        peer.set_prop(FLContextKey.SHAREABLE, None, private=detail["private"], sticky=detail["sticky"])


def drop_results(modules: dict[str, Any]) -> bool:
    """Does all of this for a job without components of ours, in those of NVFlare's modules that are loaded. True once
    all is done; a release that has none of these places is left alone."""
    cell = modules.get("nvflare.fuel.f3.cellnet.cell")
    event = modules.get("nvflare.private.event")
    _wrap(cell, "decode_payload", held_once)
    _wrap(event, "fire_event_to_components", _letting_go)
    for module, owner, name, wrapper in STREAMS:
        _wrap(getattr(modules.get(module), owner, None), name, wrapper)
    return cell is not None and event is not None


def _letting_go(fire: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fire)
    def fire_and_let_go(event: str, handlers: Any, ctx: Any, *args: Any, **kwargs: Any) -> Any:
        answer = fire(event, handlers, ctx, *args, **kwargs)
        if event == "_after_process_submission":
            try:
                let_go(ctx)
            except Exception:  # another release's contexts: the job goes on, with the result held
                pass
        return answer

    return fire_and_let_go


def _wrap(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
    original = getattr(owner, name, None)
    if original is None or hasattr(original, _MARK):
        return
    wrapped = wrapper(original)
    setattr(wrapped, _MARK, True)
    setattr(owner, name, wrapped)
