# SPDX-License-Identifier: Apache-2.0
"""The script that marker_job.py's clients run, in their process or in one of its own."""
import nvflare.client as flare

import ebb.nvflare


def main():
    ebb.nvflare.patch()
    flare.init()
    while flare.is_running():
        model = flare.receive()
        if model is None:
            break
        flare.send(flare.FLModel(params={"w": model.params["w"] + 1}))


if __name__ == "__main__":
    main()
