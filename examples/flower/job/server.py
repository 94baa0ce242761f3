# SPDX-License-Identifier: Apache-2.0
"""A strategy of Flower's over a NumPy model of a given size, with Ebb or without."""
import hashlib
import json
import re
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord
from flwr.serverapp import ServerApp, strategy as strategies

from ebb.flower import keep

app = ServerApp()


@app.main()
def main(grid, context):
    options = context.run_config
    strategy = getattr(strategies, options["strategy"])(
        min_train_nodes=options["clients"], min_available_nodes=options["clients"],
        fraction_evaluate=0.0)
    if options["ebb"]:
        strategy = keep(strategy)
    folder = Path(options["out"]) if options["out"] else None

    def measure(number, arrays):
        if folder:
            with open(folder / "memory.jsonl", "a", encoding="utf-8") as file:
                file.write(json.dumps({"round": number, **memory()}) + "\n")

    result = strategy.start(grid=grid, initial_arrays=model(options["mib"]),
                            num_rounds=options["rounds"], evaluate_fn=measure)
    if folder:
        digest = hashlib.sha256()
        for name, array in sorted(result.arrays.items()):
            digest.update(np.ascontiguousarray(array.numpy()))
        (folder / "model.json").write_text(json.dumps({
            "sha256": digest.hexdigest(),
            "metrics": [dict(one) for one in result.train_metrics_clientapp.values()]}), encoding="utf-8")


def model(mebibytes):
    # Of so few bits that no sum of up to 8 clients rounds: all ways have to end with the same model.
    random = np.random.default_rng(7)
    record = ArrayRecord()
    for number in range(mebibytes // 8):
        layer = random.integers(-1024, 1024, 1 << 21).astype(np.float32) / 1024
        record.update(ArrayRecord({f"layer{number}": ArrayRecord([layer])["0"]}))
    return record


def memory():
    """Resident memory of this process and its high water, in MiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return {key: int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024
            for key, field in (("rss", "VmRSS"), ("peak", "VmHWM"))}
