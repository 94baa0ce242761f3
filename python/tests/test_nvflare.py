# SPDX-License-Identifier: Apache-2.0
"""Ebb inside the NVFlare from PyPI."""
import copy
import gc
import json
import os
import random
import sys
import unittest
import unittest.mock
import weakref
from pathlib import Path

import numpy
from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from nvflare.app_common.workflows import base_fedavg
from nvflare.fuel.utils import memory_utils

import ebb
import ebb.nvflare
from ebb.nvflare import EbbAggregator, EbbMemoryWidget
from nvflare_release import context
from support import MIB, ROOT, fragmented, long_test, preload, python, simulate

MODEL_MIB = 64


def result(client, values, steps=None, metrics=None):
    meta = {"client_name": client}
    if steps is not None:
        meta["NUM_STEPS_CURRENT_ROUND"] = steps
    return FLModel(params=values, params_type=ParamsType.FULL, metrics=metrics, meta=meta)


class Patch(unittest.TestCase):
    def tearDown(self):
        ebb.nvflare.unpatch()

    def test_nvflares_cleanup_uses_ebb_wherever_it_was_imported_before(self):
        original = memory_utils.try_malloc_trim
        ebb.nvflare.patch()
        ebb.nvflare.patch()
        self.assertEqual(memory_utils.get_allocator_type(), "glibc")
        self.assertIs(memory_utils.get_allocator_type(), memory_utils.get_allocator_type())
        self.assertIs(base_fedavg.cleanup_memory, memory_utils.cleanup_memory)
        kept = fragmented()
        before = ebb.rss()
        base_fedavg.cleanup_memory()
        self.assertLess(ebb.rss(), before - 40 * MIB)
        ebb.nvflare.unpatch()
        self.assertIs(memory_utils.try_malloc_trim, original)
        self.assertTrue(kept)

    def test_it_works_on_allocators_that_nvflare_does_not_know(self):
        said = python("""
import ebb, ebb.nvflare
from nvflare.fuel.utils.memory_utils import cleanup_memory
from support import fragmented
kept = fragmented(200)
before = ebb.rss()
cleanup_memory()
without = ebb.rss()
ebb.nvflare.patch()
cleanup_memory()
print(before - without < 40 << 20, without - ebb.rss() > 100 << 20)
""", LD_PRELOAD=preload("tcmalloc_minimal"), PYTHONMALLOC="malloc",
                      PYTHONPATH=str(Path(__file__).parent))
        self.assertEqual(said.splitlines()[-1], "True True")


