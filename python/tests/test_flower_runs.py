# SPDX-License-Identifier: Apache-2.0
"""Ebb inside the Flower from PyPI: whole runs, beside those of Flower's own strategies."""
import logging
import math
import pickle
import threading
import time
import unittest
import weakref
from unittest import mock

from flower_support import NODES, Lines, Simulation, app, model  # first: it sets what Flower reads at import

import numpy
from flwr.app import Array, ConfigRecord, Message, RecordDict
from flwr.serverapp import strategy as strategies
from flwr.serverapp.strategy import FedAdam, FedAvg, FedMedian

import ebb
from ebb.flower import EbbFedAvg, EbbMemoryMod, keep
from ebb.flower.grid import OneByOneGrid
from support import long_test

# Each with what makes it do more than average.
OF_THE_MEAN = {
    "FedAvg": {}, "FedAvgM": {"server_momentum": 0.5, "server_learning_rate": 0.5}, "FedAdam": {},
    "FedYogi": {}, "FedAdagrad": {}, "FedProx": {"proximal_mu": 0.5}}
OF_ALL_REPLIES = {
    "FedMedian": {}, "FedTrimmedAvg": {"beta": 0.25}, "Krum": {"num_malicious_nodes": 1},
    "MultiKrum": {"num_malicious_nodes": 1, "num_nodes_to_select": 2}}
# The same; each collects garbage for every reply.
SLOW = {"Bulyan": {"num_malicious_nodes": 0},
        "QFedAvg": {"client_learning_rate": 0.5, "train_loss_key": "loss"}}


def setUpModule():
    # What strategies say of each round is looked at where it matters.
    logger = logging.getLogger("flwr")
    unittest.addModuleCleanup(logger.setLevel, logger.level)
    logger.setLevel(logging.ERROR)


