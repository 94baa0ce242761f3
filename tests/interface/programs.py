# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of a build as the recordings write them down, away from everything else.

A command is one line: `ebb plan model CNN-MNIST --json`, `EBB_NVML={nvml} ebb info --json`,
`ebb_call env {"role": "server"}` (libebb's ebb_call), `ebb_torch_stats` (likewise). Words in braces
stand for:

  {data}        tests/data
  {db}          a copy of the record in tests/data/interface, new for each command
  {died}        likewise of the one of a job with sites and of one that was killed
  {group}       a control group of version 2 with a process in it; {old_group}: of version 1
  {simulation}  a copy of the stopped simulation there, new for each command
  {nvml}        a library that plays two GPUs; without it there is none, whatever the machine has
  {pictures}    a data set in the format of MNIST
  {pid}         a process that stays
  {tmp}         a folder of its own, new for each command
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence

HERE = Path(__file__).resolve().parent
RECORD = "runs.db"
DIED = "died.db"
GROUPS = {"{group}": "sense/v2-private/sys/fs/cgroup", "{old_group}": "sense/v1/sys/fs/cgroup/memory"}
STOPPED = "simulation"
# Far more than anything takes: a machine may be busy.
TIMEOUT = 300
_ASSIGNMENT = re.compile(r"([A-Z_]+)=(.*)", re.DOTALL)
# What of the surroundings a program may see: no setting of the user's, no job that it runs in.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "LANG", "CXX", "TZ")


def write_pictures(folder: Path, count: int = 200, side: int = 28) -> None:
    """A data set in the format of MNIST, so that none has to be installed: black, of ten classes."""
    for name in ("train", "t10k"):
        sizes = b"".join(number.to_bytes(4, "big") for number in (count, side, side))
        (folder / f"{name}-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + sizes +
                                                           bytes(count * side * side))
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(
            b"\0\0\x08\x01" + count.to_bytes(4, "big") + bytes(i % 10 for i in range(count)))


class Finished(NamedTuple):
    status: int
    output: str
    error: str


class Programs:
    """The programs of one build, run in `folder`."""

    def __init__(self, ebb: Path, folder: Path, library: Optional[Path] = None,
                 nvml: Optional[Path] = None, data: Path = HERE.parent / "data") -> None:
        self.ebb = ebb.resolve()
        self.library = library.resolve() if library else None
        self.folder = folder
        self.nvml = nvml.resolve() if nvml else None
        self.data = data

    @property
    def has_simulator(self) -> bool:
        return (self.ebb.parent / "ebb-simulate").exists()

    def needs_the_simulator(self, line: str) -> bool:
        return re.search(r"\bebb(_call)? (simulate|compare)\b", line) is not None

    def can_run(self, line: str) -> bool:
        """Whether this build has all that the command needs."""
        return not ("{nvml}" in line and self.nvml is None or
                    self.needs_the_simulator(line) and not self.has_simulator or
                    re.search(r"\bebb_\w+\b", line) and self.library is None)

    def environment(self, folder: Path) -> Dict[str, str]:
        """A home of the command's own: nobody's record, nobody's settings."""
        home = folder / ".home"
        home.mkdir()
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return {**kept, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"),
                "TMPDIR": str(self.folder), "LC_ALL": "C.UTF-8", "TERM": "dumb",
                "EBB_NVML": str(self.folder / "no-nvml.so"), "PYTHONDONTWRITEBYTECODE": "1"}

    def fresh(self) -> Path:
        """An empty folder that nobody has used."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    def words(self, line: str, folder: Path) -> List[str]:
        """The line taken apart, with what its names in braces stand for."""
        recorded = self.data / "interface"
        if "{db}" in line:
            shutil.copyfile(recorded / RECORD, folder / RECORD)
        if "{died}" in line:
            shutil.copyfile(recorded / DIED, folder / DIED)
        for name, group in GROUPS.items():
            if name in line:
                shutil.copytree(self.data / group, folder / "group", copy_function=shutil.copyfile)
                (folder / "group" / "cgroup.procs").write_text(f"{os.getpid()}\n", encoding="utf-8")
        if "{simulation}" in line:
            shutil.copytree(recorded / STOPPED, folder / STOPPED)
        if "{pictures}" in line:
            write_pictures(folder)
        meaning = {"{data}": self.data, "{db}": folder / RECORD, "{died}": folder / DIED,
                   "{group}": folder / "group", "{old_group}": folder / "group",
                   "{simulation}": folder / STOPPED,
                   "{nvml}": self.nvml, "{pictures}": folder, "{pid}": os.getpid(), "{tmp}": folder}
        words = shlex.split(line) if not line.startswith("ebb_call") else line.split(maxsplit=2)
        for name, value in meaning.items():
            words = [word.replace(name, str(value)) for word in words]
        return words

    def run(self, line: str, more: Sequence[str] = ()) -> Finished:
        """Runs a command of the recordings; `more` are further words, as they are."""
        folder = self.fresh()
        words = self.words(line, folder)
        environment = self.environment(folder)
        while words and _ASSIGNMENT.fullmatch(words[0]):
            name, value = words.pop(0).split("=", 1)
            environment[name] = value
        return self.execute([*self.program(words[0]), *words[1:], *more], folder, environment)

    def program(self, name: str) -> List[str]:
        if name == "ebb":
            return [str(self.ebb)]
        if name == "ebb-alone":
            # As it is where no libtorch was found: without ebb-simulate beside it.
            alone = self.folder / "alone" / "ebb"
            if not alone.exists():
                alone.parent.mkdir(exist_ok=True)
                shutil.copy2(self.ebb, alone)
            return [str(alone)]
        if name in ("ebb_call", "ebb_torch_stats"):
            return [sys.executable, str(HERE / "call.py"), str(self.library), name]
        raise ValueError(f"'{name}': expected ebb, ebb-alone, ebb_call or ebb_torch_stats")

    def execute(self, words: Sequence[str], folder: Path, environment: Dict[str, str]) -> Finished:
        done = subprocess.run(list(words), cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        return Finished(done.returncode, done.stdout, done.stderr)
