# SPDX-License-Identifier: Apache-2.0
"""A job of two clients in NVFlare's simulator, with Ebb's widget.

  marker_job.py script|executor|external WORKSPACE ROUNDS     where training happens
"""
import os
import sys
from pathlib import Path

import numpy
from nvflare.apis.executor import Executor
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_common.workflows.fedavg import FedAvg
from nvflare.job_config.api import FedJob
from nvflare.job_config.script_runner import FrameworkType, ScriptRunner

import ebb.nvflare

HERE = Path(__file__).resolve().parent


class SmallFedAvg(FedAvg):
    def load_model(self):
        return FLModel(params={"w": numpy.ones(4, numpy.float32)})

    def save_model(self, model):
        pass


class Trainer(Executor):
    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        model = FLModelUtils.from_shareable(shareable)
        return FLModelUtils.to_shareable(FLModel(params={"w": model.params["w"] + 1}))


def main():
    kind, workspace, rounds = sys.argv[1:]
    os.chdir(HERE)
    job = FedJob(name="markers")
    job.to_server(SmallFedAvg(num_clients=2, num_rounds=int(rounds), persistor_id=""))
    if kind == "executor":
        job.to_clients(Trainer(), tasks=["train"])
    else:
        job.to_clients(ScriptRunner(script="marker_client.py", framework=FrameworkType.NUMPY,
                                    launch_external_process=kind == "external"))
    ebb.nvflare.keep(job)
    job.simulator_run(workspace, n_clients=2, threads=2)


if __name__ == "__main__":
    main()