class Runs(unittest.TestCase):
    """Whole runs in Flower's simulation runtime; Strategy.start, ClientApp and grid are Flower's."""

    @classmethod
    def setUpClass(cls):
        simulation = Simulation(app(), NODES)
        cls.grid = simulation.__enter__().grid
        cls.addClassCleanup(simulation.__exit__)
        cls.addClassCleanup(ebb.give_back_at_once, False)

    def start(self, strategy, **options):
        result = strategy.start(self.grid, model(), **{"num_rounds": 3, "timeout": 100, **options})
        return ({name: (array.dtype, array.data) for name, array in result.arrays.items()},
                result.train_metrics_clientapp, result.evaluate_metrics_clientapp)

    def assert_close(self, ours, theirs):
        """Where both rounded: the same types and, nearly, the same values."""
        for name, (kind, data) in theirs[0].items():
            self.assertEqual(ours[0][name][0], kind)
            for one, other in zip(*(Array(kind, (), "numpy.ndarray", each).numpy().flat
                                    for each in (ours[0][name][1], data))):
                self.assertTrue(math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-6), (one, other))
        self.assertEqual(ours[1].keys(), theirs[1].keys())

    def made(self, name, settings):
        return getattr(strategies, name)(min_train_nodes=NODES, min_available_nodes=NODES, **settings)

    def test_each_strategy_that_averages_streams_to_the_same_bits(self):
        for name, settings in OF_THE_MEAN.items():
            with self.subTest(name):
                kept = keep(self.made(name, settings))
                self.assertIsInstance(kept, EbbFedAvg)
                self.assertIsInstance(kept, getattr(strategies, name))
                # What Adam and its kin divide by has too many bits for the next mean to be exact.
                rounds = 3 if name in ("FedAvg", "FedAvgM", "FedProx") else 1
                self.assertEqual(self.start(kept, num_rounds=rounds),
                                 self.start(self.made(name, settings), num_rounds=rounds))

    def test_over_rounds_they_differ_by_rounding_only(self):
        for name in ("FedAdam", "FedYogi", "FedAdagrad"):
            with self.subTest(name):
                self.assert_close(self.start(keep(self.made(name, {}))), self.start(self.made(name, {})))

    def compare_cleaned(self, these):
        for name, settings in these.items():
            with self.subTest(name), Lines() as said:
                kept = keep(keep(self.made(name, settings)))
                keep(self.made(name, settings))
                self.assertNotIsInstance(kept, EbbFedAvg)
                # QFedAvg adds replies up, and rounds, in the order in which they come.
                same = self.assert_close if name == "QFedAvg" else self.assertEqual
                same(self.start(kept), self.start(self.made(name, settings)))
                self.assertEqual(len([line for line in said if line.startswith(
                    f"Ebb: {name} may need all replies of a round together")]), 1)

    def test_each_that_needs_all_replies_is_the_same_and_says_so_once(self):
        self.compare_cleaned(OF_ALL_REPLIES)

    @long_test
    def test_so_are_those_that_are_slow(self):
        self.compare_cleaned(SLOW)

    def test_a_strategy_of_the_users_own_streams_if_it_leaves_aggregation_alone(self):
        class Sampler(FedAdam):
            def configure_train(self, *args):
                return list(super().configure_train(*args))[:2]

        class Saver(FedAvg):
            def aggregate_train(self, *args):
                return super().aggregate_train(*args)

        class StreamingSaver(Saver, EbbFedAvg):
            pass

        self.assertIsInstance(keep(Sampler()), EbbFedAvg)
        self.assertNotIsInstance(keep(Saver()), EbbFedAvg)
        self.assertIsInstance(keep(strategies.DifferentialPrivacyClientSideFixedClipping(
            FedAvg(), 0.0, 1.0, NODES)), strategies.DifferentialPrivacyClientSideFixedClipping)
        self.assertEqual(self.start(StreamingSaver(min_train_nodes=NODES)),
                         self.start(FedAvg(min_train_nodes=NODES)))

    def held(self, strategy):
        """The largest number of replies with data that were in memory at once, of those that were pulled."""
        pulled, most = [], 0
        pull = self.grid.pull_messages

        def pull_and_count(identities):
            nonlocal most
            replies = list(pull(identities))
            pulled.extend(weakref.ref(one.content["arrays"]["0"]) for one in replies
                          if one.content.array_records)
            alive = [array() for array in pulled]
            most = max(most, sum(array is not None and bool(array.data) for array in alive))
            return replies

        self.grid.pull_messages = pull_and_count
        try:
            self.start(strategy)
        finally:
            del self.grid.pull_messages
        self.assertEqual(len(pulled), 3 * NODES)
        return most

    def test_one_reply_is_held_at_a_time(self):
        nodes = {"min_train_nodes": NODES, "min_available_nodes": NODES}
        self.assertGreaterEqual(self.held(FedAvg(**nodes)), NODES)
        self.assertEqual(self.held(EbbFedAvg(**nodes)), 1)
        self.assertEqual(self.held(keep(FedAdam(**nodes))), 1)
        # Of one round, not of two; a thread of the runtime may still have one in its hands.
        self.assertGreaterEqual(self.held(self.made("Krum", OF_ALL_REPLIES["Krum"])), 2 * NODES)
        self.assertLessEqual(self.held(keep(self.made("Krum", OF_ALL_REPLIES["Krum"]))), NODES + 1)

    def cleanups(self, strategy):
        calls = []
        hook = ebb.hooks.add("count", lambda: calls.append(1))
        try:
            self.start(strategy)
        finally:
            ebb.hooks.remove(hook)
        return len(calls)

    def test_memory_is_cleaned_up_after_each_round_as_told(self):
        self.assertEqual([self.cleanups(keep(FedMedian(), every=every)) for every in (0, 2)], [0, 1])
        with Lines() as said:
            self.assertEqual(self.cleanups(EbbFedAvg(ebb_every=1)), 3)
        self.assertEqual([line.split(":")[0] for line in said if line.startswith("Ebb ")],
                         ["Ebb before round 2", "Ebb before round 3", "Ebb at the end"])

    def test_a_client_that_fails_is_left_out_as_by_flower(self):
        config = {"train_config": ConfigRecord({"fails": 1})}
        with Lines() as said:
            ours = self.start(EbbFedAvg(min_train_nodes=NODES), **config)
            theirs = self.start(FedAvg(min_train_nodes=NODES), **config)
        self.assert_close(ours, theirs)
        self.assertEqual(said.count(f"aggregate_train: Received {NODES - 1} results and 1 failures"), 6)

    def test_the_callers_grid_stays_as_it_was(self):
        grid = OneByOneGrid(self.grid)
        self.assertEqual(list(grid.get_node_ids()), list(self.grid.get_node_ids()))
        self.assertEqual(len(list(grid.get_nodes())), NODES)
        self.assertEqual(grid.run.run_id, self.grid.run.run_id)
        self.assertEqual(grid.pull_interval, self.grid.pull_interval)
        self.assertEqual(list(grid.send_and_receive([])), [])
        self.assertEqual(list(grid.pull_messages([])), [])


