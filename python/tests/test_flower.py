# SPDX-License-Identifier: Apache-2.0
"""Ebb inside the Flower from PyPI: what is aggregated, as Flower's own strategies aggregate it."""
import logging
import math
import pickle
import random
import threading
import time
import unittest
import warnings
import weakref
from unittest import mock

from flower_support import Simulation, failed, reply  # first: it sets what Flower reads at import

import numpy
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
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
NODES = 5
WEIGHTS = (1, 1, 2, 2, 2)  # of which Flower's shares are exact


def setUpModule():
    # What strategies say of each round is looked at where it matters.
    logging.getLogger("flwr").setLevel(logging.ERROR)


class Lines(logging.Handler):
    """What Flower's logger says in a block."""

    def __enter__(self):
        self.lines = []
        logger = logging.getLogger("flwr")
        self._before = logger.level, logger.handlers[:], logger.propagate
        logger.setLevel(logging.INFO)
        logger.handlers[:] = [self]
        logger.propagate = False
        return self.lines

    def emit(self, record):
        self.lines.append(record.getMessage())

    def __exit__(self, *_):
        logger = logging.getLogger("flwr")
        logger.setLevel(self._before[0])
        logger.handlers[:] = self._before[1]
        logger.propagate = self._before[2]


def outcome(strategy, replies):
    """What a strategy makes of replies: arrays, metrics, what it raised and what it said."""
    with Lines() as said, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            arrays, metrics = strategy.aggregate_train(1, replies)
        except Exception as failure:
            return None, None, (type(failure), str(failure)), said
    return arrays and {name: array.numpy() for name, array in arrays.items()}, metrics, None, said


