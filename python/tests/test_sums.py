# SPDX-License-Identifier: Apache-2.0
"""Exact sums, beside Python's fractions."""
import random
import threading
import unittest
from fractions import Fraction

import numpy

import ebb
from ebb.sums import TensorSum
from support import debian_python


def exact_mean(parts):
    """Of (values, weight), as doubles that are rounded once for the sum, once for the weights, and once
    for the quotient."""
    total = float(sum(Fraction(float(weight)) for _, weight in parts))
    return [float(sum(Fraction(float(values[i])) * Fraction(float(weight)) for values, weight in parts))
            / total for i in range(len(parts[0][0]))]


def mean_of(parts):
    mean = TensorSum()
    for values, weight in parts:
        mean.add(values, weight)
    return mean.take()


class Sums(unittest.TestCase):
    def parts(self, seed, dtype, spread, clients=9, elements=300, fractions=False):
        rng = numpy.random.default_rng(seed)
        return [((rng.standard_normal(elements) * 2.0 ** rng.integers(-spread, spread + 1, elements)
                  ).astype(dtype), float(rng.random() + 0.1) if fractions else int(rng.integers(1, 9999)))
                for _ in range(clients)]

    def test_equal_what_fractions_give_bit_for_bit(self):
        for dtype, spread in ((numpy.float32, 3), (numpy.float32, 60), (numpy.float64, 3),
                              (numpy.float64, 400), (numpy.float16, 6)):
            for fractions in (False, True):
                with self.subTest(dtype=dtype.__name__, spread=spread, fractions=fractions):
                    parts = self.parts(spread, dtype, spread, fractions=fractions)
                    expected = numpy.array(exact_mean(parts)).astype(dtype)
                    numpy.testing.assert_array_equal(mean_of(parts), expected)

    def test_have_the_same_bits_in_any_order(self):
        for dtype in (numpy.float32, numpy.float64):
            parts = self.parts(8, dtype, 40, fractions=True)
            seen = set()
            for seed in range(20):
                random.Random(seed).shuffle(parts)
                seen.add(mean_of(parts).tobytes())
            self.assertEqual(len(seen), 1)

    def test_numpys_own_sums_do_depend_on_the_order(self):
        parts = self.parts(8, numpy.float32, 40)
        seen = set()
        for seed in range(20):
            random.Random(seed).shuffle(parts)
            total = parts[0][0] * parts[0][1]
            for values, weight in parts[1:]:
                total = total + values * weight
            seen.add(total.tobytes())
        self.assertGreater(len(seen), 1, "or there was nothing to show")

    def test_integers_become_doubles_and_keep_their_value(self):
        for dtype in (numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.uint8, numpy.bool_):
            mean = mean_of([(numpy.array([1, 0], dtype), 1), (numpy.array([0, 1], dtype), 3)])
            self.assertEqual(mean.dtype, numpy.float64)
            self.assertEqual(mean.tolist(), [0.25, 0.75])

    def test_the_type_of_the_mean_does_not_depend_on_the_order(self):
        for types, expected in ((("f2", "f4"), "float32"), (("f4", "f8"), "float64"),
                                (("f2", "i1"), "float64"), (("f2", "f2"), "float16")):
            for order in (types, types[::-1]):
                parts = [(numpy.ones(3, dtype), 1) for dtype in order]
                self.assertEqual(mean_of(parts).dtype.name, expected)

    def test_what_is_refused_decides_no_shape(self):
        mean = TensorSum()
        for keep in (True, False):
            with self.assertRaises(ebb.BadInput):
                mean.add(numpy.float64([1, numpy.nan]), keep=keep)
        mean.add(numpy.ones((4, 4), numpy.float32))
        self.assertEqual(mean.take().shape, (4, 4))

    def test_take_any_shape_and_layout(self):
        values = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
        for shaped in (values, values.T, values[:, ::2], values[0, 0, 0], numpy.zeros((0, 3), "f4")):
            numpy.testing.assert_array_equal(mean_of([(shaped, 3)]), shaped)
            self.assertEqual(mean_of([(shaped, 3)]).shape, numpy.shape(shaped))

    def test_a_contribution_can_be_taken_back(self):
        parts = self.parts(3, numpy.float32, 30)
        expected = mean_of(parts[:-1])
        parts.insert(2, (parts[-1][0], -parts[-1][1]))
        numpy.testing.assert_array_equal(mean_of(parts), expected)

    def test_refuse_what_does_not_fit(self):
        mean = TensorSum()
        with self.assertRaisesRegex(ebb.BadInput, "nothing was added"):
            mean.take()
        mean.add(numpy.float32([1, 2]), 2)
        for bad, says in ((numpy.float32([1, numpy.inf]), "element 1 is inf"),
                          (numpy.float32([1]), r"shape \(1,\)"), (numpy.complex64([1, 2]), "complex64"),
                          ([1.0, 2.0], "list"), (numpy.array([1, 2], ">f4"), "byte order")):
            with self.subTest(says), self.assertRaisesRegex(ebb.BadInput, says):
                mean.add(bad)
        with self.assertRaises(ebb.BadInput):
            mean.add(numpy.float32([1, 2]), float("nan"))
        self.assertEqual((mean.additions, mean.weight), (1, 2.0))
        self.assertEqual(mean.mean().tolist(), [1, 2])
        self.assertEqual(mean.take().tolist(), [1, 2])
        with self.assertRaisesRegex(ebb.BadInput, "weights add up to 0"):
            mean.take()

    def test_one_accumulator_takes_eight_bytes_per_element(self):
        rng = numpy.random.default_rng(2)
        mean = TensorSum()
        for client in range(4):
            mean.add(rng.standard_normal(1 << 20, numpy.float32), 100 + client)
        self.assertLess(mean.nbytes, 9 << 20)

    def test_what_is_kept_as_it_is_counts_all_the_same(self):
        parts = self.parts(4, numpy.float32, 20, fractions=True)
        expected = mean_of(parts)
        mean = TensorSum()
        for number, (values, weight) in enumerate(parts):
            mean.add(values, weight, keep=True)
            self.assertEqual(mean.additions, number + 1)
            self.assertEqual(mean.nbytes > 0, number > 0, "the first is its own accumulator")
        self.assertAlmostEqual(mean.weight, sum(weight for _, weight in parts))
        numpy.testing.assert_array_equal(mean.take(), expected)
        alone = TensorSum()
        alone.add(parts[0][0], 3, keep=True)
        with self.assertRaises(ebb.BadInput):
            alone.add(parts[0][0][:5], 3, keep=True)
        numpy.testing.assert_array_equal(alone.take(), parts[0][0])

    def test_let_go_of_memory_while_they_are_read(self):
        mean = TensorSum()
        values = numpy.ones(8 << 20, numpy.float32)
        mean.add(values)
        before = ebb.rss()
        taken = mean.take()
        self.assertLess(ebb.rss(), before - (24 << 20), "64 MiB went, 32 MiB came")
        self.assertEqual(float(taken.sum()), len(values))

    def test_add_from_many_threads(self):
        mean = TensorSum()
        values = numpy.full(1000, 0.1, numpy.float32)
        threads = [threading.Thread(target=lambda: [mean.add(values, 2, keep=True) for _ in range(20)])
                   for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(mean.additions, 120)
        self.assertEqual(mean.weight, 240)
        numpy.testing.assert_array_equal(mean.take(), values)


class TorchTensors(unittest.TestCase):
    def test_pytorchs_tensors_come_back_as_such(self):
        said = debian_python("""
import torch
from ebb.sums import TensorSum
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    mean = TensorSum()
    mean.add(torch.ones(4, 3, dtype=dtype, requires_grad=True), 1)
    mean.add(torch.full((3, 4), 4, dtype=dtype).T, 2)
    taken = mean.take()
    print(taken.dtype, tuple(taken.shape), float(taken[0, 0]), taken.requires_grad)
""")
        self.assertEqual(said.splitlines(), [
            f"torch.{name} (4, 3) 3.0 False" for name in ("float32", "float64", "float16", "bfloat16")])


if __name__ == "__main__":
    unittest.main()
