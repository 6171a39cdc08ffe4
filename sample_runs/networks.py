"""Make the example table of measured networks again: `python sample_runs/networks.py`, a few minutes.

Every set of five planted tasks is trained as one network, with three seeds; the table holds the mean final
validation loss of each task in each network.
"""

import csv
from itertools import combinations
from pathlib import Path

import numpy as np

from affinity.core.config import TrainConfig
from affinity.jobs.rerun import Network, train_network

HERE = Path(__file__).resolve().parent
TASKS = ("a1", "a2", "a3", "b1", "b2")
SEEDS = (0, 1, 2)
SETTINGS = {"dataset": "planted", "steps": 300, "probes": []}


def losses(tasks: tuple[str, ...]) -> dict[str, float]:
    """The mean final validation loss of each task of one network."""
    config = TrainConfig.from_json(SETTINGS)
    folder = str(HERE / "none")  # nobody can ask this to stop
    lines = [train_network(Network(tasks=tasks, seed=seed, roles=()), config, folder)[1] for seed in SEEDS]
    return {task: float(np.mean([line["loss"][task] for line in lines])) for task in tasks}


if __name__ == "__main__":
    sets = [group for size in range(1, len(TASKS) + 1) for group in combinations(TASKS, size)]
    with (HERE / "networks.csv").open("w", encoding="utf-8", newline="") as stream:
        stream.write("# mean final validation loss over three seeds; lower is better\n")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(TASKS)
        for group in sets:
            found = losses(group)
            writer.writerow([f"{found[task]:.6f}" if task in found else "" for task in TASKS])
