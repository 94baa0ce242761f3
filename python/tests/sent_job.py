# SPDX-License-Identifier: Apache-2.0
"""A job of one client in NVFlare's simulator that writes down what it holds once a result is sent.

  sent_job.py WORKSPACE OUT MEBIBYTES ROUNDS [keep]     keep: release_sent is off
"""
import gc
import json
import sys
from pathlib import Path

import numpy
from nvflare.apis.event_type import EventType
from nvflare.apis.executor import Executor
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_common.workflows.fedavg import FedAvg
from nvflare.job_config.api import FedJob
from nvflare.widgets.widget import Widget

from ebb.nvflare import EbbMemoryWidget


class SmallFedAvg(FedAvg):
    """Sends a few bytes to the client, whatever it answers with."""

    def load_model(self):
        return FLModel(params={"model": numpy.zeros(1)})

    def update_model(self, model, model_update, replace_meta=True):
        return model

    def save_model(self, model):
        pass


class Answer(Executor):
    """Answers a model of some bytes with one of many."""

    def __init__(self, mebibytes=8):
        super().__init__()
        self.mebibytes = mebibytes

    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        return FLModelUtils.to_shareable(FLModel(params={"model": numpy.ones(self.mebibytes << 17)}))


class Probe(Widget):
    """Counts the bytes of arrays in all Shareables of this process."""

    def __init__(self, out=""):
        super().__init__()
        self.out = out

    def handle_event(self, event_type, fl_ctx):
        if event_type not in (EventType.BEFORE_SEND_TASK_RESULT, EventType.AFTER_SEND_TASK_RESULT):
            return
        held = sum(nbytes(one) for one in gc.get_objects() if isinstance(one, Shareable))
        with open(self.out, "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event_type, "held": held}) + "\n")


def nbytes(value):
    if isinstance(value, dict):
        return sum(nbytes(inner) for inner in value.values())
    return getattr(value, "nbytes", 0)


def main():
    workspace, out, mebibytes, rounds = sys.argv[1:5]
    job = FedJob(name="sent")
    job.to_server(SmallFedAvg(num_clients=1, num_rounds=int(rounds), persistor_id=""))
    job.to_clients(Answer(int(mebibytes)), tasks=["train"])
    job.to_clients(EbbMemoryWidget(release_sent=sys.argv[5:] != ["keep"]), id="ebb")
    job.to_clients(Probe(out), id="probe")
    Path(out).unlink(missing_ok=True)
    job.simulator_run(workspace, n_clients=1, threads=1)


if __name__ == "__main__":
    main()
