# SPDX-License-Identifier: Apache-2.0
"""What the tests need of NVFlare, some of which has another name in its releases before 2.9."""
import inspect

from nvflare.apis.fl_context import FLContext
from nvflare.app_common.app_constant import AppConstants
from nvflare.fuel.f3.streaming.blob_streamer import BlobStream
from nvflare.fuel.f3.streaming.byte_streamer import TxTask

try:
    from nvflare.app_common.executors.client_api_executor import ClientAPIExecutor
except ImportError:
    ClientAPIExecutor = None
    from nvflare.app_common.executors.client_api_launcher_executor import ClientAPILauncherExecutor
    from nvflare.app_common.executors.in_process_client_api_executor import InProcessClientAPIExecutor

SINCE_2_9 = ClientAPIExecutor is not None
# What a ScriptRunner makes of a script that runs in the client's process.
SCRIPTS_EXECUTOR = "ClientAPIExecutor" if SINCE_2_9 else "InProcessClientAPIExecutor"
# By file and class, (of the server, of clients, of both, CUDA cache): defaults that one of them does not have.
_TRAINERS = (None, None, 0, False)
DEFAULTS = {
    "app_common/executors/client_api_executor.ClientAPIExecutor": _TRAINERS,
    "app_opt/pt/recipes/fedce.FedCERecipe": (0, 0, None, False),
    "app_opt/pt/recipes/fedprox.FedProxRecipe": (0, 0, None, False),
    "recipe/fed_task.FedTaskRecipe": (None, 0, None, False),
} if SINCE_2_9 else {
    "job_config/script_runner.BaseScriptRunner": _TRAINERS,
    "app_common/executors/client_api_launcher_executor.ClientAPILauncherExecutor": _TRAINERS,
    "app_common/executors/in_process_client_api_executor.InProcessClientAPIExecutor": _TRAINERS,
    **{f"app_opt/{kind.lower()}/{file}.{kind}{name}": _TRAINERS for kind in ("PT", "TF") for file, name in (
        ("client_api_launcher_executor", "ClientAPILauncherExecutor"),
        ("in_process_client_api_executor", "InProcessClientAPIExecutor"))},
}


def context(round_number=None):
    fl_ctx = FLContext()
    if round_number is not None:
        fl_ctx.set_prop(AppConstants.CURRENT_ROUND, round_number, private=True, sticky=False)
    return fl_ctx


def script_in_the_clients_process():
    if SINCE_2_9:
        return ClientAPIExecutor(execution_mode="in_process", task_script_path="client.py")
    return InProcessClientAPIExecutor(task_script_path="client.py")


def script_in_a_process_of_its_own():
    if SINCE_2_9:
        return ClientAPIExecutor(execution_mode="attach", attach_id="a")
    return ClientAPILauncherExecutor(pipe_id="pipe")


def sending_task(payload):
    """A message that is being sent."""
    arguments = {"cell": None, "chunk_size": 1 << 20, "channel": "channel", "topic": "topic", "target": "site-1",
                 "headers": {}, "stream": BlobStream(payload, {}), "secure": False, "optional": False}
    if "reliable" in inspect.signature(TxTask).parameters:
        arguments["reliable"] = False
    return TxTask(**arguments)
