# SPDX-License-Identifier: Apache-2.0
"""A recipe of NVFlare's with Ebb's aggregator and widget.

  recipe.py WORKSPACE        starts two clients in NVFlare's simulator, for three rounds

Needs NVFlare and NumPy; prints where NVFlare left the result.
"""
import os
import sys
from pathlib import Path

from nvflare.app_common.np.recipes.fedavg import NumpyFedAvgRecipe
from nvflare.recipe.sim_env import SimEnv

import ebb.nvflare


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    workspace = Path(sys.argv[1]).resolve()
    os.chdir(Path(__file__).resolve().parent)  # where the recipe looks for client.py
    recipe = NumpyFedAvgRecipe(name="fedavg", model=[[0.0, 1.0], [2.0, 3.0]], min_clients=2, num_rounds=3,
                               train_script="client.py", aggregator=ebb.nvflare.EbbAggregator())
    ebb.nvflare.keep(recipe)
    run = recipe.execute(SimEnv(num_clients=2, workspace_root=str(workspace)))
    print(run.get_result())


if __name__ == "__main__":
    main()