class Widget(unittest.TestCase):
    def setUp(self):
        self.addCleanup(ebb.give_back_at_once, False)
        self.addCleanup(ebb.nvflare.unpatch)

    def cleanups(self, widget, events):
        """How many cleanups each event brought."""
        calls, counts = [], []
        hook = ebb.hooks.add("count", lambda: calls.append(1))
        try:
            for event, round_number in events:
                before = len(calls)
                widget.handle_event(event, context(round_number))
                counts.append(len(calls) - before)
        finally:
            ebb.hooks.remove(hook)
        return counts

    def test_a_server_cleans_when_the_next_round_starts_once_per_round(self):
        started = AppEventType.ROUND_STARTED
        counts = self.cleanups(EbbMemoryWidget(record=""), [
            (EventType.START_RUN, None), (started, 0), (started, 0), (started, 1), (started, 1),
            (AppEventType.BEFORE_AGGREGATION, 1), (started, 2), (EventType.END_RUN, 2)])
        self.assertEqual(counts, [0, 0, 0, 1, 0, 0, 1, 1])

    def test_every_nth_round_and_never(self):
        rounds = [(AppEventType.ROUND_STARTED, number) for number in range(7)]
        self.assertEqual(self.cleanups(EbbMemoryWidget(every=3, record=""), rounds),
                         [0, 0, 0, 1, 0, 0, 1])
        self.assertEqual(self.cleanups(EbbMemoryWidget(every=0, record=""), rounds), [0] * 7)
        for every in (-1, 1.5, True, "2"):
            with self.assertRaises(ValueError):
                EbbMemoryWidget(every=every)
        for share in (-0.1, float("nan"), True, "1"):
            with self.assertRaisesRegex(ValueError, "trim_growth"):
                EbbMemoryWidget(trim_growth=share)

    def test_a_client_cleans_before_the_next_task_and_not_at_each_poll(self):
        pull, done = EventType.BEFORE_PULL_TASK, EventType.AFTER_SEND_TASK_RESULT
        counts = self.cleanups(EbbMemoryWidget(record=""), [
            (pull, None), (pull, None), (EventType.AFTER_TASK_EXECUTION, 0), (done, 0), (pull, 0),
            (pull, 0), (done, 1), (pull, 1)])
        self.assertEqual(counts, [0, 0, 0, 0, 1, 0, 0, 1])

    def test_garbage_is_collected_where_something_has_grown(self):
        class Cycle:
            def __init__(self):
                self.itself, self.data = self, bytearray(64 * MIB)

        widget, collections = EbbMemoryWidget(record=""), []
        gc.disable()
        self.addCleanup(gc.enable)
        count = lambda phase, _: collections.append(phase) if phase == "start" else None  # noqa: E731
        gc.callbacks.append(count)
        self.addCleanup(gc.callbacks.remove, count)
        garbage = None
        for number in range(6):
            if number == 4:
                garbage = weakref.ref(Cycle())
                self.assertIsNotNone(garbage())
            collections.clear()
            widget.handle_event(AppEventType.ROUND_STARTED, context(number))
            self.assertEqual(len(collections), int(number in (1, 4)), f"round {number}")
        self.assertIsNone(garbage())

    def test_a_processed_result_is_let_go_of(self):
        fl_ctx, peer, kept = context(0), FLContext(), Shareable()
        peer.set_prop(FLContextKey.SHAREABLE, kept, private=True, sticky=True)
        fl_ctx.set_peer_context(peer)
        fl_ctx.set_prop(FLContextKey.TASK_RESULT, kept, private=True, sticky=False)
        EbbMemoryWidget(record="", release_results=False).handle_event(
            EventType.AFTER_PROCESS_SUBMISSION, fl_ctx)
        self.assertIs(fl_ctx.get_prop(FLContextKey.TASK_RESULT), kept)
        EbbMemoryWidget(record="").handle_event(EventType.AFTER_PROCESS_SUBMISSION, fl_ctx)
        self.assertIsNone(fl_ctx.get_prop(FLContextKey.TASK_RESULT))
        self.assertIsNone(peer.get_prop(FLContextKey.SHAREABLE))

    def test_a_sent_result_is_let_go_of_unless_somebody_else_holds_it(self):
        for held_elsewhere, release in ((False, True), (True, True), (False, False)):
            widget = EbbMemoryWidget(record="", release_sent=release)
            array, fl_ctx = numpy.ones(3), context(0)
            gone = weakref.ref(array)
            runners = [Shareable({"DXO": {"data": {"w": array}}})]
            executors = runners[:] if held_elsewhere else None
            del array
            fl_ctx.set_prop(FLContextKey.TASK_RESULT, runners[0], private=True, sticky=False)
            widget.handle_event(EventType.AFTER_TASK_RESULT_FILTER, fl_ctx)
            widget.handle_event(EventType.AFTER_SEND_TASK_RESULT, fl_ctx)
            self.assertEqual(fl_ctx.get_prop(FLContextKey.TASK_RESULT) is None, release)
            self.assertEqual(gone() is None, release and not held_elsewhere)
            self.assertEqual(executors is not None, held_elsewhere)

    def test_a_broadcast_shares_its_arrays_and_nobody_can_write_to_them(self):
        widget = EbbMemoryWidget(record="", share_broadcast=True)
        array = numpy.ones(3)
        data = Shareable({"DXO": {"data": {"w": array}, "meta": {"steps": [1]}}})
        fl_ctx = context(0)
        fl_ctx.set_prop(AppConstants.TRAIN_SHAREABLE, data, private=True, sticky=False)
        for _ in range(2):  # once for each client
            widget.handle_event(AppEventType.BEFORE_TRAIN_TASK, fl_ctx)
        sent = copy.deepcopy(data)
        self.assertIsInstance(sent, Shareable)
        self.assertIs(sent["DXO"]["data"]["w"], array)
        self.assertIsNot(sent["DXO"]["meta"]["steps"], data["DXO"]["meta"]["steps"])
        self.assertEqual(vars(sent), vars(data))
        with self.assertRaises(ValueError):
            array[0] = 2
        widget.handle_event(AppEventType.BEFORE_AGGREGATION, context(0))
        array[0] = 2
        self.assertIsNot(copy.deepcopy(data)["DXO"]["data"]["w"], array, "once per request")
        widget.handle_event(AppEventType.BEFORE_TRAIN_TASK, fl_ctx)
        gone = weakref.ref(data)
        gc.disable()
        self.addCleanup(gc.enable)
        fl_ctx.set_prop(AppConstants.TRAIN_SHAREABLE, None, private=True, sticky=False)
        del data
        self.assertIsNone(gone(), "without a cycle")

    def test_results_are_trimmed_only_where_much_came(self):
        widget = EbbMemoryWidget(record="", at_once=False)
        widget.handle_event(EventType.START_RUN, context())
        widget.handle_event(EventType.AFTER_PROCESS_SUBMISSION, context(0))
        self.assertEqual(widget.returned_bytes, 0)
        kept = fragmented()
        widget.handle_event(EventType.BEFORE_PROCESS_SUBMISSION, context(0))
        self.assertGreater(widget.returned_bytes, 40 * MIB)
        self.assertTrue(kept)

    def test_how_much_is_worth_a_trim_can_be_said(self):
        for share, is_trimmed in ((0, True), (100, False)):
            widget = EbbMemoryWidget(record="", trim_growth=share)
            widget.handle_event(EventType.START_RUN, context())
            kept = fragmented()
            widget.handle_event(EventType.BEFORE_PROCESS_SUBMISSION, context(0))
            self.assertEqual(widget.returned_bytes > 0, is_trimmed, share)
            self.assertTrue(kept)
            del kept
            ebb.trim()

    def test_names_the_setting_that_would_help_where_it_is_missing(self):
        for arenas, is_told in (("1", False), ("4", True), (None, True)):
            with unittest.mock.patch.dict(os.environ):
                os.environ.pop("EBB_SOCKET", None)
                os.environ.pop("MALLOC_ARENA_MAX", None)
                if arenas:
                    os.environ["MALLOC_ARENA_MAX"] = arenas
                widget = EbbMemoryWidget(record="")
                with self.assertLogs(level="INFO") as logs:
                    widget.handle_event(EventType.START_RUN, context())
                    widget.log_info(context(), "end")
                self.assertEqual("MALLOC_ARENA_MAX=1" in " ".join(logs.output), is_told, arenas)

    def test_arguments_are_stored_by_name_for_export(self):
        arguments = {"every": 2, "per_result": False, "release_results": False, "release_sent": False,
                     "at_once": True, "share_broadcast": True, "cuda_empty_cache": True, "patch": False, "record": "x",
                     "trim_growth": 1.5}
        widget = EbbMemoryWidget(**arguments)
        self.assertEqual({name: getattr(widget, name) for name in arguments}, arguments)


