# SPDX-License-Identifier: Apache-2.0
"""What options are without being given, seen from outside."""
import json
import re
from typing import Dict, Optional, Tuple

from programs import Programs

_SNAPSHOT = "{data}/torch-2.11/runs/prefetch_streams.cap.pickle.gz"
_RUN = "ebb run --dry-run --no-record --json -- true"
_MODEL = "ebb plan model CNN-MNIST --json"
_PRESET = "ebb plan transformer gpt2 --json"
_SIZES = "ebb plan transformer --arch gpt2 --layers 2 --d-model 64 --heads 4 --vocab 100 --json"

# For an option a command whose answer depends on it, and a value that is not its default. Giving the
# default must not change the answer, giving the other value must.
PROBES: Dict[Tuple[str, str], Tuple[str, str]] = {
    ("ebb env", "--allocator"): ("ebb env --role server --json", "jemalloc"),
    ("ebb env", "--shell"): ("ebb env --role server", "fish"),
    ("ebb run", "--on-critical"): (_RUN, "stop"),
    ("ebb run", "--warn"): (_RUN, "80"),
    ("ebb run", "--critical"): (_RUN, "95"),
    ("ebb run", "--interval"): (_RUN, "2s"),
    ("ebb plan model", "--channels"): (_MODEL, "3"),
    ("ebb plan model", "--size"): (_MODEL, "32"),
    ("ebb plan model", "--classes"): (_MODEL, "11"),
    ("ebb plan model", "--where"): (f"{_MODEL} --cap 1GiB --parallel-clients auto", "host"),
    ("ebb plan model", "--batch"): (_MODEL, "64"),
    ("ebb plan model", "--precision"): (_MODEL, "bf16"),
    ("ebb plan model", "--optimizer"): (_MODEL, "adamw"),
    ("ebb plan model", "--context"): (_MODEL, "1GiB"),
    ("ebb plan transformer", "--batch"): (_PRESET, "2"),
    ("ebb plan transformer", "--precision"): (_PRESET, "bf16"),
    ("ebb plan transformer", "--optimizer"): (_PRESET, "sgd"),
    ("ebb plan transformer", "--context"): (_PRESET, "1GiB"),
    ("ebb plan transformer", "--seq"): (_PRESET, "512"),
    ("ebb plan transformer", "--attention"): (_PRESET, "eager"),
    ("ebb plan transformer", "--checkpoint"): (_PRESET, "full"),
    ("ebb plan transformer", "--dropout"): (_PRESET, "0.1"),
    ("ebb plan transformer", "--lora"): (_PRESET, "8"),
    ("ebb plan transformer", "--zero"): (f"{_PRESET} --gpus 2", "3"),
    ("ebb plan transformer", "--tp"): (_PRESET, "2"),
    ("ebb plan transformer", "--pp"): (_PRESET, "2"),
    ("ebb plan transformer", "--kv-heads"): (_SIZES.replace("gpt2", "llama"), "2"),
    ("ebb plan transformer", "--d-ff"): (_SIZES, "128"),
    ("ebb plan transformer", "--max-positions"): (_SIZES, "2048"),
    ("ebb replay", "--driver-model"): (f"ebb replay {_SNAPSHOT} --json", "down"),
    ("ebb tune", "--objective"): (f"ebb tune {_SNAPSHOT} --json", "calls"),
    ("ebb tune", "--driver-model"): (f"ebb tune {_SNAPSHOT} --json", "down"),
    ("ebb doctor", "--driver-model"): (f"ebb doctor {_SNAPSHOT} --json", "down"),
}
# What only time could show: --help says it, as a value or in parentheses.
STATED = (("ebb run", "--grace"), ("ebb watch", "--interval"), ("ebb doctor", "--for"),
          ("ebb tune -- COMMAND", "--repeat"), ("ebb tune -- COMMAND", "--interval"))
_STATED_VALUE = re.compile(r"\((\d\w*)\)")
# What a simulation is made of is in the configuration that a dry run prints.
CONFIGURATIONS = {
    "ebb simulate": "ebb simulate --data {pictures} --dry-run --json --no-record",
    "ebb compare": "ebb compare --methods heuristic.random --data {pictures} --dry-run --json "
                   "--no-record",
}


def shown_value(verb: str, option: str, words: str) -> Optional[str]:
    found = _STATED_VALUE.search(words) if (verb, option) in STATED else None
    return found[1] if found else None


class Defaults:
    """Asks the programs; what several options need is asked once."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._answers: Dict[str, str] = {}
        self._configurations: Dict[str, Dict[str, object]] = {}

    def of(self, verb: str, option: str, candidate: Optional[str],
           shown: Optional[str]) -> Optional[str]:
        """The default, `candidate` where the program acts as if it had been given."""
        if verb in CONFIGURATIONS:
            configuration = self._configuration(verb)
            key = option.lstrip("-").replace("-", "_")
            if key in configuration:
                value = configuration[key]
                return None if value is None else \
                    value if isinstance(value, str) else json.dumps(value)
        if (verb, option) not in PROBES:
            return shown
        line, other = PROBES[verb, option]
        if candidate is None:
            return f"not known: write it into options.txt, and '{line}' tells whether it is right"
        if self._answer(line, option, candidate) != self._answer(line):
            return f"no longer {candidate}: '{line}' answers otherwise with it"
        if self._answer(line, option, other) == self._answer(line):
            return f"not to be seen: '{line}' answers the same with {other}"
        return candidate

    def _answer(self, line: str, *more: str) -> str:
        words = " ".join(more)
        command, dashes, rest = line.partition(" -- ")
        whole = f"{command} {words}{dashes}{rest}" if words else line
        if whole not in self._answers:
            finished = self._programs.run(whole)
            # A socket's name is made up anew each time.
            text = re.sub(r"ebb-run-\w{6}/agents", "", finished.output)
            self._answers[whole] = f"{finished.status} {text}"
        return self._answers[whole]

    def _configuration(self, verb: str) -> Dict[str, object]:
        if verb not in self._configurations:
            finished = self._programs.run(CONFIGURATIONS[verb])
            if finished.status != 0:
                raise RuntimeError(f"{CONFIGURATIONS[verb]}: {finished.error}")
            self._configurations[verb] = json.loads(finished.output)["config"]
        return self._configurations[verb]
