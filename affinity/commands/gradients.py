"""Commands about one gradient matrix: statistics, direction."""

from pathlib import Path

import numpy as np

from affinity.analysis.gradient_file import read_gradients
from affinity.analysis.gradient_statistics import statistics_of_file
from affinity.analysis.gram_statistics import DEAD_ZONE
from affinity.analysis.method_statistics import distance_to_shortest
from affinity.commands.shared import Answer, Options, table
from affinity.core.errors import AffinityError, SettingsError
from affinity.core.strict_json import dumps
from affinity.methods import METHODS, direction


def statistics_command(options: Options) -> Answer:
    """Every conflict statistic of a gradient matrix."""
    answer = statistics_of_file(read_gradients(Path(options.matrix)))
    return answer, dumps(answer, indent=1)


def direction_command(options: Options) -> Answer:
    """A method's update for a gradient matrix."""
    method = METHODS.find(options.method)
    settings = method.settings.from_json(dict(_assignment(text) for text in options.set))
    if options.seed < 0:
        raise SettingsError(f"{options.seed} is not a seed.", "--seed", "Give a whole number from 0.")
    path = Path(options.matrix)
    given = read_gradients(path)
    try:
        found = direction(
            given.matrix,
            method,
            settings,
            np.random.default_rng(options.seed),
            losses=given.losses,
            tasks=given.tasks,
        )
    except SettingsError as error:
        raise AffinityError(error.what, f"{path.name}, {error.where}", error.hint) from error
    hurt = [task for task, cosine in zip(given.tasks, found.cosines, strict=True) if cosine < -DEAD_ZONE]
    answer = {
        "method": method.key,
        "tasks": given.tasks,
        "direction": found.direction,
        "weights": found.weights,
        "inner_products": found.inner_products,
        "cosines": found.cosines,
        "tasks_hurt": hurt,
        "norm": float(np.linalg.norm(found.direction)),
        "ca_distance": distance_to_shortest(given.matrix, found.direction),
        "zero_gradients": [given.tasks[row] for row in found.zero],
        "not_finite": [given.tasks[row] for row in found.not_finite],
        "settings": settings.to_json(),
        "warnings": found.warnings,
    }
    weights = ["-"] * len(given.tasks) if found.weights is None else [f"{w:.6g}" for w in found.weights]
    rows = [
        (task, weight, f"{product:+.6g}")
        for task, weight, product in zip(given.tasks, weights, found.inner_products, strict=True)
    ]
    text = table([("task", "weight", "gradient . direction"), *rows])
    numbers = ", ".join(f"{value:.6g}" for value in found.direction)
    return answer, "\n".join([text, f"direction: {numbers}", *found.warnings])


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise SettingsError(f"'{text}' is not NAME=VALUE.", "--set")
    return name.removeprefix("method."), value
