# SPDX-License-Identifier: Apache-2.0
"""A client that "trains": it adds a number of its own to every parameter."""
import nvflare.client as flare
import numpy as np


def main():
    flare.init()
    step = np.float32(int(flare.get_site_name().rsplit("-", 1)[1]) / 4)
    while flare.is_running():
        model = flare.receive()
        if model is None:
            break
        params = {name: values + step for name, values in model.params.items()}
        flare.send(flare.FLModel(params=params, metrics={"loss": float(step)},
                                 meta={"NUM_STEPS_CURRENT_ROUND": 8}))


if __name__ == "__main__":
    main()