class Aggregator(unittest.TestCase):
    def test_is_nvflares_weighted_mean(self):
        aggregator = EbbAggregator(aggregation_weights={"b": 0.5}, exclude_vars="^skip")
        aggregator.accept_model(result("a", {"w": numpy.float32([1, 2]), "skip": numpy.ones(3)}, 30,
                                       {"loss": 1.0, "name": "x"}))
        aggregator.accept_model(result("b", {"w": numpy.float32([4, 8])}, 20, {"loss": 2.0}))
        model = aggregator.aggregate_model()
        self.assertEqual(list(model.params), ["w"])
        numpy.testing.assert_array_equal(model.params["w"], numpy.float32([70 / 40, 140 / 40]))
        self.assertEqual(model.params["w"].dtype, numpy.float32)
        self.assertEqual(model.params_type, ParamsType.FULL)
        self.assertEqual(model.metrics, {"loss": 50 / 40})

    def test_has_the_same_bits_in_any_order(self):
        rng = numpy.random.default_rng(1)
        sites = [(f"site-{number}", rng.standard_normal((50, 40), numpy.float32) * 10.0 ** number,
                  int(rng.integers(1, 5000))) for number in range(6)]
        seen = set()
        for seed in range(10):
            random.Random(seed).shuffle(sites)
            aggregator = EbbAggregator()
            for name, values, steps in sites:
                aggregator.accept_model(result(name, {"w": values}, steps, {"loss": float(values[0, 0])}))
            model = aggregator.aggregate_model()
            seen.add((model.params["w"].tobytes(), model.metrics["loss"]))
        self.assertEqual(len(seen), 1)

    def test_a_result_that_does_not_fit_is_refused_as_a_whole(self):
        aggregator = EbbAggregator()
        aggregator.accept_model(result("a", {"v": numpy.float32([1]), "w": numpy.float32([1, 2])}))
        for bad in (numpy.float32([1, numpy.nan]), numpy.float32([1, 2, 3]), numpy.array(["x", "y"])):
            with self.assertRaisesRegex(ebb.BadInput, "^w: "):
                aggregator.accept_model(result("b", {"v": numpy.float32([9]), "w": bad}))
        numpy.testing.assert_array_equal(aggregator.aggregate_model().params["v"], [1])

    def test_without_a_result_it_says_so(self):
        aggregator = EbbAggregator()
        aggregator.accept_model(result("a", {"w": numpy.float32([1])}))
        aggregator.reset_stats()
        with self.assertRaisesRegex(ebb.BadInput, "no result was accepted"):
            aggregator.aggregate_model()

    def test_lets_go_of_results_unless_told_not_to(self):
        for release in (True, False):
            values = {"w": numpy.float32([1])}
            EbbAggregator(release_results=release).accept_model(result("a", values))
            self.assertEqual("w" in values, not release)


