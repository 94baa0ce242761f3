# SPDX-License-Identifier: Apache-2.0
"""Cleans up at the moments of a job when most of its memory is free."""

from __future__ import annotations

import json
import logging
import os
import time
from typing import Any

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from nvflare.fuel.utils import log_utils
from nvflare.widgets.widget import Widget

from .. import hooks, memory
from .._forks import Lock
from .broadcast import SharedBroadcast
from .garbage import GarbageWatch
from .markers import EventMarkers
from .patching import patch as patch_nvflare, release_transfers
from .results import let_go
from .sent import SentResult

_MIB = 1 << 20
# A trim walks the heap, and all threads wait for it: not for results that left less than this.
_WORTH_A_TRIM = 16 * _MIB


class EbbMemoryWidget(Widget):
    """A component for servers and clients, e.g. `job.to_server(EbbMemoryWidget(), id="ebb")`.

    Server: cleans up once per round, when the next round starts, and when the run ends; trims before and
    after each result is processed. Client: cleans up after a task is done and before it asks for the
    next one, when nothing holds what was sent any more. Each cleanup writes a line to the job's log and
    to `record`, a file of JSON lines in the job's folder ("" for none). Where the environment asks for RSS
    markers (EBB_MEMORY_PROFILE, NVFLARE_CLIENT_MEMORY_PROFILE) it writes those that NVFlare does not.

    Args:
        every: rounds (on a client, tasks) between cleanups; 0 for none.
        per_result: trims before and after each result, where memory has grown by `trim_growth`.
        release_results: drops a result once it is processed; NVFlare's context would hold the last one
            until the next arrives.
        at_once: makes freed memory go back at once, see `ebb.give_back_at_once`: the lowest peak, for more
            system time.
        share_broadcast: NVFlare copies the whole model before it sends it, so that nobody changes it
            meanwhile. With this, NumPy arrays are not copied, but are read-only until aggregation starts.
            For workflows that change no array of the global model in place, such as FedAvg.
        cuda_empty_cache: empties PyTorch's CUDA cache as well.
        patch: makes NVFlare's own cleanups use Ebb, see `ebb.nvflare.patch`.
        record: the name of the file.
        release_sent: on a client, drops a result once it is sent, unless an executor of yours holds it as well;
            NVFlare would hold it until the next task is asked for.
        trim_growth: the share of what the last trim or cleanup left by which memory has to have grown before a result is
            worth a trim, and 16 MiB at least. Less keeps the peak lower; more saves the time of taking memory again.
    """

    def __init__(self, every: int = 1, per_result: bool = True, release_results: bool = True,
                 at_once: bool = False, share_broadcast: bool = False,
                 cuda_empty_cache: bool = False, patch: bool = True,
                 record: str = "ebb-memory.jsonl", release_sent: bool = True, trim_growth: float = 0.25) -> None:
        super().__init__()
        if not hasattr(log_utils, "ConciseLogFilter"):
            # Before 2.9 the simulator's console shows NVFlare's applications and what is called custom, nothing else.
            self.logger = logging.getLogger(f"custom.{__name__}.{type(self).__qualname__}")
        if isinstance(every, bool) or not isinstance(every, int) or every < 0:
            raise ValueError(f"every={every!r}: expected a number of rounds, 0 or more")
        if isinstance(trim_growth, bool) or not isinstance(trim_growth, (int, float)) or not trim_growth >= 0:
            raise ValueError(f"trim_growth={trim_growth!r}: expected a share, 0 or more")
        self.every = every
        self.per_result = per_result
        self.release_results = release_results
        self.at_once = at_once
        self.share_broadcast = share_broadcast
        self.cuda_empty_cache = cuda_empty_cache
        self.patch = patch
        self.record = record
        self.release_sent = release_sent
        self.trim_growth = trim_growth
        self._lock = Lock()
        self._seen_rounds: set[Any] = set()
        self._done = 0
        self._task_done = False
        self._rss_after = 0
        self._garbage = GarbageWatch()
        self._broadcast = SharedBroadcast()
        self._sent = SentResult()
        self._markers = EventMarkers()
        self.returned_bytes = 0

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        self._act_on(event_type, fl_ctx)
        self._markers.handle(event_type, fl_ctx)

    def _act_on(self, event_type: str, fl_ctx: FLContext) -> None:
        if event_type == EventType.START_RUN:
            if self.patch:
                patch_nvflare()
            if self.release_results:
                release_transfers()
            if self.at_once:
                memory.give_back_at_once()
            self._rss_after = memory.rss()
            self._tell_about_arenas(fl_ctx)
        elif event_type == AppEventType.BEFORE_TRAIN_TASK:
            if self.share_broadcast:
                self._broadcast.share(fl_ctx.get_prop(AppConstants.TRAIN_SHAREABLE))
        elif event_type == AppEventType.BEFORE_AGGREGATION:
            self._broadcast.end()
        elif event_type == AppEventType.ROUND_STARTED:
            self._broadcast.end()
            self._round_started(fl_ctx)
        elif event_type == EventType.BEFORE_PROCESS_SUBMISSION:
            # What the transfer left behind goes before the sums come.
            self._trim(fl_ctx, "before a result")
        elif event_type == EventType.AFTER_PROCESS_SUBMISSION:
            if self.release_results:
                let_go(fl_ctx)
            self._trim(fl_ctx, "after a result")
        elif event_type == EventType.AFTER_TASK_EXECUTION:
            self._task_done = True
        elif event_type == EventType.AFTER_TASK_RESULT_FILTER:
            if self.release_sent:
                self._sent.leaves(fl_ctx)
        elif event_type == EventType.AFTER_SEND_TASK_RESULT:
            self._task_done = True
            if self.release_sent:
                self._sent.is_sent(fl_ctx)
        elif event_type == EventType.BEFORE_PULL_TASK:
            if self._task_done:
                self._task_done = False
                self._counted(fl_ctx, "before the next task")
        elif event_type == EventType.END_RUN:
            self._broadcast.end()
            self._clean(fl_ctx, "at the end of the run")

    def _tell_about_arenas(self, fl_ctx: FLContext) -> None:
        # Under `ebb run` the threads share them already, unless somebody chose a number.
        chosen = os.environ.get("MALLOC_ARENA_MAX", "1" if "EBB_SOCKET" in os.environ else None)
        if memory.allocator() == "glibc" and chosen != "1":
            self.log_info(fl_ctx, "Ebb: started with MALLOC_ARENA_MAX=1 in the environment, this process needs "
                                  "less memory and time: what one thread has freed then serves the next")

    def _round_started(self, fl_ctx: FLContext) -> None:
        current = fl_ctx.get_prop(AppConstants.CURRENT_ROUND)
        with self._lock:
            first = not self._seen_rounds
            again = current in self._seen_rounds
            self._seen_rounds.add(current)
        if not first and not again:
            self._counted(fl_ctx, f"before round {current}")

    def _counted(self, fl_ctx: FLContext, when: str) -> None:
        with self._lock:
            self._done += 1
            due = self.every > 0 and self._done % self.every == 0
        if due:
            self._clean(fl_ctx, when)

    def _trim(self, fl_ctx: FLContext, when: str) -> None:
        worth = max(_WORTH_A_TRIM, self.trim_growth * self._rss_after)
        if not self.per_result or self.every == 0 or memory.rss() < self._rss_after + worth:
            return
        report = memory.trim()
        self._rss_after = report.rss_after_bytes
        self._tell(fl_ctx, when, report.rss_before_bytes, report.rss_after_bytes)

    def _clean(self, fl_ctx: FLContext, when: str) -> None:
        report = memory.cleanup(cuda_empty_cache=self.cuda_empty_cache, collect_garbage=False)
        before, seconds = report.rss_before_bytes, report.seconds
        if self._garbage.may_hold_memory(report):
            hooks.collect_garbage()
            report = memory.cleanup(hooks=False)
            self._garbage.collected(report)
            seconds += report.seconds
        self._rss_after = report.rss_after_bytes
        self._tell(fl_ctx, when, before, report.rss_after_bytes, seconds)

    def _tell(self, fl_ctx: FLContext, when: str, before: int, after: int, seconds: float = 0.0) -> None:
        returned = max(0, before - after)
        with self._lock:
            self.returned_bytes += returned
        self.log_info(fl_ctx, f"Ebb {when}: returned {returned / _MIB:.1f} MiB, rss "
                              f"{before / _MIB:.1f} MiB -> {after / _MIB:.1f} MiB ({memory.allocator()})")
        if self.record:
            self._write(fl_ctx, {
                "time": time.time(), "site": fl_ctx.get_identity_name(), "when": when,
                "round": fl_ctx.get_prop(AppConstants.CURRENT_ROUND), "rss_before_bytes": before,
                "rss_after_bytes": after, "returned_bytes": returned, "seconds": seconds})

    def _write(self, fl_ctx: FLContext, line: dict[str, Any]) -> None:
        try:
            folder = fl_ctx.get_engine().get_workspace().get_run_dir(fl_ctx.get_job_id())
            with self._lock, open(os.path.join(folder, self.record), "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except Exception as failure:  # a full disk must not end the job
            self.log_debug(fl_ctx, f"{self.record}: {failure}")
