# SPDX-License-Identifier: Apache-2.0
"""RSS markers inside NVFlare: in the log and in the record of `ebb run`, each once, whoever writes them."""
import collections
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import unittest
from unittest import mock

from nvflare.apis.event_type import EventType
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import FLContextKey, ReservedKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from nvflare.fuel.utils import mem_utils

import ebb
import ebb.nvflare
from ebb.nvflare.markers import EventMarkers
from nvflare_release import SINCE_2_9, script_in_a_process_of_its_own, script_in_the_clients_process
from support import ROOT, python, simulate

LOGGER = "nvflare.fuel.utils.mem_utils"
VARIABLES = ("EBB_MEMORY_PROFILE", "NVFLARE_CLIENT_MEMORY_PROFILE", "EBB_DISABLE", "EBB_ROLE")
JOB = ROOT / "python" / "tests" / "marker_job.py"


def without_numbers(lines):
    """How often each marker was written, its megabytes aside."""
    return collections.Counter(re.search(r"\[RSS\] .*?(?=: \d+\.\d MB)", line)[0] for line in lines)


class Trainer(Executor):
    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        return shareable


class Runner:
    def __init__(self, executor):
        self.find_executor = lambda task: executor


class Events(unittest.TestCase):
    """Runs in this process: the environment is read once, so markers are asked for by a patched question."""

    def setUp(self):
        asked = mock.patch.object(ebb.memory, "memory_profile", lambda role=None: role in self.roles)
        asked.start()
        self.addCleanup(asked.stop)
        self.roles = {"client", "server"}

    def lines(self, events, executor=None, nvflares=()):
        markers = EventMarkers()
        fl_ctx = FLContext()
        fl_ctx.set_prop(ReservedKey.IDENTITY_NAME, "site-1", private=True, sticky=False)
        fl_ctx.set_prop(FLContextKey.TASK_NAME, "train", private=True, sticky=False)
        fl_ctx.set_prop(FLContextKey.RUNNER, Runner(executor), private=True, sticky=False)
        with self.assertLogs(LOGGER, logging.INFO) as logs:
            logging.getLogger(LOGGER).info("begin")
            for event, number in [(EventType.START_RUN, None), *events]:
                data = Shareable()
                data.set_header(AppConstants.CURRENT_ROUND, number)
                fl_ctx.set_prop(FLContextKey.TASK_DATA, data, private=True, sticky=False)
                fl_ctx.set_prop(AppConstants.CURRENT_ROUND, number, private=True, sticky=False)
                markers.handle(event, fl_ctx)
                for line in nvflares if event == EventType.BEFORE_TASK_EXECUTION else ():
                    logging.getLogger(LOGGER).info(line)
        return [re.sub(r": [\d.]+ MB$", "", record.getMessage()) for record in logs.records[1:]]

    TASK = [(event, 2) for event in (EventType.BEFORE_TASK_EXECUTION, EventType.AFTER_TASK_EXECUTION,
                                     EventType.BEFORE_SEND_TASK_RESULT)]

    def test_a_plain_executor_has_the_markers_of_a_trainer_and_of_its_job(self):
        self.assertEqual(self.lines(self.TASK, Trainer()),
                         ["[RSS] CA s=site-1 r=2 recv", "[RSS] CA s=site-1 r=2 send",
                          "[RSS] CJ s=site-1 t=train r=2 relay"])

    def test_where_a_script_trains_the_client_api_marks(self):
        self.assertEqual(self.lines(self.TASK, script_in_the_clients_process()),
                         ["[RSS] CJ s=site-1 t=train r=2 relay"])

    def test_nvflares_own_relay_is_not_repeated(self):
        written = ["[RSS] CJ s=site-1 t=train r=2 relay: 1.0 MB"]  # as 2.8's launcher executor does
        self.assertEqual(self.lines(self.TASK * 2, script_in_a_process_of_its_own(), written),
                         ["[RSS] CJ s=site-1 t=train r=2 relay"] * 2)

    def test_a_client_of_a_swarm_answers_with_no_result_and_may_aggregate(self):
        class ClientSideController(Trainer):
            pass

        class SwarmClientController(ClientSideController):
            pass

        rounds = [(AppEventType.ROUND_STARTED, 0), (AppEventType.ROUND_STARTED, 1),
                  (AppEventType.AFTER_AGGREGATION, 1), (EventType.END_RUN, 1)]
        self.assertEqual(self.lines(self.TASK + rounds, SwarmClientController()),
                         ["[RSS] SV s=site-1 r=1 aggregate", "[RSS] SV s=site-1 r=1 end"],
                         "only rounds in which it aggregates")

    def test_a_round_that_is_not_known_is_none(self):
        self.assertEqual(self.lines([(EventType.BEFORE_TASK_EXECUTION, None)], Trainer()),
                         ["[RSS] CA s=site-1 r=None recv"])

    def test_a_server_marks_each_aggregation_and_the_end_of_each_round_once(self):
        started, updates = AppEventType.ROUND_STARTED, AppEventType.BEFORE_SHAREABLE_TO_LEARNABLE
        self.assertEqual(
            self.lines([(started, 0), (AppEventType.AFTER_AGGREGATION, 0), (updates, 0), (started, 1),
                        (started, 1), (updates, 1), (EventType.END_RUN, 1)]),
            ["[RSS] SV s=site-1 r=0 aggregate", "[RSS] SV s=site-1 r=0 end",
             "[RSS] SV s=site-1 r=1 aggregate", "[RSS] SV s=site-1 r=1 end"])

    def test_only_who_is_asked_marks(self):
        self.roles = {"server"}
        self.assertEqual(self.lines(self.TASK, Trainer()), [])
        self.roles = {"client"}
        self.assertEqual(self.lines([(AppEventType.AFTER_AGGREGATION, 0)]), [])


