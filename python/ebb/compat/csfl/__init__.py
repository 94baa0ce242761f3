# SPDX-License-Identifier: Apache-2.0
"""CSFL-simulator's names, answered by Ebb: its memory functions, and its simulator over `ebb.simulate`.

  from ebb.compat.csfl import FLSimulator, SimConfig, cleanup_memory

  simulator = FLSimulator(SimConfig(dataset="Fashion-MNIST", total_clients=100, clients_per_round=10))
  result = simulator.run("system_aware.oort")
"""

from .config import SimConfig
from .memory import check_memory_critical, cleanup_memory, get_memory_info
from .simulator import FLSimulator

__all__ = ["FLSimulator", "SimConfig", "check_memory_critical", "cleanup_memory", "get_memory_info"]