class Aggregation(unittest.TestCase):
    """FedAvg and EbbFedAvg, on the same replies in the same order."""

    def both(self, make):
        """Compares all but the bits of arrays, which it returns."""
        theirs = outcome(FedAvg(), make())
        for given in (iter(make()), make()):
            ours = outcome(EbbFedAvg(), given)
            self.assertEqual(ours[1:], theirs[1:])
            self.assertEqual(list(ours[0] or ()), list(theirs[0] or ()))
            for name, array in (theirs[0] or {}).items():
                self.assertEqual((ours[0][name].dtype, ours[0][name].shape), (array.dtype, array.shape))
        return theirs[0], ours[0], theirs[2]

    def test_has_flowers_bits_where_flower_does_not_round(self):
        rng = numpy.random.default_rng(1)
        values = [rng.integers(-1024, 1024, (50, 40)).astype(numpy.float32) / 64 for _ in WEIGHTS]
        theirs, ours, _ = self.both(lambda: [
            reply(node, {"w": one, "b": one[0]}, WEIGHTS[node], loss=node / 3)
            for node, one in enumerate(values)])
        for name in theirs:
            self.assertEqual(theirs[name].tobytes(), ours[name].tobytes())

    def test_is_within_flowers_rounding_and_rounds_at_the_end_only(self):
        rng = numpy.random.default_rng(2)
        weights = [int(weight) for weight in rng.integers(1, 5000, 9)]
        for kind in (numpy.float16, numpy.float32, numpy.float64):
            values = [rng.standard_normal((30, 20)).astype(kind) for _ in weights]
            theirs, ours, _ = self.both(lambda: [reply(node, {"w": one}, weight) for node, (one, weight)
                                                 in enumerate(zip(values, weights))])
            # One product and one addition per reply, each off by half a unit of the largest value.
            size = max(abs(one).max() for one in values).astype(float)
            bound = (2 * len(weights) + 1) * numpy.finfo(kind).eps / 2 * size
            self.assertLessEqual(abs(ours["w"].astype(float) - theirs["w"]).max(), bound)
            exact = [math.fsum(float(one.flat[i]) * weight for one, weight in zip(values, weights)) / sum(weights)
                     for i in range(600)]
            if kind is not numpy.float64:  # whose products a float cannot hold
                self.assertEqual(ours["w"].tobytes(), numpy.array(exact, kind).tobytes())

    def test_has_the_same_bits_in_any_order(self):
        rng = numpy.random.default_rng(3)
        sent = [(node, rng.standard_normal(500, numpy.float32) * 10.0 ** node, int(rng.integers(1, 999)))
                for node in range(6)]
        seen = set()
        for seed in range(10):
            random.Random(seed).shuffle(sent)
            arrays, *_ = outcome(EbbFedAvg(), iter([reply(node, {"w": values}, weight)
                                                    for node, values, weight in sent]))
            seen.add(arrays["w"].tobytes())
        self.assertEqual(len(seen), 1)

    def test_types_and_shapes_are_flowers(self):
        for kind in ("float16", "float32", "float64", "int8", "int64", "uint8", "uint32", "bool", "complex64",
                     ">f4"):
            for shape in ((), (0,), (3,), (2, 0), (2, 3)):
                with self.subTest(kind=kind, shape=shape):
                    theirs, ours, _ = self.both(lambda: [
                        reply(node, {"w": numpy.full(shape, node, kind)}, node + 1) for node in range(3)])
                    numpy.testing.assert_allclose(ours["w"], theirs["w"], rtol=1e-2)

    def test_types_that_differ_between_replies_end_as_in_flower(self):
        for kinds in (("float16", "float32"), ("float64", "float16"), ("float32", "int64"),
                      ("float32", "uint32"), ("float32", "complex64"), ("int32", "float32")):
            with self.subTest(kinds):
                theirs, ours, _ = self.both(lambda: [
                    reply(node, {"w": numpy.full(3, node + 1, kind)}) for node, kind in enumerate(kinds)])
                if theirs:
                    numpy.testing.assert_allclose(ours["w"], theirs["w"], rtol=1e-3)

    def test_what_is_not_a_finite_number_comes_out_where_flower_has_it(self):
        inf, nan = math.inf, math.nan
        rows = [[1, nan, inf, inf, -inf, 1, 0], [2, 1, 1, -inf, -inf, nan, 0], [6, 1, inf, 0, 1, inf, 0]]
        theirs, ours, _ = self.both(lambda: [reply(node, {"w": numpy.float32(row), "v": numpy.ones(2)})
                                             for node, row in enumerate(rows)])
        for name in theirs:
            numpy.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6)

    def test_odd_weights_end_as_in_flower(self):
        for weights in ((0, 0), (0, 3), (1, -1), (-1, 3), (math.nan, 1), (math.inf, 1), (0.25, 1e-300)):
            with self.subTest(weights):
                theirs, ours, raised = self.both(lambda: [
                    reply(node, {"w": numpy.float32([node, 2])}, weight)
                    for node, weight in enumerate(weights)])
                self.assertEqual(raised is not None, sum(weights) == 0)
                if theirs:
                    numpy.testing.assert_allclose(ours["w"], theirs["w"], rtol=1e-6)

    def test_shapes_that_do_not_fit_raise_what_numpy_raises(self):
        for shapes in (((3,), (4,)), ((1,), (3,)), ((2, 3), (3, 2))):
            with self.subTest(shapes):
                *_, raised = self.both(lambda: [reply(node, {"v": [1.0], "w": numpy.ones(shape)})
                                                for node, shape in enumerate(shapes)])
                self.assertIs(raised[0], ValueError)
        theirs, ours, _ = self.both(lambda: [reply(0, {"w": numpy.ones((2, 3))}),
                                             reply(1, {"w": numpy.arange(3.0)})])
        numpy.testing.assert_array_equal(ours["w"], theirs["w"], "which NumPy broadcasts")

    def test_replies_that_are_not_of_one_kind_are_refused_as_by_flower(self):
        def two_records(node):
            one = reply(node, {"w": [1.0]})
            one.content["more"] = ArrayRecord([numpy.ones(2)])
            return one

        def no_metrics(node):
            one = reply(node, {"w": [1.0]})
            del one.content["metrics"]
            return one

        for odd in (two_records, no_metrics, lambda node: reply(node, {"v": [1.0]}),
                    lambda node: reply(node, {"w": [1.0]}, [1, 2]), lambda node: reply(node, {"w": [1.0]}, loss=1.0),
                    lambda node: reply(node, {"w": [1.0]}, names=("other", "metrics")),
                    lambda node: reply(node, {"w": ["text"]})):
            for replies in (lambda: [odd(0)], lambda: [odd(0), reply(1, {"w": [1.0]})],
                            lambda: [reply(0, {"w": [1.0]}), odd(1)],
                            lambda: [reply(0, {"w": [1.0, 2.0]}), reply(1, {"w": [1.0, 2, 3]}), odd(2)]):
                self.both(replies)
        weightless = outcome(EbbFedAvg(weighted_by_key="size"), [reply(0, {"w": [1.0]})])
        self.assertEqual(weightless, outcome(FedAvg(weighted_by_key="size"), [reply(0, {"w": [1.0]})]))
        self.assertIn("Missing required key `size`", weightless[2][1])

    def test_errors_are_left_out_and_named_as_by_flower(self):
        theirs, ours, _ = self.both(lambda: [failed(7), reply(1, {"w": [2.0]}), failed(8, "no disk")])
        numpy.testing.assert_array_equal(ours["w"], theirs["w"])
        for replies in ([failed(7), failed(8)], []):
            self.assertEqual(outcome(EbbFedAvg(), iter(replies))[:2], (None, None))
            self.assertIsNone(self.both(lambda: list(replies))[0])

    def test_only_what_was_pulled_for_it_is_used_up(self):
        mine = [reply(0, {"w": numpy.ones(3)})]
        EbbFedAvg().aggregate_train(1, mine)
        numpy.testing.assert_array_equal(mine[0].content["arrays"]["w"].numpy(), numpy.ones(3))
        EbbFedAvg().aggregate_train(1, iter(mine))
        self.assertEqual(mine[0].content["arrays"]["w"].data, b"")

    def test_functions_for_metrics_see_everything_but_the_data_of_arrays(self):
        seen = []

        def collect(contents, key):
            seen.extend((key, dict(one["metrics"]), one["arrays"]["w"].shape, one["arrays"]["w"].data)
                        for one in contents)
            return MetricRecord({"n": len(contents)})

        _, metrics = EbbFedAvg(train_metrics_aggr_fn=collect).aggregate_train(
            1, iter([reply(0, {"w": numpy.ones(3)}, loss=1.0), failed(1)]))
        self.assertEqual(seen, [("num-examples", {"num-examples": 1, "loss": 1.0}, (3,), b"")])
        self.assertEqual(metrics, {"n": 1})


