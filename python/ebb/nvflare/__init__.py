# SPDX-License-Identifier: Apache-2.0
"""Ebb inside NVFlare.

  job.to_server(EbbMemoryWidget(), id="ebb")
  job.to_clients(EbbMemoryWidget(), id="ebb")
  FedAvg(..., aggregator=EbbAggregator())
"""

from __future__ import annotations

from .aggregator import EbbAggregator
from .configuring import configure
from .keeping import keep
from .patching import patch, unpatch
from .widget import EbbMemoryWidget

__all__ = ["EbbAggregator", "EbbMemoryWidget", "configure", "keep", "patch", "unpatch"]
