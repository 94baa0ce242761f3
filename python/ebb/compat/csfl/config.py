# SPDX-License-Identifier: Apache-2.0
"""CSFL-simulator's configuration, and what it is in Ebb's words."""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from ... import errors

_DATA_SETS = ("fashion-mnist", "mnist", "emnist", "cifar-10", "cifar-100", "synthetic")
_SHARDS = ("shards", "shard", "label-shard", "label-shards", "labelshard")
_SIZES = {"uniform": "none", "lognormal": "lognormal", "power-law": "power-law"}

# What Ebb's simulator does not have, and what it has in its place: to be left at CSFL's default.
_LACKING = {
    "smoke_test_mode": "Ebb trains on whole epochs", "fast_mode": "Ebb trains on whole epochs",
    "pretrained": "models start untrained",
    "time_budget": "methods have parameters, rounds have ebb.simulate(deadline=…)",
    "energy_budget": "methods have parameters", "bytes_budget": "methods have parameters",
    "dp_sigma": "ebb.simulate(dp_clip=…, dp_noise=…) has calibrated noise",
    "dp_epsilon_per_round": "ebb.simulate(dp_clip=…, dp_noise=…) accounts for what is spent",
    "dp_clip_norm": "ebb.simulate(dp_clip=…) clips updates",
    "reward_weights": "methods that learn have rewards of their own",
}
_DISTILLATION = "federated distillation is not simulated"


def _bare(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


@dataclass
class SimConfig:
    """The fields of CSFL-simulator with its defaults. One that Ebb does not have raises `BadInput` when it is set
    to anything else. The data set "synthetic", which is Ebb's own, needs no files."""

    dataset: str = "MNIST"
    partition: str = "iid"
    dirichlet_alpha: float = 0.5
    shards_per_client: int = 2
    size_distribution: str = "uniform"
    size_lognormal_mu: float = 0.0  # a common factor of all sizes, which are shares
    size_lognormal_sigma: float = 0.5
    size_powerlaw_alpha: float = 1.5
    total_clients: int = 10
    clients_per_round: int = 3
    rounds: int = 3
    local_epochs: int = 1
    batch_size: int = 32
    lr: float = 0.01
    model: str = "CNN-MNIST"
    device: str = "auto"
    seed: int = 42
    smoke_test_mode: bool = False
    fast_mode: bool = False  # what earlier versions called smoke_test_mode
    pretrained: bool = False
    time_budget: float | None = None
    energy_budget: float | None = None
    bytes_budget: float | None = None
    dp_sigma: float = 0.0
    dp_epsilon_per_round: float = 0.0
    dp_clip_norm: float = 0.0
    reward_weights: dict[str, float] = field(
        default_factory=lambda: {"acc": 0.6, "time": 0.2, "fair": 0.1, "dp": 0.1})
    track_grad_norm: bool = False  # Ebb measures norms where a method asks for them
    parallel_clients: int = -1
    num_workers: int = field(default_factory=lambda: min(4, os.cpu_count() or 1))  # Ebb has none
    grad_accum_steps: int = 1
    dropout_prob: float = 0.0
    staleness_window: int = 0
    name: str | None = None
    paradigm: str = "fl"
    public_dataset: str = "same"
    public_dataset_size: int = 2000
    public_label_noise: float = 0.0
    distillation_epochs: int = 2
    distillation_batch_size: int = 500
    distillation_lr: float = 1e-3
    temperature: float = 1.0
    dynamic_steps: bool = True
    dynamic_steps_base: int = 5
    dynamic_steps_period: int = 25
    model_heterogeneous: bool = False
    model_pool: str = ""
    channel_noise: bool = False
    n_bs_antennas: int = 64
    n_device_antennas: int = 1
    ul_snr_db: float = -8.0
    dl_snr_db: float = -20.0
    quantization_bits: int = 8
    group_based: bool = False
    channel_threshold: float = 0.5
    fd_optimizer: str = "adam"
    eval_every: int = 10
    use_amp: bool = True
    server_distill_sigma: float = 0.01
    static_channel_groups: bool = True
    combining_scheme: str = "zf"
    profile: bool = False
    performance_mode: bool = True
    use_torch_compile: bool = False
    channels_last: bool = False
    eval_subsample: int = 0
    server_warmup_rounds: int = 10
    server_warmup_epochs: int = 8
    freeze_bn_on_distill: bool = True
    scope_au: float | None = None
    scope_ad: float | None = None

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raises `BadInput` for the first field that Ebb cannot follow."""
        names = [each.name for each in fields(self)]
        lacking = {**dict.fromkeys(names[names.index("paradigm"):], _DISTILLATION),
                   "grad_accum_steps": _DISTILLATION, **_LACKING}
        for each in fields(self):
            if each.name not in lacking:
                continue
            make: Any = each.default_factory
            default = each.default if each.default is not MISSING else make()
            value = getattr(self, each.name)
            if value != default:
                raise errors.BadInput(
                    f"{each.name} {value!r}: expected {default!r}, Ebb has no such setting; {lacking[each.name]}")
        self.options()

    def data_set(self) -> str:
        """Ebb's name of it."""
        for known in _DATA_SETS:
            if _bare(known) == _bare(self.dataset):
                return known
        raise errors.BadInput(f"dataset {self.dataset!r}: expected one of {', '.join(_DATA_SETS)}")

    def options(self) -> dict[str, Any]:
        """The same as options of `ebb.simulate`, but for the method."""
        return {
            "dataset": self.data_set(), "partition": self._partition(), "alpha": self.dirichlet_alpha,
            "shards_per_client": self.shards_per_client, "sizes": self._sizes(),
            "size_sigma": self.size_lognormal_sigma, "size_alpha": self.size_powerlaw_alpha,
            "clients": self.total_clients, "per_round": self.clients_per_round, "rounds": self.rounds,
            "epochs": self.local_epochs, "batch": self.batch_size, "lr": self.lr, "model": self.model,
            "seed": self.seed, "backend": self._backend(), "parallel_clients": self._parallel(),
            "dropout": self.dropout_prob, "staleness": self.staleness_window,
        }

    def _partition(self) -> str:
        name = self.partition.lower().replace("_", "-")
        if name in ("iid", "dirichlet"):
            return name
        if name in _SHARDS:
            return "shards"
        raise errors.BadInput(f"partition {self.partition!r}: expected iid, dirichlet or label-shard")

    def _sizes(self) -> str:
        name = self.size_distribution.lower().replace("_", "-")
        if name not in _SIZES:
            raise errors.BadInput(
                f"size_distribution {self.size_distribution!r}: expected uniform, lognormal or power_law")
        return _SIZES[name]

    def _backend(self) -> str:
        name = self.device.lower()
        backends = {"auto": "auto", "cpu": "native", "cuda": "cuda", "cuda:0": "cuda"}
        if name not in backends:
            raise errors.BadInput(f"device {self.device!r}: expected auto, cpu or cuda")
        return backends[name]

    def _parallel(self) -> int | str:
        if self.parallel_clients < -1:
            raise errors.BadInput(
                f"parallel_clients {self.parallel_clients}: expected -1 (as many as fit), 0 or a number of clients")
        return "auto" if self.parallel_clients == -1 else max(1, self.parallel_clients)
