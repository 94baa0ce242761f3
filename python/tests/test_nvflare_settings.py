# SPDX-License-Identifier: Apache-2.0
"""NVFlare's own memory settings, set by `ebb.nvflare.configure`: what a job exports is what NVFlare reads."""
import ast
import json
import os
import tempfile
import unittest
from pathlib import Path

import nvflare
from nvflare.apis.executor import Executor
from nvflare.app_common.ccwf.ccwf_job import CCWFJob, SwarmClientConfig, SwarmServerConfig
from nvflare.app_common.ccwf.comps.np_file_model_persistor import NPFileModelPersistor
from nvflare.app_common.ccwf.comps.simple_model_shareable_generator import SimpleModelShareableGenerator
from nvflare.app_common.aggregators.intime_accumulate_model_aggregator import (
    InTimeAccumulateWeightedAggregator,
)
from nvflare.app_common.np.recipes.fedavg import NumpyFedAvgRecipe
from nvflare.app_common.workflows.cyclic_ctl import CyclicController
from nvflare.app_common.workflows.fedavg import FedAvg
from nvflare.job_config.api import FedJob
from nvflare.job_config.script_runner import FrameworkType, ScriptRunner

import ebb.nvflare
from nvflare_release import DEFAULTS, SCRIPTS_EXECUTOR
from support import ROOT


class Trainer(Executor):
    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        return shareable


def script():
    return ScriptRunner(script="client.py", framework=FrameworkType.NUMPY)


def exported(job):
    """By class, the arguments that NVFlare builds its components with."""
    with tempfile.TemporaryDirectory() as folder:
        (job.export if hasattr(job, "export") else job.export_job)(folder)
        found = {}
        for path in Path(folder).rglob("config_fed_*.json"):
            config = json.loads(path.read_text(encoding="utf-8"))
            parts = config.get("workflows", []) + [one["executor"] for one in config.get("executors", [])]
            for part in parts:
                found[part["path"].rsplit(".", 1)[1]] = part.get("args", {})
        return found


class Settings(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT / "examples" / "nvflare")  # where client.py is

    def job(self, workflow=None, executor=None):
        job = FedJob(name="settings")
        job.to_server(workflow or FedAvg(num_clients=2, num_rounds=1, persistor_id=""))
        job.to_clients(executor or script())
        return job

    def swarm(self):
        job = CCWFJob(name="swarm")
        job.add_swarm(server_config=SwarmServerConfig(num_rounds=1),
                      client_config=SwarmClientConfig(
                          executor=script(), persistor=NPFileModelPersistor(),
                          shareable_generator=SimpleModelShareableGenerator(),
                          aggregator=InTimeAccumulateWeightedAggregator(expected_data_kind="WEIGHTS")))
        return job

    def test_a_job_keeps_nvflares_defaults_unless_told(self):
        job = self.job()
        before = exported(job)
        self.assertIs(ebb.nvflare.configure(job), job)
        self.assertEqual(exported(job), before)
        self.assertNotIn("memory_gc_rounds", before[SCRIPTS_EXECUTOR])

    def test_server_and_clients_are_set_apart(self):
        job = self.job()
        ebb.nvflare.configure(job, server_memory_gc_rounds=5, client_memory_gc_rounds=2, cuda_empty_cache=True)
        found = exported(job)
        self.assertEqual(found["FedAvg"]["memory_gc_rounds"], 5)
        self.assertEqual(found[SCRIPTS_EXECUTOR]["memory_gc_rounds"], 2)
        self.assertIs(found[SCRIPTS_EXECUTOR]["cuda_empty_cache"], True)

    def test_a_controller_that_keeps_it_under_another_name(self):
        job = self.job(CyclicController(num_rounds=1, persistor_id="p", shareable_generator_id="g"))
        ebb.nvflare.configure(job, server_memory_gc_rounds=0)
        self.assertEqual(exported(job)["CyclicController"]["memory_gc_rounds"], 0)

    def test_a_recipe_that_does_not_show_it(self):
        recipe = NumpyFedAvgRecipe(name="fedavg", model=[[0.0]], min_clients=2, num_rounds=1,
                                   train_script="client.py")
        ebb.nvflare.configure(recipe, server_memory_gc_rounds=3, client_memory_gc_rounds=4)
        ebb.nvflare.keep(recipe)
        found = exported(recipe)
        self.assertEqual([args["memory_gc_rounds"] for args in found.values() if "memory_gc_rounds" in args],
                         [3, 4])

    def test_a_swarm(self):
        job = self.swarm()
        ebb.nvflare.configure(job, memory_gc_rounds=3, cuda_empty_cache=True)
        found = exported(job)
        for part in ("SwarmClientController", SCRIPTS_EXECUTOR):
            self.assertEqual(found[part]["memory_gc_rounds"], 3)
            self.assertIs(found[part]["cuda_empty_cache"], True)
        job = self.swarm()
        ebb.nvflare.configure(job, memory_gc_rounds=3, client_memory_gc_rounds=2)
        found = exported(job)
        self.assertEqual([found[part]["memory_gc_rounds"]
                          for part in ("SwarmClientController", SCRIPTS_EXECUTOR)], [3, 2])

    def test_what_has_no_place_is_named_and_nothing_is_changed(self):
        for job, arguments, said in (
                (self.job(), {"memory_gc_rounds": 2},
                 r"memory_gc_rounds=2: this job has no place for it, expected a swarm controller"),
                (self.job(executor=Trainer()), {"client_memory_gc_rounds": 2},
                 r"client_memory_gc_rounds=2: .* \(there is: Trainer\)"),
                (self.job(executor=Trainer()), {"cuda_empty_cache": False}, r"cuda_empty_cache=False: "),
                (self.swarm(), {"server_memory_gc_rounds": 2}, r"\(there is: SwarmServerController\)")):
            before = exported(job)
            with self.assertRaisesRegex(ValueError, said):
                ebb.nvflare.configure(job, **{"server_memory_gc_rounds": 7, **arguments})
            self.assertEqual(exported(job), before)

    def test_values_that_are_none_are_refused(self):
        for arguments in ({"server_memory_gc_rounds": -1}, {"client_memory_gc_rounds": 1.5},
                          {"client_memory_gc_rounds": True}, {"cuda_empty_cache": 1}):
            with self.assertRaisesRegex(ValueError, "expected"):
                ebb.nvflare.configure(self.job(), **arguments)
        with self.assertRaisesRegex(TypeError, "list: expected a FedJob or a recipe"):
            ebb.nvflare.configure([])


