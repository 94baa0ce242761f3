# SPDX-License-Identifier: Apache-2.0
"""CSFL-simulator's simulator, over `ebb.Simulation`."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable

from ... import errors
from ...simulating import Simulation
from .config import SimConfig
from .memory import cleanup_memory

_MIB = 1 << 20

# Where torchvision leaves a data set below ./data, and where its binary archive is unpacked to.
_FOLDERS = {"mnist": "MNIST/raw", "fashion-mnist": "FashionMNIST/raw", "emnist": "EMNIST/raw",
            "cifar-10": "cifar-10-batches-bin", "cifar-100": "cifar-100-binary"}

OnProgress = Callable[[int, dict[str, Any]], object]


class FLSimulator:
    """Simulates one method after another under one configuration, each in a process of its own, whose memory is
    planned before the first round and gone after the last.

    Data are looked for where torchvision leaves them below `./data`, else where Debian does. `options` are more
    options of `ebb.simulate`, such as `data="folder"` or `memory="2GiB"`. Nothing is written or recorded unless
    `name` or an option says so.
    """

    def __init__(self, config: SimConfig, **options: Any) -> None:
        config.check()
        self.cfg = config
        self.run_id = config.name or f"sim_{time.strftime('%Y%m%d-%H%M%S')}_{os.getpid()}"
        self.history: dict[str, Any] = {"state": {}, "selected": []}
        self.plan: dict[str, Any] = {}
        self._options = options
        self._simulation: Simulation | None = None

    def setup(self) -> None:
        """Reads the data and plans the memory, without a round: `plan` then holds what is large. `run` does not
        need it."""
        with Simulation(self._all_options(), dry_run=True) as planning:
            self.plan = planning.result()["plan"]

    def run(self, method_key: str = "heuristic.random", on_progress: OnProgress | None = None,
            is_cancelled: Callable[[], bool] | None = None) -> dict[str, Any]:
        """All rounds with one method. `on_progress(round, {"accuracy", "metrics", "selected", "reward",
        "composite"})` after each; `is_cancelled()` is asked after each. In the result, `metrics` has a row for
        each round, the first of them (round -1) of the untrained model, and `ebb` is what `ebb.simulate` returns."""
        self._close()
        self.history = {"state": {}, "selected": []}
        options = self._all_options()
        if self.cfg.name is not None and "folder" not in options:
            options.pop("no_folder", None)
            options["folder"] = str(Path("ebb-runs") / self.cfg.name / method_key)
        rows = _Rows(self.cfg)
        self._simulation = Simulation(options, method=method_key)
        try:
            for done in self._simulation:
                row = rows.add(done)
                self.history["selected"].append(done["cohort"])
                self.history["state"]["last_reward"] = row["reward"]
                if on_progress is not None:
                    on_progress(done["round"], {
                        "accuracy": row["accuracy"], "metrics": row, "selected": done["cohort"],
                        "reward": row["reward"], "composite": row["composite"]})
                if is_cancelled is not None and is_cancelled():
                    self._simulation.stop()
            result = self._simulation.result()
        finally:
            self._close()
        counts = [0] * self.cfg.total_clients
        for done in result["rounds"]:
            for client in done["took_part"]:
                counts[client] += 1
        metrics = [{"round": -1, **result["untrained"]}] if result.get("untrained") else []
        rows = _Rows(self.cfg)  # with those before a checkpoint that it was resumed from
        metrics += [rows.add(done) for done in result["rounds"]]
        return {
            "run_id": self.run_id, "metrics": metrics, "config": asdict(self.cfg),
            "device": result.get("config", {}).get("backend", self.cfg.device),
            "stopped_early": result["stopped"], "method": method_key,
            "history": {"selected": list(self.history["selected"])}, "participation_counts": counts,
            "ebb": result,
        }

    def cleanup(self) -> None:
        """Ends a simulation that is still at work, and gives this process's own unused memory back."""
        self._close()
        cleanup_memory(force_cuda_empty=True)

    def _close(self) -> None:
        simulation, self._simulation = self._simulation, None
        if simulation is not None:
            simulation.close()

    def _all_options(self) -> dict[str, Any]:
        self.cfg.check()
        options: dict[str, Any] = {**self.cfg.options(), "no_folder": True, "no_record": True}
        folder = Path("data") / _FOLDERS.get(self.cfg.data_set(), "")
        if self.cfg.data_set() in _FOLDERS and folder.is_dir():
            options["data"] = str(folder)
        if {"folder", "resume"} & self._options.keys():
            del options["no_folder"]
        if "method" in self._options:
            raise errors.BadInput("option 'method': expected it as the argument of run()")
        return {**options, **self._options}


class _Rows:
    """Rounds under CSFL's names, as far as they mean the same. Times are simulated seconds, energy is in joules,
    bytes are what is sent."""

    def __init__(self, config: SimConfig) -> None:
        self._weights = config.reward_weights
        self._before: dict[str, float] = {}
        self._composite = 0.0
        self._accuracy = 0.0

    def add(self, done: dict[str, Any]) -> dict[str, Any]:
        accuracy = done["accuracy"]
        if accuracy is not None:
            self._accuracy = accuracy
        seconds = self._since_last(done, "simulated_seconds")
        weights = self._weights
        composite = (weights["acc"] * self._accuracy + weights["time"] / (1 + seconds)
                     + weights["fair"] / (1 + done["participation_variance"]) + weights["dp"])
        row = {
            "round": done["round"], "accuracy": self._accuracy, "loss": done["loss"], "f1": done["f1"],
            "precision": done["precision"], "recall": done["recall"],
            "selection_time": done["selection_seconds"], "round_time": seconds,
            "wall_clock": done["simulated_seconds"], "cum_time": done["simulated_seconds"],
            "round_energy": self._since_last(done, "energy_joules"),
            "round_bytes": self._since_last(done, "communicated_bytes"),
            "cum_comm": done["communicated_bytes"] / _MIB, "cum_tflops": done["flops"] / 1e12,
            "fairness_var": done["participation_variance"], "fairness_gini": done["gini"],
            "utilization_entropy": done["entropy"], "dp_used_avg": 0.0, "composite": composite,
            "reward": composite - self._composite,
        }
        self._composite = composite
        return row

    def _since_last(self, done: dict[str, Any], key: str) -> float:
        """Of a sum since round 0, what this round added."""
        added = float(done[key]) - self._before.get(key, 0.0)
        self._before[key] = float(done[key])
        return added
