# SPDX-License-Identifier: Apache-2.0
"""Runs the app in this folder on a SuperLink and SuperNodes of its own, all on this machine.

  federation.py OUT            with Flower's strategy as it is
  federation.py OUT --ebb      with ebb.flower.keep(strategy)

  --clients 2  --rounds 3  --mib 64  --strategy FedAvg
  --under "ebb run --"         a command to run the SuperLink under

Needs flwr, NumPy and ebb; prints the memory of the ServerApp's process after each round, its high water and
that of the SuperLink. Logs, the measurements and the digest of the model are in OUT.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATIENCE = 600


class Federation:
    """A SuperLink and its SuperNodes, stopped at the end of the block. `programs` is the folder of Flower's
    programs: that of this Python."""

    def __init__(self, folder, clients, under=(), programs=Path(sys.executable).parent):
        self.folder, self._clients, self._under = Path(folder), clients, list(under)
        self._started = []
        self.superlink_peak = 0.0
        # Flower calls its programs by name.
        self.environment = {
            **os.environ, "PATH": f"{programs}:{os.environ['PATH']}",
            "FLWR_HOME": str(self.folder / "home"), "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1", "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1"}

    def __enter__(self):
        home = self.folder / "home"
        home.mkdir(parents=True)
        port = free_port()
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n\n[superlink.here]\naddress = "127.0.0.1:{port}"\n'
            f'insecure = true\n', encoding="utf-8")
        self._start("superlink", *self._under, "flower-superlink", "--insecure", "--host", "127.0.0.1",
                    "--port", str(port), "--disable-runtime-dependency-installation")
        self._wait_for("superlink", port)
        for number in range(self._clients):
            self._start(f"supernode-{number}", "flower-supernode", "--insecure", "--superlink",
                        f"127.0.0.1:{port}", "--port", str(free_port()), "--node-config",
                        f"partition-id={number}")
        return self

    def run(self, app=HERE, **config):
        """What `flwr run` printed. The run's own log is in it."""
        given = " ".join(f"{name}={json.dumps(value)}" for name, value in config.items())
        log = self.folder / "run.log"
        with open(log, "w", encoding="utf-8") as file, subprocess.Popen(
                ["flwr", "run", str(app), "here", "--stream", "--run-config", given],
                env=self.environment, stdout=file, stderr=subprocess.STDOUT) as running:
            deadline = time.monotonic() + PATIENCE
            while running.poll() is None:
                gone = [process.args for process in self._started if process.poll() is not None]
                if gone or time.monotonic() > deadline:
                    running.kill()
                    raise SystemExit(f"{gone or 'flwr run'}: ended, or not within {PATIENCE} s: see "
                                     f"{self.folder}/*.log")
                time.sleep(0.1)
        said = log.read_text(encoding="utf-8")
        if running.returncode != 0:
            raise SystemExit(f"flwr run: status {running.returncode}: {said[-4000:]}")
        return said

    def __exit__(self, *_):
        self.superlink_peak = max(map(peak_of, descendants(self._started[0].pid,
                                                           "flower-superlink")), default=0.0)
        for process in reversed(self._started):
            process.send_signal(signal.SIGTERM)
        for process in self._started:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, name, *command):
        with open(self.folder / f"{name}.log", "w", encoding="utf-8") as log:
            self._started.append(subprocess.Popen(command, env=self.environment, stdout=log,
                                                  stderr=subprocess.STDOUT))

    def _wait_for(self, name, port):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self._started[-1].poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        raise SystemExit(f"{name}: {(self.folder / f'{name}.log').read_text()[-4000:]}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def descendants(pid, name):
    """The process itself and those that it started, whose command line has the name."""
    for path in [Path(f"/proc/{pid}"), *(Path(f"/proc/{child}") for child in Path(
            f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())]:
        if name in (path / "cmdline").read_text(encoding="utf-8"):
            yield path


def peak_of(process):
    return int(re.search(r"VmHWM:\s+(\d+)", (process / "status").read_text(encoding="ascii"))[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--ebb", action="store_true")
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mib", type=int, default=64, help="of the model, a multiple of 8")
    parser.add_argument("--strategy", default="FedAvg")
    parser.add_argument("--under", default="", help="a command to run the SuperLink under")
    options = parser.parse_args()
    folder = options.out.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    with Federation(folder, options.clients, shlex.split(options.under)) as federation:
        federation.run(strategy=options.strategy, ebb=options.ebb, clients=options.clients,
                       rounds=options.rounds, mib=options.mib, out=str(folder))
    rows = [json.loads(line) for line in (folder / "memory.jsonl").read_text().splitlines()]
    print(f"ServerApp  peak {rows[-1]['peak']:6.0f} MiB; before the first and after each round",
          " ".join(f"{row['rss']:.0f}" for row in rows))
    print(f"SuperLink  peak {federation.superlink_peak:6.0f} MiB")
    print("model", json.loads((folder / "model.json").read_text())["sha256"][:16])


if __name__ == "__main__":
    main()
