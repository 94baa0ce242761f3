# SPDX-License-Identifier: Apache-2.0
"""Flower's simulation runtime on threads of this process, without Ray; replies to aggregate; a ClientApp."""
import logging
import os
import threading
import warnings

os.environ["FLWR_TELEMETRY_ENABLED"] = "0"  # read when Flower is imported

import numpy  # noqa: E402
from flwr.app import (Array, ArrayRecord, Error, Message, MessageType,  # noqa: E402
                      MetricRecord, RecordDict)
from flwr.clientapp import ClientApp  # noqa: E402
from flwr.common.constant import SUPERLINK_NODE_ID  # noqa: E402
from flwr.proto.task_pb2 import Task  # noqa: E402
from flwr.server.superlink.fleet.vce import vce_api  # noqa: E402
from flwr.server.superlink.fleet.vce.backend import Backend  # noqa: E402
from flwr.server.superlink.fleet.vce.metrics import VceMetrics  # noqa: E402
from flwr.server.superlink.linkstate import LinkStateFactory  # noqa: E402
from flwr.server.superlink.linkstate.in_memory_linkstate import RunRecord  # noqa: E402
from flwr.supercore.constant import FLWR_IN_MEMORY_DB_NAME, NOOP_FEDERATION_ID  # noqa: E402
from flwr.supercore.object_store import ObjectStoreFactory  # noqa: E402
from flwr.supercore.run import Run  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402
from flwr.superlink.federation import NoOpFederationManager  # noqa: E402
from flwr.superlink.grid import InMemoryGrid  # noqa: E402

NODES = 5
WEIGHTS = (1, 1, 2, 2, 2)  # of which Flower's shares are exact
TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, SUPERLINK_NODE_ID


class Stop(threading.Event):
    """Makes the runtime look for messages every few milliseconds."""

    def wait(self, timeout=None):
        return super().wait(timeout and min(timeout, 0.005))


class Threads(Backend):
    """Runs the ClientApp where Ray's backend would hand it to an actor."""

    def __init__(self, workers):
        super().__init__({})
        self._workers = workers

    def build(self, app_fn):
        self._app = app_fn()

    @property
    def num_workers(self):
        return self._workers

    def is_worker_idle(self):
        return True

    def terminate(self):
        pass

    def process_message(self, message, context):
        return self._app(message=message, context=context), context


class Simulation:
    """Nodes that run a ClientApp, in a block; `grid` is Flower's own for simulations."""

    def __init__(self, client_app, nodes):
        self._app, self._nodes = client_app, nodes
        self._stop = Stop()

    def __enter__(self):
        factory = LinkStateFactory(FLWR_IN_MEMORY_DB_NAME, NoOpFederationManager(), ObjectStoreFactory())
        run = Run.create_empty(run_id=TaskIdentity.run_id)
        run.primary_task_id, run.federation_id = TaskIdentity.task_id, NOOP_FEDERATION_ID
        state = factory.state()
        state.run_ids[run.run_id] = RunRecord(run=run)
        state.task_store[run.primary_task_id] = Task(task_id=run.primary_task_id, run_id=run.run_id)
        self.grid = InMemoryGrid(factory, pull_interval=0.01)
        self.grid.set_run(run)
        self.partitions = vce_api._register_nodes(self._nodes, factory)
        stores = vce_api._register_node_info_stores(self.partitions, run)
        self._thread = threading.Thread(target=vce_api.run_api, args=(
            lambda: self._app, lambda: Threads(self._nodes), self.partitions, factory, stores,
            self._stop, VceMetrics()))
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def reply(node, arrays, weight=1, *, names=("arrays", "metrics"), **metrics):
    """What a node answers after training."""
    asked = Message(RecordDict(), node, MessageType.TRAIN)
    return Message(RecordDict({
        names[0]: ArrayRecord({name: Array(numpy.asarray(values)) for name, values in arrays.items()}),
        names[1]: MetricRecord({"num-examples": weight, **metrics})}), reply_to=asked)


def failed(node, reason="out of luck"):
    return Message(Error(code=1, reason=reason), reply_to=Message(RecordDict(), node, MessageType.TRAIN))


class Lines(logging.Handler):
    """What Flower's logger says in a block."""

    def __enter__(self):
        self.lines = []
        logger = logging.getLogger("flwr")
        self._before = logger.level, logger.handlers[:], logger.propagate
        logger.setLevel(logging.INFO)
        logger.handlers[:] = [self]
        logger.propagate = False
        return self.lines

    def emit(self, record):
        self.lines.append(record.getMessage())

    def __exit__(self, *_):
        logger = logging.getLogger("flwr")
        logger.setLevel(self._before[0])
        logger.handlers[:] = self._before[1]
        logger.propagate = self._before[2]


def outcome(strategy, replies):
    """What a strategy makes of replies: arrays, metrics, what it raised and what it said."""
    with Lines() as said, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            arrays, metrics = strategy.aggregate_train(1, replies)
        except Exception as failure:
            return None, None, (type(failure), str(failure)), said
    return arrays and {name: array.numpy() for name, array in arrays.items()}, metrics, None, said


def app(mods=(), wait=None):
    """A ClientApp that adds a number of its own to every parameter."""
    made = ClientApp(mods=list(mods))

    @made.train()
    def train(message, context):
        number = int(context.node_config["partition-id"])
        if wait is not None and number == 0:
            wait.wait()
        if number == message.content["config"].get("fails"):
            raise RuntimeError("out of luck")
        mu = message.content["config"].get("proximal-mu", 0)
        arrays = [values + numpy.float32(number ** 2 + mu) for values in
                  message.content["arrays"].to_numpy_ndarrays()]
        return Message(RecordDict({
            "arrays": ArrayRecord(arrays),
            "metrics": MetricRecord({"num-examples": WEIGHTS[number], "loss": number / 2 + 1.0})}),
            reply_to=message)

    @made.evaluate()
    def evaluate(message, context):
        mean = float(message.content["arrays"].to_numpy_ndarrays()[0].mean())
        return Message(RecordDict({"metrics": MetricRecord({"num-examples": 1, "mean": mean})}),
                       reply_to=message)

    return made


def model(elements=64):
    # Of so few bits that no mean of them rounds.
    rng = numpy.random.default_rng(4)
    return ArrayRecord([rng.integers(-64, 64, elements).astype(numpy.float32) / 64, numpy.zeros(3)])