class Patch(unittest.TestCase):
    ASK = ("import logging; import ebb.nvflare; from nvflare.fuel.utils import mem_utils; "
           "ebb.nvflare.patch(); mem_utils.log_rss('CA s=x r=0 recv'); ebb.nvflare.unpatch(); "
           "mem_utils.log_rss('CA s=x r=1 recv')")

    def said(self, **environment):
        return python(self.ASK, **{**dict.fromkeys(VARIABLES), **environment})

    def test_ebbs_variable_turns_nvflares_switch(self):
        said = self.said(EBB_MEMORY_PROFILE=1)
        self.assertRegex(said, r"^\[RSS\] CA s=x r=0 recv: \d+\.\d MB$")

    def test_without_a_variable_nothing_is_written(self):
        self.assertEqual(self.said(), "")
        self.assertEqual(self.said(EBB_DISABLE=1, EBB_MEMORY_PROFILE=1), "")

    def test_nvflares_variable_stays_in_force(self):
        self.assertEqual(len(self.said(NVFLARE_CLIENT_MEMORY_PROFILE=1).splitlines()), 2)

    def test_the_api_of_external_trainers_marks(self):
        class Api:
            def get_site_name(self):
                return "site-1"

        receive = ebb.nvflare.markers._marking_receive(lambda api: FLModel(params={"w": 1}, current_round=4))
        send = ebb.nvflare.markers._marking_send(lambda api, model: "sent")
        nothing = ebb.nvflare.markers._marking_receive(lambda api: None)
        api = Api()
        with mock.patch.object(ebb.memory, "memory_profile", lambda role: role == "trainer"), \
                self.assertLogs(LOGGER, logging.INFO) as logs:
            self.assertEqual(send(Api(), None), "sent")  # a rank that only follows
            self.assertIsNone(nothing(api))
            self.assertEqual(receive(api).current_round, 4)
            self.assertEqual(send(api, None), "sent")
        self.assertEqual(list(without_numbers(logs.output)),
                         ["[RSS] CA s=site-1 r=4 recv", "[RSS] CA s=site-1 r=4 send"])
        if SINCE_2_9:
            import nvflare.client.cell.api
            self.assertFalse(hasattr(nvflare.client.cell.api, "log_rss"), "NVFlare marks by itself by now")
        self.assertFalse(mem_utils._ENABLED)


class UnderRun(unittest.TestCase):
    """Whole jobs in NVFlare's simulator under `ebb run`."""

    ROUNDS = 2

    def run_job(self, kind, **environment):
        """(markers in the logs, markers in the record), counted, of a job with two clients."""
        out = ROOT / "build" / "python" / "markers" / kind
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        with mock.patch.dict(os.environ):
            for name in VARIABLES:
                os.environ.pop(name, None)
            status, said = simulate([sys.executable, "-m", "ebb", "run", "--quiet", "--db", str(out / "runs.db"),
                                     "--", sys.executable, str(JOB), kind, str(out / "workspace"),
                                     str(self.ROUNDS)], **environment)
        self.assertEqual(status, 0, said[-4000:])
        report = json.loads(subprocess.run([sys.executable, "-m", "ebb", "report", "--json", "--db",
                                            str(out / "runs.db")], check=True,
                                           stdout=subprocess.PIPE).stdout)
        recorded = [event["text"] for event in report["events"] if event["kind"] == "marker"]
        logged = [line for line in said.splitlines() if "[RSS] " in line]
        for path in out.rglob("log.txt"):
            logged += [line for line in path.read_text(encoding="utf-8").splitlines() if "[RSS] " in line]
        return without_numbers(logged), without_numbers(recorded)

    def client_markers(self):
        lines = [f"CA s=site-{site} r={number} {tag}" for site in (1, 2) for number in range(self.ROUNDS)
                 for tag in ("recv", "send")]
        lines += [f"CJ s=site-{site} t=train r={number} relay" for site in (1, 2)
                  for number in range(self.ROUNDS)]
        return {f"[RSS] {line}" for line in lines}

    def server_markers(self):
        return {f"[RSS] SV s=simulator_server r={number} {tag}" for number in range(self.ROUNDS)
                for tag in ("aggregate", "end")}

    def check(self, kind, wanted, optional=(), **environment):
        logged, recorded = ({line: count for line, count in lines.items() if line not in optional}
                            for lines in self.run_job(kind, **environment))
        wanted = wanted.difference(optional)
        self.assertEqual(recorded, dict.fromkeys(wanted, 1), "each is recorded once")
        self.assertEqual(set(logged), set(wanted), "and in the log")

    def test_a_script_in_the_clients_process(self):
        self.check("script", self.client_markers() | self.server_markers(), EBB_MEMORY_PROFILE="1")

    def test_a_plain_executor_with_nvflares_variable_which_is_the_clients_alone(self):
        self.check("executor", self.client_markers(), NVFLARE_CLIENT_MEMORY_PROFILE="1")

    def test_a_script_in_a_process_of_its_own(self):
        # NVFlare 2.8 writes these itself, once the server has fetched the result: the job may be over before the last.
        last = set() if SINCE_2_9 else {f"[RSS] CA s=site-{site} r={self.ROUNDS - 1} send" for site in (1, 2)}
        self.check("external", self.client_markers() | self.server_markers(), last, EBB_MEMORY_PROFILE="1")


if __name__ == "__main__":
    unittest.main()