class Simulator(unittest.TestCase):
    """The job of examples/nvflare, as NVFlare recommends it and with Ebb."""

    def run_job(self, name, *arguments, **environment):
        out = ROOT / "build" / "python" / "nvflare" / name
        status, said = simulate(
            [sys.executable, str(ROOT / "examples" / "nvflare" / "job.py"), str(out), *arguments],
            **environment)
        self.assertEqual(status, 0, said[-4000:])
        self.assertNotIn(" - ERROR - ", said)
        sys.path.insert(0, str(ROOT / "examples" / "nvflare"))
        from job import figures
        model = json.loads((out / "model.json").read_text(encoding="utf-8"))
        sites = figures(out)
        print(name, {site: (round(seen["peak"]), [round(value) for value in seen["rss"]])
                     for site, seen in sites.items()}, flush=True)
        return sites, model, out

    def compare(self, allocator, clients, least_saving, ebbs=None, **environment):
        size = ("--clients", str(clients))
        plain, plain_model, _ = self.run_job(f"{allocator}-{clients}-nvflare", *size, **environment)
        with_ebb, ebb_model, out = self.run_job(f"{allocator}-{clients}-ebb", "--ebb", "--at-once",
                                                "--clients-too", *size, **{**environment, **(ebbs or {})})
        self.assertEqual(plain_model, ebb_model, "the same model after the same rounds")
        before, after = (sites["simulator_server"]["peak"] for sites in (plain, with_ebb))
        self.assertLessEqual(after, before * (1 - least_saving),
                             f"{after:.0f} MiB with Ebb, {before:.0f} MiB without")
        # What the server has loaded before there is a model; the model is there at the first round.
        base = with_ebb["simulator_server"]["rss"][0] - MODEL_MIB
        floors = with_ebb["simulator_server"]["rss"][1:]
        self.assertEqual(len(floors), 5)
        self.assertLessEqual(max(floors), base + 1.5 * MODEL_MIB)
        for site, seen in with_ebb.items():
            self.assertLess(seen["peak"], plain[site]["peak"], site)
        lines = list(out.rglob("ebb-memory.jsonl"))
        self.assertTrue(lines, "the widget's record")
        record = [json.loads(line) for path in lines for line in path.read_text().splitlines()]
        self.assertIn("before round 5", [entry["when"] for entry in record])
        self.assertGreater(sum(entry["returned_bytes"] for entry in record), 0)

    @long_test
    def test_two_clients_on_glibc_need_40_percent_less(self):
        self.compare("glibc", 2, 0.40, ebbs={"MALLOC_ARENA_MAX": "1"}, MALLOC_ARENA_MAX="4")

    @long_test
    def test_four_clients_on_glibc_need_40_percent_less(self):
        self.compare("glibc", 4, 0.40, MALLOC_ARENA_MAX="4")

    @long_test
    def test_on_tcmalloc_they_need_25_percent_less(self):
        for clients in (2, 4):
            with self.subTest(clients):
                self.compare("tcmalloc", clients, 0.25, LD_PRELOAD=preload("tcmalloc_minimal"))

    @long_test
    def test_on_jemalloc_they_need_15_percent_less(self):
        for clients in (2, 4):
            with self.subTest(clients):
                self.compare("jemalloc", clients, 0.15, LD_PRELOAD=preload("jemalloc"),
                             MALLOC_CONF="dirty_decay_ms:5000,muzzy_decay_ms:5000")


if __name__ == "__main__":
    unittest.main()
