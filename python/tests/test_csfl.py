# SPDX-License-Identifier: Apache-2.0
"""CSFL-simulator's names: its memory functions, its configuration, and what its guide does with them."""
import contextlib
import io
import os
import random
import struct
import tempfile
import unittest
from dataclasses import fields
from pathlib import Path

import ebb
from ebb.compat import csfl
from ebb.compat.csfl import FLSimulator, SimConfig, check_memory_critical, cleanup_memory, get_memory_info
from support import long_test, needs_simulator


class Memory(unittest.TestCase):
    def test_answers_with_its_keys(self):
        memory = csfl.get_memory_info()
        for key in ("timestamp", "cpu_percent", "ram_used_gb", "ram_available_gb", "ram_percent"):
            self.assertIsInstance(memory[key], (int, float))
        self.assertTrue(0 <= memory["cpu_percent"] <= 100, memory)
        limit = ebb.read_memory().limit_bytes / (1 << 30)
        self.assertAlmostEqual(memory["ram_used_gb"] + memory["ram_available_gb"], limit, places=3)

    def test_critical_is_above_the_threshold(self):
        self.assertEqual(csfl.check_memory_critical(100.0), (False, "Memory OK"))
        critical, message = csfl.check_memory_critical(threshold_percent=0.0)
        self.assertTrue(critical)
        self.assertRegex(message, r"^RAM at \d+\.\d%$")

    def test_cleans_up_and_prints_before_and_after_if_asked(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            report = csfl.cleanup_memory(force_cuda_empty=False, verbose=True)
            csfl.cleanup_memory()
        self.assertRegex(printed.getvalue(),
                         r"^\[Memory\] Before cleanup: RAM \d+\.\d% \(\d+\.\d\d GB\)\n"
                         r"\[Memory\] After cleanup: RAM \d+\.\d% \(\d+\.\d\d GB\) - freed \d+\.\d\d GB\n$")
        self.assertIsInstance(report, ebb.CleanupReport)


class Configuration(unittest.TestCase):
    def test_has_every_field_with_csfls_default(self):
        config = SimConfig()
        self.assertEqual({each.name: getattr(config, each.name) for each in fields(config)}, {
            "dataset": "MNIST", "partition": "iid", "dirichlet_alpha": 0.5, "shards_per_client": 2,
            "size_distribution": "uniform", "size_lognormal_mu": 0.0, "size_lognormal_sigma": 0.5,
            "size_powerlaw_alpha": 1.5, "total_clients": 10, "clients_per_round": 3, "rounds": 3,
            "local_epochs": 1, "batch_size": 32, "lr": 0.01, "model": "CNN-MNIST", "device": "auto", "seed": 42,
            "smoke_test_mode": False, "fast_mode": False, "pretrained": False, "time_budget": None,
            "energy_budget": None, "bytes_budget": None, "dp_sigma": 0.0, "dp_epsilon_per_round": 0.0,
            "dp_clip_norm": 0.0, "reward_weights": {"acc": 0.6, "time": 0.2, "fair": 0.1, "dp": 0.1},
            "track_grad_norm": False, "parallel_clients": -1, "num_workers": min(4, os.cpu_count()),
            "grad_accum_steps": 1, "dropout_prob": 0.0, "staleness_window": 0, "name": None, "paradigm": "fl",
            "public_dataset": "same", "public_dataset_size": 2000, "public_label_noise": 0.0,
            "distillation_epochs": 2, "distillation_batch_size": 500, "distillation_lr": 1e-3,
            "temperature": 1.0, "dynamic_steps": True, "dynamic_steps_base": 5, "dynamic_steps_period": 25,
            "model_heterogeneous": False, "model_pool": "", "channel_noise": False, "n_bs_antennas": 64,
            "n_device_antennas": 1, "ul_snr_db": -8.0, "dl_snr_db": -20.0, "quantization_bits": 8,
            "group_based": False, "channel_threshold": 0.5, "fd_optimizer": "adam", "eval_every": 10,
            "use_amp": True, "server_distill_sigma": 0.01, "static_channel_groups": True,
            "combining_scheme": "zf", "profile": False, "performance_mode": True, "use_torch_compile": False,
            "channels_last": False, "eval_subsample": 0, "server_warmup_rounds": 10,
            "server_warmup_epochs": 8, "freeze_bn_on_distill": True, "scope_au": None, "scope_ad": None})

    def test_is_said_in_ebbs_words(self):
        options = SimConfig(
            dataset="cifar-100", partition="label_shard", shards_per_client=3, size_distribution="power_law",
            size_powerlaw_alpha=2.0, total_clients=20, clients_per_round=4, rounds=5, local_epochs=2,
            batch_size=16, lr=0.1, model="ResNet18", device="cpu", seed=7, parallel_clients=0,
            dropout_prob=0.1, staleness_window=2, num_workers=2, track_grad_norm=True).options()
        self.assertEqual(options, {
            "dataset": "cifar-100", "partition": "shards", "alpha": 0.5, "shards_per_client": 3,
            "sizes": "power-law", "size_sigma": 0.5, "size_alpha": 2.0, "clients": 20, "per_round": 4,
            "rounds": 5, "epochs": 2, "batch": 16, "lr": 0.1, "model": "ResNet18", "seed": 7,
            "backend": "native", "parallel_clients": 1, "dropout": 0.1, "staleness": 2})
        self.assertEqual(SimConfig().options()["parallel_clients"], "auto")
        self.assertEqual(SimConfig(parallel_clients=4).options()["parallel_clients"], 4)
        for name in ("Fashion-MNIST", "fashion-mnist", "FASHION_MNIST", "FashionMNIST"):
            self.assertEqual(SimConfig(dataset=name).data_set(), "fashion-mnist")

    def test_what_ebb_does_not_have_raises(self):
        for name, value in (
                ("smoke_test_mode", True), ("pretrained", True), ("time_budget", 3.0), ("dp_sigma", 0.1),
                ("dp_clip_norm", 1.0), ("reward_weights", {"acc": 1.0}), ("paradigm", "fd"),
                ("temperature", 2.0), ("eval_every", 5), ("scope_au", 0.5), ("grad_accum_steps", 2),
                ("dataset", "STL-10"), ("partition", "dirichelt"), ("size_distribution", "zipf"),
                ("device", "mps"), ("parallel_clients", -2)):
            with self.subTest(name), self.assertRaisesRegex(ebb.BadInput, f"^{name} .*expected"):
                SimConfig(**{name: value})
            config = SimConfig()
            setattr(config, name, value)
            with self.subTest(f"{name}, later"), self.assertRaisesRegex(ebb.BadInput, f"^{name} "):
                FLSimulator(config)


def write_mnist(folder, train, test):
    """Pictures in MNIST's files, where torchvision leaves them: a bright row for each digit, and noise."""
    raw = Path(folder) / "data/MNIST/raw"
    raw.mkdir(parents=True)
    draw = random.Random(1)
    for stem, count in (("train", train), ("t10k", test)):
        labels = bytes(i % 10 for i in range(count))
        pictures = bytearray()
        for label in labels:
            picture = bytearray(draw.randbytes(28 * 28))
            for row in (2 * label + 3, 2 * label + 4):
                picture[row * 28:(row + 1) * 28] = bytes([255]) * 28
            pictures += picture
        (raw / f"{stem}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, count, 28, 28) + pictures)
        (raw / f"{stem}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, count) + labels)


@needs_simulator
class Guide(unittest.TestCase):
    """What CSFL's guide does, with other imports, in a folder with a small MNIST."""

    @classmethod
    def setUpClass(cls):
        cls._before = os.getcwd()
        cls._folder = tempfile.TemporaryDirectory()
        write_mnist(cls._folder.name, 600, 100)
        os.chdir(cls._folder.name)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls._before)
        cls._folder.cleanup()

    def test_the_heavy_simulation(self):
        self.simulate_heavily("heuristic.random")

    @long_test
    def test_the_heavy_simulation_of_three_methods(self):
        self.simulate_heavily("heuristic.random", "system_aware.oort", "heuristic.topk_loss")

    def simulate_heavily(self, *methods):
        # 100 clients, 100 rounds, method after method: what froze the machine at round 70.
        results = {}
        for method in methods:
            config = SimConfig(
                dataset="MNIST",
                total_clients=100,
                clients_per_round=10,
                rounds=100,
                parallel_clients=-1,
                fast_mode=False,
            )
            sim = FLSimulator(config)
            results[method] = sim.run(method_key=method)
            sim.cleanup()
            cleanup_memory(force_cuda_empty=True, verbose=False)
        for method, result in results.items():
            self.assertEqual(result["method"], method)
            self.assertEqual([row["round"] for row in result["metrics"]], list(range(-1, 100)))
            self.assertGreater(result["metrics"][-1]["accuracy"], result["metrics"][0]["accuracy"])
            self.assertEqual(sum(result["participation_counts"]),
                             sum(map(len, result["history"]["selected"])))
            rows = result["ebb"]["rounds"]
            self.assertLess(rows[-1]["rss_bytes"] - rows[69]["rss_bytes"], 8 << 20, "memory stays level")
        self.assertEqual(os.listdir("."), ["data"], "nothing is written that was not asked for")

    def test_the_memory_safe_configuration(self):
        config = SimConfig(
            dataset="mnist",
            total_clients=20,
            clients_per_round=4,
            rounds=3,
            batch_size=16,
            parallel_clients=0,
            name="safe",
        )
        sim = FLSimulator(config)
        sim.setup()
        self.assertEqual(sim.plan["parallel_clients"], 1)
        result = sim.run("heuristic.random")
        self.assertEqual(result["run_id"], "safe")
        self.assertEqual(result["ebb"]["plan"]["parallel_clients"], 1)
        before = 0.0
        for row in result["metrics"][1:]:
            composite = (0.6 * row["accuracy"] + 0.2 / (1 + row["round_time"])
                         + 0.1 / (1 + row["fairness_var"]) + 0.1)
            self.assertAlmostEqual(row["composite"], composite)
            self.assertAlmostEqual(row["reward"], composite - before)
            before = composite
        self.assertTrue(Path("ebb-runs/safe/heuristic.random/result.json").is_file())
        for path in sorted(Path("ebb-runs").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        Path("ebb-runs").rmdir()

    def test_the_monitoring(self):
        config = SimConfig(dataset="MNIST", total_clients=10, clients_per_round=3, rounds=1000,
                           model="CNN-MNIST", device="auto")
        sim = FLSimulator(config)
        printed, rounds = io.StringIO(), []

        def on_progress(rnd, info):
            rounds.append(rnd)
            is_critical, msg = check_memory_critical(threshold_percent=85.0)
            if is_critical:
                print(f"Warning at round {rnd}: {msg}")
            print(f"round {rnd}: accuracy {info['accuracy']:.3f}, {len(info['selected'])} clients, "
                  f"RAM: {get_memory_info()['ram_percent']:.1f}%, reward {info['reward']:.3f}, "
                  f"loss {info['metrics']['loss']:.3f}")

        with contextlib.redirect_stdout(printed):
            result = sim.run("heuristic.random", on_progress=on_progress, is_cancelled=lambda: len(rounds) >= 3)
            cleanup_memory(force_cuda_empty=True, verbose=True)
        sim.cleanup()
        self.assertIs(result["stopped_early"], True)
        self.assertGreaterEqual(len(result["metrics"]), 4)
        self.assertRegex(printed.getvalue(), r"round 0: accuracy 0\.\d{3}, 3 clients, RAM: \d+\.\d%")
        self.assertIn("[Memory] Before cleanup: RAM", printed.getvalue())
        self.assertIn("[Memory] After cleanup: RAM", printed.getvalue())

    def test_a_method_that_ebb_does_not_have_is_named(self):
        with self.assertRaisesRegex(ebb.BadInput, "ml.rl_gnn"):
            FLSimulator(SimConfig()).run("ml.rl_gnn")
        with self.assertRaisesRegex(ebb.BadInput, "argument of run"):
            FLSimulator(SimConfig(), method="heuristic.random").run()


if __name__ == "__main__":
    unittest.main()
