# SPDX-License-Identifier: Apache-2.0
"""Federated learning, simulated by the program ebb-simulate in a process of its own."""

from __future__ import annotations

import ctypes
import json
import os
import warnings
from types import TracebackType
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import _abi, errors
from ._library import check, library, take_text

Config = Mapping[str, Any] | str | os.PathLike[str] | None
Round = dict[str, Any]
OnRound = Callable[[Round], object]

# How long Python waits for Ctrl-C to be looked at.
_SLICE_SECONDS = 0.1


class Simulation:
    """A simulation under way: its rounds one by one, then its result.

      with ebb.Simulation({"dataset": "synthetic", "rounds": 5}) as simulation:
          for done in simulation:
              print(done["round"], done["accuracy"])
      print(simulation.result()["model_sha256"])

    `config` holds options of `ebb simulate` (docs/simulate.md) with underscores, or is the path of a JSON file
    of them; options by keyword count over it. With `compare=True`, those of `ebb compare`. One thread takes
    rounds; any may `stop()`. What is still at work when its `with` block ends, ends with it.
    """

    def __init__(self, config: Config = None, *, compare: bool = False, **options: Any) -> None:
        self._handle = ctypes.c_void_p()
        self._seen: list[Round] = []
        self._answer: dict[str, Any] | None = None
        text = _as_json(_merged(config, options))
        verb = b"compare" if compare else b"simulate"
        check(library().ebb_simulation_start(verb, text.encode(), ctypes.byref(self._handle)))
        # Kept for the end of the interpreter, when modules are gone.
        self._destroy = library().ebb_simulation_destroy
        self.pid: int = library().ebb_simulation_pid(self._handle)

    def __iter__(self) -> Iterator[Round]:
        """The rounds as they end, as dictionaries. A warning of the program is one of Python's."""
        while self._answer is None:
            line, ended = ctypes.c_void_p(), ctypes.c_int()
            self._call("ebb_simulation_next", ctypes.c_double(_SLICE_SECONDS), ctypes.byref(line),
                       ctypes.byref(ended))
            if ended.value:
                self._answer = self._take_answer()
            if line.value is None:
                continue
            said = json.loads(take_text(line))
            if said.pop("event") == "round":
                self._seen.append(said)
                yield said
            else:
                warnings.warn(f"{said['method']}, seed {said['seed']}: {said['message']}", RuntimeWarning,
                              stacklevel=2)

    def result(self) -> dict[str, Any]:
        """Waits for the end. What `--json` prints as a dictionary, in which `rounds` are those of all methods
        and seeds in one list, each with its `method` and `seed`."""
        for _ in self:
            pass
        assert self._answer is not None
        return self._answer

    def stop(self, at_once: bool = False) -> None:
        """Ends it after the round under way, with a checkpoint if it has a folder; or at once. The result is
        then what there is, with `stopped` true."""
        self._call("ebb_simulation_stop", ctypes.c_int(1 if at_once else 0))

    def close(self) -> None:
        """Ends it at once if it is still at work, and gives its process back to the system."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        self._destroy(handle)

    def _take_answer(self) -> dict[str, Any]:
        """What it came to; it has ended."""
        result = ctypes.c_void_p()
        self._call("ebb_simulation_wait", ctypes.c_double(-1), _abi.SimulationLine(), None,
                   ctypes.byref(result))
        answer: dict[str, Any] = json.loads(take_text(result))
        is_list_or_plan = "datasets" in answer or ("plan" in answer and "rounds" not in answer)
        if not is_list_or_plan:
            answer["rounds"] = _together(answer, self._seen)
        return answer

    def _call(self, name: str, *arguments: Any) -> None:
        if self._handle.value is None:
            raise errors.BadInput("this simulation is closed: expected one that is open")
        try:
            check(getattr(library(), name)(self._handle, *arguments))
        except errors.FileError as failure:
            raise errors.SimulationFailed(str(failure)) from None

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()


def simulate(config: Config = None, *, on_round: OnRound | None = None, **options: Any) -> dict[str, Any]:
    """Simulates federated learning to its end and returns what `ebb simulate --json` prints. `rounds` is a
    list of dictionaries, one per round, for `pandas.DataFrame`.

      result = ebb.simulate(dataset="synthetic", rounds=5, on_round=print)

    `on_round` is called with each round as it ends; if it returns False, the simulation stops after the round
    under way. What it raises, and Ctrl-C, ends the simulation at once; `resume=FOLDER` continues from
    its last checkpoint. Raises `Unavailable` without the program ebb-simulate, `BadInput` for options that
    it refuses, `SimulationFailed` if it fails on the way or dies."""
    return _run(Simulation(config, **options), on_round)


def compare(methods: Sequence[str] | None = None, config: Config = None, *, on_round: OnRound | None = None,
            **options: Any) -> dict[str, Any]:
    """The same for several ways to choose clients, on the same data and seeds: what `ebb compare --json`
    prints, and `rounds` of all of them together, each with its `method` and `seed`."""
    if methods is not None:
        if isinstance(methods, str):
            methods = methods.split(",")
        options["methods"] = list(methods)
    return _run(Simulation(config, compare=True, **options), on_round)


def _run(simulation: Simulation, on_round: OnRound | None) -> dict[str, Any]:
    try:
        for done in simulation:
            if on_round is not None and on_round(done) is False:
                simulation.stop()
        return simulation.result()
    finally:
        simulation.close()


def _merged(config: Config, options: dict[str, Any]) -> dict[str, Any]:
    if isinstance(config, (str, os.PathLike)):
        return {"config": os.fspath(config), **options}
    if config is not None and not isinstance(config, Mapping):
        raise errors.BadInput(f"config {config!r}: expected a dictionary of options or the path of a JSON file")
    return {**(config or {}), **options}


def _as_json(options: dict[str, Any]) -> str:
    try:
        return json.dumps(options, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as failure:
        raise errors.BadInput(f"options: {failure}; expected numbers, text, lists of them, true or false") \
            from None


def _plain(value: object) -> object:
    """Paths, and numbers of NumPy, as JSON has them."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    item = getattr(value, "item", None)
    if callable(item):
        return item()
    raise TypeError(f"{value!r} cannot be an option")


def _together(answer: dict[str, Any], seen: list[Round]) -> list[Round]:
    """The rounds of all simulations in the order in which they ran: those of the result, which also has the
    rounds before a checkpoint; and those of one that was stopped, which a comparison leaves out."""
    rounds: dict[tuple[Any, ...], Round] = {}
    for method in answer.get("methods", [answer]):
        for one in (method, *method.get("repeats", ())):
            for done in one.get("rounds", ()):
                about = {"method": one["config"]["method"], "seed": one["config"]["seed"]}
                rounds[about["method"], about["seed"], done["round"]] = {**about, **done}
    for done in seen:
        rounds.setdefault((done["method"], done["seed"], done["round"]), done)
    return list(rounds.values())
