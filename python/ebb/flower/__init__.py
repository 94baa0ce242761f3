# SPDX-License-Identifier: Apache-2.0
"""Ebb inside Flower.

  strategy = EbbFedAvg(fraction_train=0.5)          # FedAvg that holds one reply at a time
  strategy = keep(FedAdam())                        # the same for another strategy
  app = ClientApp(mods=[EbbMemoryMod()])            # for clients that live longer than one message
"""

from __future__ import annotations

from .mod import EbbMemoryMod
from .strategy import EbbFedAvg, keep

__all__ = ["EbbFedAvg", "EbbMemoryMod", "keep"]