class Defaults(unittest.TestCase):
    """What docs/nvflare.md lists. Sources are read, not imported: some need PyTorch or TensorFlow."""

    SETTINGS = ("server_memory_gc_rounds", "client_memory_gc_rounds", "memory_gc_rounds", "cuda_empty_cache")

    def of_constructors(self):
        """By file and class, the defaults of those settings that a constructor has."""
        root, found = Path(nvflare.__file__).parent, {}
        for path in root.rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if "memory_gc_rounds" not in source:
                continue
            for part in ast.walk(ast.parse(source)):
                if not isinstance(part, ast.ClassDef):
                    continue
                for method in part.body:
                    if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                        named = method.args.args[len(method.args.args) - len(method.args.defaults):]
                        pairs = [*zip(named, method.args.defaults),
                                 *zip(method.args.kwonlyargs, method.args.kw_defaults)]
                        values = {name.arg: ast.literal_eval(value) for name, value in pairs
                                  if name.arg in self.SETTINGS and value is not None}
                        if values:
                            name = f"{path.relative_to(root).with_suffix('').as_posix()}.{part.name}"
                            found[name] = tuple(values.get(setting) for setting in self.SETTINGS)
        return found

    def test_are_those_that_the_page_lists(self):
        self.maxDiff = None
        never, once = (0, 0, None, False), (1, 0, None, False)
        trainers, swarm, server = (None, 0, None, False), (None, None, 1, False), (None, None, 0, None)
        self.assertEqual(self.of_constructors(), {
            "recipe/fedavg.FedAvgRecipe": never, "app_opt/pt/recipes/fedavg.FedAvgRecipe": never,
            "app_opt/pt/recipes/scaffold.ScaffoldRecipe": never,
            "app_opt/tf/recipes/fedavg.FedAvgRecipe": (0, 0, None, None),
            "app_opt/tf/recipes/scaffold.ScaffoldRecipe": (0, 0, None, None),
            "app_opt/tf/recipes/fedopt.FedOptRecipe": (0, 0, None, None),
            "app_opt/pt/recipes/fedopt.FedOptRecipe": once,
            "app_opt/pt/recipes/fedavg_he.FedAvgRecipeWithHE": once,
            "recipe/cyclic.CyclicRecipe": once, "app_opt/pt/recipes/cyclic.CyclicRecipe": once,
            "app_opt/tf/recipes/cyclic.CyclicRecipe": (1, 0, None, None),
            "app_common/np/recipes/fedavg.NumpyFedAvgRecipe": trainers,
            "app_common/np/recipes/lr/fedavg.FedAvgLrRecipe": trainers,
            "app_common/np/recipes/cross_site_eval.NumpyCrossSiteEvalRecipe": trainers,
            "app_opt/pt/recipes/fedeval.FedEvalRecipe": trainers,
            "app_opt/pt/recipes/swarm.SwarmLearningRecipe": swarm,
            "app_common/ccwf/ccwf_job.SwarmClientConfig": swarm,
            "app_common/ccwf/swarm_client_ctl.SwarmClientController": swarm,
            "app_common/workflows/base_fedavg.BaseFedAvg": server, "app_common/workflows/cyclic.Cyclic": server,
            "app_common/workflows/scatter_and_gather.ScatterAndGather": (None, None, 1, None),
            "app_common/workflows/cyclic_ctl.CyclicController": (None, None, 1, None),
            "job_config/script_runner.ScriptRunner": (None, None, 0, False), **DEFAULTS})


class Keeping(unittest.TestCase):
    def test_a_job_of_nvflares_is_given_the_widget(self):
        job = FedJob(name="keeping")
        self.assertIs(ebb.nvflare.keep(job), job)


if __name__ == "__main__":
    unittest.main()
