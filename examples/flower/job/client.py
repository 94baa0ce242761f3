# SPDX-License-Identifier: Apache-2.0
"""A client that "trains": it adds a number of its own to every parameter."""
import numpy as np
from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from ebb.flower import EbbMemoryMod

app = ClientApp(mods=[EbbMemoryMod()])


@app.train()
def train(message, context):
    step = np.float32((int(context.node_config["partition-id"]) + 1) / 4)
    arrays = [values + step for values in message.content["arrays"].to_numpy_ndarrays()]
    return Message(RecordDict({
        "arrays": ArrayRecord(arrays, keep_input=False),
        "metrics": MetricRecord({"num-examples": 8, "loss": float(step)})}), reply_to=message)
