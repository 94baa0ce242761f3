# SPDX-License-Identifier: Apache-2.0
"""The widget in a job or a recipe of NVFlare's, with one call."""

from __future__ import annotations

from typing import Any

from .widget import EbbMemoryWidget


def keep(job: Any, **arguments: Any) -> Any:
    """Adds `EbbMemoryWidget(**arguments)` to the server and to all clients of a FedJob or of a recipe. Returns what
    it was given. `at_once` and `share_broadcast` are for the server alone. Call it once, before the job runs or
    is exported."""
    fed_job = fed_job_of(job)
    fed_job.to_server(EbbMemoryWidget(**arguments), id="ebb")
    for servers_alone in ("at_once", "share_broadcast"):
        arguments.pop(servers_alone, None)
    # A recipe may have an app for each of its sites.
    add = getattr(job, "_add_to_client_apps", fed_job.to_clients)
    add(EbbMemoryWidget(**arguments), id="ebb")
    return job


def fed_job_of(job: Any) -> Any:
    """The FedJob that was given, or that a recipe has (NVFlare 2.9 hides it)."""
    for candidate in (job, getattr(job, "job", None), getattr(job, "_job", None)):
        if hasattr(candidate, "to_server"):
            return candidate
    raise TypeError(f"{type(job).__name__}: expected a FedJob or a recipe of NVFlare's")