class Dropouts(unittest.TestCase):
    def start(self, strategy, grid):
        """Flower's timeout runs out as soon as all have answered but the one who never does."""
        pulled, pull, now = [], grid.pull_messages, time.time

        def pull_and_count(identities):
            replies = list(pull(identities))
            pulled.extend(one.metadata.src_node_id for one in replies)
            return replies

        with mock.patch.object(grid, "pull_messages", pull_and_count), \
                mock.patch.object(time, "time", lambda: now() + 1e6 * (len(pulled) == NODES - 1)), \
                Lines() as said:
            result = strategy.start(grid, model(), num_rounds=1, timeout=3600)
        self.assertIn(f"aggregate_train: Received {NODES - 1} results and 0 failures", said)
        return [array.numpy() for array in result.arrays.values()]

    def test_a_client_that_never_answers_is_waited_for_as_long_as_by_flower(self):
        forever = threading.Event()
        self.addCleanup(ebb.give_back_at_once, False)
        with Simulation(app(wait=forever), NODES) as simulation:
            try:
                options = {"min_train_nodes": NODES, "fraction_evaluate": 0.0}
                theirs = self.start(FedAvg(**options), simulation.grid)
                ours = self.start(EbbFedAvg(**options), simulation.grid)
            finally:
                forever.set()
        for one, other in zip(ours, theirs):
            numpy.testing.assert_allclose(one, other, rtol=1e-6)


class Mod(unittest.TestCase):
    def cleanups(self, mod, messages):
        made, calls = app([mod]), []
        context = type("Context", (), {"node_config": {"partition-id": 1}, "run_config": {}})()
        hook = ebb.hooks.add("count", lambda: calls.append(1))
        try:
            for message in messages:
                try:
                    made(message=message, context=context)
                except RuntimeError as failure:
                    self.assertIn("out of luck", str(failure))
        finally:
            ebb.hooks.remove(hook)
        return len(calls)

    def message(self, kind="train", **config):
        return Message(RecordDict({"arrays": model(), "config": ConfigRecord(config)}), 1, kind)

    def test_cleans_up_after_every_nth_training_of_the_process(self):
        train, evaluate = self.message(), self.message("evaluate")
        self.assertEqual(self.cleanups(EbbMemoryMod(every=1), [train, evaluate, train]), 2)
        self.assertEqual(self.cleanups(EbbMemoryMod(every=1), [self.message(fails=1)]), 1)
        self.assertEqual(self.cleanups(EbbMemoryMod(every=3), [train, train]), 0)
        again = pickle.loads(pickle.dumps(EbbMemoryMod(every=3)))
        self.assertEqual(self.cleanups(again, [train]), 1, "counted by process, not by object")
        self.assertEqual(self.cleanups(EbbMemoryMod(every=0), [train]), 0)

    def test_refuses_what_a_keeper_refuses(self):
        with self.assertRaises(ebb.BadInput):
            EbbMemoryMod(every="often")


if __name__ == "__main__":
    unittest.main()
