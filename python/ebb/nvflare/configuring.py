# SPDX-License-Identifier: Apache-2.0
"""NVFlare's own memory settings in a job or a recipe, wherever this NVFlare keeps them."""

from __future__ import annotations

from typing import Any, Iterator

from nvflare.fuel.utils.class_utils import get_component_init_parameters

from .keeping import fed_job_of

_ROUNDS = "memory_gc_rounds"
_CUDA = "cuda_empty_cache"


def configure(job: Any, server_memory_gc_rounds: int | None = None, client_memory_gc_rounds: int | None = None,
              memory_gc_rounds: int | None = None, cuda_empty_cache: bool | None = None) -> Any:
    """Sets how often NVFlare itself cleans up, in a FedJob or a recipe. None leaves NVFlare's default. Returns what it
    was given. Call it once everything is in the job (and after `recipe.set_per_site_config`), before it runs or
    is exported.

    Args:
        server_memory_gc_rounds: rounds between cleanups of the server's workflows; 0 for none.
        client_memory_gc_rounds: rounds between cleanups of the clients' trainers; 0 for none.
        memory_gc_rounds: of a swarm, for trainers and aggregators both; client_memory_gc_rounds wins for trainers.
        cuda_empty_cache: whether cleanups of clients also empty PyTorch's CUDA cache.

    Raises ValueError, and changes nothing, for a value that is none or that this job has no place for.
    """
    fed_job = fed_job_of(job)
    prepare = getattr(job, "_ensure_client_apps_prepared", None)
    if prepare is not None:  # since 2.9 a recipe makes its clients' apps late
        prepare()
    servers = [flow.controller for app in _apps_of(fed_job) for flow in getattr(app, "workflows", [])]
    clients = [one.executor for app in _apps_of(fed_job) for one in getattr(app, "executors", [])]
    swarms = [executor for executor in clients if _is_swarm(executor)]
    trainers = [executor for executor in clients if not _is_swarm(executor)]

    changes: list[tuple[Any, str, Any]] = []
    if memory_gc_rounds is not None:
        name = "memory_gc_rounds"
        changes += _places(name, _rounds(name, memory_gc_rounds), _ROUNDS, swarms, "swarm controller")
        changes += [(component, attribute, memory_gc_rounds) for component in trainers
                    if (attribute := _attribute(component, _ROUNDS)) is not None]
    if server_memory_gc_rounds is not None:
        name = "server_memory_gc_rounds"
        changes += _places(name, _rounds(name, server_memory_gc_rounds), _ROUNDS, servers, "workflow")
    if client_memory_gc_rounds is not None:
        name = "client_memory_gc_rounds"
        changes += _places(name, _rounds(name, client_memory_gc_rounds), _ROUNDS, trainers, "executor")
    if cuda_empty_cache is not None:
        if not isinstance(cuda_empty_cache, bool):
            raise ValueError(f"cuda_empty_cache={cuda_empty_cache!r}: expected True or False")
        changes += _places("cuda_empty_cache", cuda_empty_cache, _CUDA, clients, "executor")
    for component, attribute, value in changes:
        setattr(component, attribute, value)
    return job


def _apps_of(fed_job: Any) -> Iterator[Any]:
    for app in getattr(fed_job, "_deploy_map", {}).values():
        if hasattr(app, "app_config"):
            yield app.app_config


def _is_swarm(executor: Any) -> bool:
    return "SwarmClientController" in {kind.__name__ for kind in type(executor).__mro__}


def _rounds(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name}={value!r}: expected a number of rounds, 0 or more")
    return value


def _places(name: str, value: Any, parameter: str, components: list[Any], what: str) -> list[tuple[Any, str, Any]]:
    found = [(component, attribute, value) for component in components
             if (attribute := _attribute(component, parameter)) is not None]
    if not found:
        there = ", ".join(sorted({type(component).__name__ for component in components})) or "none"
        raise ValueError(f"{name}={value!r}: this job has no place for it, expected a {what} with {parameter} "
                         f"(there is: {there})")
    return found


def _attribute(component: Any, parameter: str) -> str | None:
    """Where a component keeps a parameter of its constructor, from where a job's export takes it; None if it has no
    such parameter."""
    if parameter not in get_component_init_parameters(component):
        return None
    return next((name for name in (parameter, f"_{parameter}") if name in vars(component)), None)
