# SPDX-License-Identifier: Apache-2.0
"""Ebb inside the Flower from PyPI: what EbbFedAvg makes of replies, as FedAvg does."""
import math
import random
import unittest

from flower_support import WEIGHTS, failed, outcome, reply  # first: it sets what Flower reads at import

import numpy
from flwr.app import ArrayRecord, MetricRecord
from flwr.serverapp.strategy import FedAvg

from ebb.flower import EbbFedAvg


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
            exact = [math.fsum(float(one.flat[i]) * weight for one, weight in zip(values, weights)) /
                     sum(weights)
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


if __name__ == "__main__":
    unittest.main()
