# SPDX-License-Identifier: Apache-2.0
"""What Ebb lets go of in NVFlare: results that were processed, messages that were sent or received."""
import gc
import os
import sys
import threading
import unittest
import weakref

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey

from ebb.nvflare import EbbMemoryWidget
from nvflare_release import SINCE_2_9, context, sending_task


class Results(unittest.TestCase):
    """What `ebb run --nvflare` does in jobs without components of ours."""

    def test_a_processed_result_is_let_go_of_and_handlers_see_it_before(self):
        import nvflare.fuel.f3.cellnet.cell as cell
        import nvflare.private.event as event
        from nvflare.fuel.f3.streaming.stream_types import StreamFuture
        from ebb.nvflare import results
        from nvflare.fuel.f3.streaming.byte_receiver import RxTask
        for owner, name in ((cell, "decode_payload"), (event, "fire_event_to_components"),
                            (StreamFuture, "set_result"), (StreamFuture, "set_exception"),
                            (RxTask, "_schedule_remove_task")):
            if hasattr(owner, name):
                self.addCleanup(setattr, owner, name, getattr(owner, name))
        self.assertTrue(results.drop_results(sys.modules))
        wrapped = event.fire_event_to_components
        self.assertTrue(results.drop_results(sys.modules))
        self.assertIs(event.fire_event_to_components, wrapped, "once")
        self.assertFalse(results.drop_results({}), "not loaded yet")
        fl_ctx, seen = context(0), []
        fl_ctx.set_prop(FLContextKey.TASK_RESULT, "result", private=True, sticky=False)
        handler = EbbMemoryWidget(record="")
        handler.handle_event = lambda _, ctx: seen.append(ctx.get_prop(FLContextKey.TASK_RESULT))
        event.fire_event(EventType.BEFORE_PROCESS_SUBMISSION, [handler], fl_ctx)
        event.fire_event(EventType.AFTER_PROCESS_SUBMISSION, [handler], fl_ctx)
        self.assertEqual(seen, ["result", "result"])
        self.assertIsNone(fl_ctx.get_prop(FLContextKey.TASK_RESULT))

    def test_what_was_sent_is_freed_when_its_stream_ends(self):
        from nvflare.fuel.f3.streaming.stream_types import StreamError
        from ebb.nvflare import patching

        def held_after(error):
            task = sending_task(bytes(1 << 20))
            future, held = task.stream_future, weakref.ref(task)
            task.stop(error, notify=False)
            self.assertFalse(future.cancel(), "it has ended")
            self.assertIs(future.exception(timeout=120), error)
            del task
            return held() is not None

        gc.disable()  # before a collection is what this is about
        self.addCleanup(gc.enable)
        for error in (None, StreamError("broken")):
            self.assertTrue(held_after(error), "as NVFlare does it")
            patching.release_transfers()
            self.assertFalse(held_after(error))
            patching.unpatch()

    def test_what_was_received_is_forgotten_by_one_thread_however_many_messages(self):
        from ebb.nvflare import results

        class Received:
            def __init__(self, seconds):
                self.stop_lock, self.cleanup_timer, self.completed_task_ttl = threading.RLock(), None, seconds
                self.forgotten = threading.Event()

            def _remove_task(self):
                self.forgotten.set()

        schedule = results.forgotten_by_one_thread(lambda task, ttl=None: self.fail("NVFlare's own"))
        held = [Received(3600) for _ in range(20)]
        for task in held:
            schedule(task)
            schedule(task)
        before, soon, cancelled = threading.active_count(), Received(0.01), Received(0)
        schedule(soon)
        schedule(cancelled, 3600)
        cancelled.cleanup_timer.cancel()
        self.assertTrue(soon.forgotten.wait(120), "though others that come later were first")
        self.assertEqual(threading.active_count(), before)
        self.assertFalse(any(task.forgotten.is_set() for task in [*held, cancelled]))
        for task in held:
            task.cleanup_timer.cancel()
        # Another release: NVFlare's own way.
        called = []
        results.forgotten_by_one_thread(lambda task, ttl=None: called.append(ttl))(object(), 5)
        self.assertEqual(called, [5])

    def test_a_forked_child_forgets_what_it_received_itself(self):
        from ebb.nvflare import results
        timer = results.OneTimer()
        timer.after(3600, lambda: None)
        child = os.fork()
        if child == 0:
            done = threading.Event()
            timer.after(0.01, done.set)
            os._exit(0 if done.wait(60) else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_nvflares_receiver_starts_no_thread_for_each_message(self):
        from nvflare.fuel.f3.streaming.byte_receiver import RxTask
        from ebb.nvflare import patching
        if not hasattr(RxTask, "_schedule_remove_task"):
            self.assertFalse(SINCE_2_9, "2.8 forgets messages at once")
            return
        patching.release_transfers()
        self.addCleanup(patching.unpatch)
        tasks = [RxTask(number, "site-1", None, True) for number in range(5)]
        tasks[0]._schedule_remove_task()
        before = threading.active_count()
        for task in tasks[1:]:
            task._schedule_remove_task()
        self.assertEqual(threading.active_count(), before)
        for task in tasks:
            task._remove_task()
            self.assertIsNone(task.cleanup_timer)

    def test_the_context_of_a_decoding_is_emptied(self):
        from ebb.nvflare import results
        context_of_decoding = {"x_items": {"w": 1}, "y_items": 2, "other": {"w": 1}}
        decode = results.held_once(lambda message, fobs_ctx: message)
        self.assertEqual(decode("m", fobs_ctx=context_of_decoding), "m")
        self.assertEqual(context_of_decoding, {"y_items": 2, "other": {"w": 1}})
