# SPDX-License-Identifier: Apache-2.0
"""A job of two clients in NVFlare's simulator, one of which keeps 4 MiB of every round.

  leaking_job.py WORKSPACE ROUNDS
"""
import sys
import time

import numpy
from nvflare.apis.executor import Executor
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_common.workflows.fedavg import FedAvg
from nvflare.job_config.api import FedJob


class SmallFedAvg(FedAvg):
    def load_model(self):
        return FLModel(params={"w": numpy.ones(1 << 18, numpy.float32)})

    def save_model(self, model):
        pass


class Trainer(Executor):
    def __init__(self):
        super().__init__()
        self._history = []

    def remember(self, weights):
        self._history.append(numpy.tile(weights, 4))

    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        model = FLModelUtils.from_shareable(shareable)
        weights = model.params["w"] + 1
        if fl_ctx.get_identity_name() == "site-2":
            self.remember(weights)
        time.sleep(0.3)
        return FLModelUtils.to_shareable(FLModel(params={"w": weights}))


def main():
    workspace, rounds = sys.argv[1:]
    job = FedJob(name="leaking")
    job.to_server(SmallFedAvg(num_clients=2, num_rounds=int(rounds), persistor_id=""))
    job.to_clients(Trainer(), tasks=["train"])
    job.simulator_run(workspace, n_clients=2, threads=2)


if __name__ == "__main__":
    main()
