# SPDX-License-Identifier: Apache-2.0
"""Lets go of what NVFlare would hold longer than it is needed.

`ebb run --nvflare` uses this file in jobs that do not have the package: it needs nothing but NVFlare.
"""

from __future__ import annotations

import functools
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


# Where NVFlare's streams end, by module, class and method.
STREAM_ENDS = [("nvflare.fuel.f3.streaming.stream_types", "StreamFuture", name)
               for name in ("set_result", "set_exception")]


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
    """Does all three for a job without components of ours, in those of NVFlare's modules that are loaded. True once
    all is done; a release that has none of these places is left alone."""
    cell = modules.get("nvflare.fuel.f3.cellnet.cell")
    event = modules.get("nvflare.private.event")
    _wrap(cell, "decode_payload", held_once)
    _wrap(event, "fire_event_to_components", _letting_go)
    for module, owner, name in STREAM_ENDS:
        _wrap(getattr(modules.get(module), owner, None), name, parted)
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
