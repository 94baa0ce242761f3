# SPDX-License-Identifier: Apache-2.0
"""FedAvg over a NumPy model of a given size, and a widget that writes down what memory it took."""
import hashlib
import json
import os
import re
import resource
import time

import numpy as np
from nvflare.apis.event_type import EventType
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from nvflare.app_common.workflows.fedavg import FedAvg
from nvflare.widgets.widget import Widget


class SizedFedAvg(FedAvg):
    """FedAvg with arrays of 8 MiB, made here: a model in the job's configuration would be text."""

    def __init__(self, mebibytes=64, folder="", num_clients=2, num_rounds=6, memory_gc_rounds=0,
                 aggregator=None):
        super().__init__(num_clients=num_clients, num_rounds=num_rounds, aggregator=aggregator,
                         memory_gc_rounds=memory_gc_rounds, persistor_id="",
                         save_filename="model.npz")
        self.mebibytes = mebibytes
        self.folder = folder

    def load_model(self):
        # Of so few bits that no sum rounds: both ways have to end with the same model.
        random = np.random.default_rng(7)
        return FLModel(params={
            f"layer{number}": random.integers(-1024, 1024, 1 << 21).astype(np.float32) / 1024
            for number in range(self.mebibytes // 8)})

    def save_model_file(self, model, filepath):
        np.savez(filepath, **model.params)
        digest = hashlib.sha256()
        for name in sorted(model.params):
            digest.update(np.ascontiguousarray(model.params[name]))
        with open(os.path.join(self.folder, "model.json"), "w", encoding="utf-8") as file:
            json.dump({"round": self.current_round, "sha256": digest.hexdigest(),
                       "loss": model.metrics["loss"]}, file)


class Meter(Widget):
    """Writes resident memory and its high water in MiB, CPU time in seconds and page faults so far to
    FOLDER/SITE.jsonl."""

    EVENTS = (AppEventType.ROUND_STARTED, EventType.BEFORE_PULL_TASK, EventType.END_RUN)

    def __init__(self, folder=""):
        super().__init__()
        self.folder = folder

    def handle_event(self, event_type, fl_ctx):
        if event_type not in self.EVENTS:
            return
        with open("/proc/self/status", encoding="ascii") as file:
            status = file.read()
        row = {"event": event_type, "round": fl_ctx.get_prop(AppConstants.CURRENT_ROUND),
               "time": time.time(), "pid": os.getpid()}
        for key, field in (("rss", "VmRSS"), ("peak", "VmHWM")):
            row[key] = int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024
        used = resource.getrusage(resource.RUSAGE_SELF)
        row |= {"user": used.ru_utime, "system": used.ru_stime, "faults": used.ru_minflt}
        with open(os.path.join(self.folder, f"{fl_ctx.get_identity_name()}.jsonl"), "a",
                  encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