def app(mods=(), wait=None):
    """A ClientApp that adds a number of its own to every parameter."""
    made = ClientApp(mods=list(mods))

    @made.train()
    def train(message, context):
        number = int(context.node_config["partition-id"])
        if wait is not None and number == 0:
            wait.wait()
        if number == message.content["config"].get("fails"):
            raise RuntimeError("out of luck")
        mu = message.content["config"].get("proximal-mu", 0)
        arrays = [values + numpy.float32(number ** 2 + mu) for values in
                  message.content["arrays"].to_numpy_ndarrays()]
        return Message(RecordDict({
            "arrays": ArrayRecord(arrays),
            "metrics": MetricRecord({"num-examples": WEIGHTS[number], "loss": number / 2 + 1.0})}),
            reply_to=message)

    @made.evaluate()
    def evaluate(message, context):
        mean = float(message.content["arrays"].to_numpy_ndarrays()[0].mean())
        return Message(RecordDict({"metrics": MetricRecord({"num-examples": 1, "mean": mean})}),
                       reply_to=message)

    return made


def model(elements=64):
    # Of so few bits that no mean of them rounds.
    rng = numpy.random.default_rng(4)
    return ArrayRecord([rng.integers(-64, 64, elements).astype(numpy.float32) / 64, numpy.zeros(3)])


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
        self.assertEqual(self.held(keep(FedMedian(**nodes))), NODES, "those of one round, not of two")

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
