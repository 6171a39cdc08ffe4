"""Published results of the gradient methods, remade: `python -m tests.benchmarks.published [names...]`.

Without names all parts but the trainings run, at full size, in about five minutes on one core. Parts: chain,
valleys, counter, fronts, quartic, ordering, and for burgers see `tests.benchmarks.burgers`. The tests run the
same functions, small ones always and full ones when marked slow.
"""

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from affinity.analysis.try_method_walk import Walker, walk
from affinity.core.linalg import min_norm_of_nonzero
from affinity.methods import METHODS, Descent, direction
from affinity.problems import PROBLEMS

EXACT_VOLUME = {"f1": 0.87667, "f2": 0.87667, "f3": 0.87667, "f4": 0.54333, "f5": 0.54333, "f6": 0.54333}
"""Area between the exact front and (1.1, 1.1): 1.21 - 1/3 for the convex one, 1.21 - 2/3 for the concave."""


def walker(key: str, *, optimizer: str = "sgd", lr: float, **settings: object) -> Walker:
    """A method of the shelf with some settings."""
    method = METHODS[key]
    return Walker(method=method, settings=method.settings.from_json(settings), optimizer=optimizer, lr=lr)


def chain(starts: int = 512, *, steps: int = 300, seed: int = 0, low: float = -1.0) -> dict[str, float]:
    """Share of uniform starts in [low, 2]^3 that each method leaves off the front of the chain."""
    problem, methods = PROBLEMS["chain"], ("mgda", "rp_mgda")
    theta = np.random.default_rng(seed).uniform(low, 2.0, size=(starts, 3))
    places, _ = walk(problem, [walker(key, lr=0.1) for key in methods], theta, steps=steps)
    stuck = problem.distance(places[:, -1]) > problem.near
    return {key: float(share) for key, share in zip(methods, stuck.mean(axis=1), strict=True)}


def valleys(
    *, steps: int = 50_000, lr: float = 1e-3, starts: Sequence[int] = (0, 1, 2, 3, 4)
) -> dict[str, np.ndarray]:
    """(S, 2) where the joint sum and ConFIG end from the official code's starts, with Adam."""
    methods, problem = ("joint", "config"), PROBLEMS["two_valleys"]
    walkers = [walker(key, optimizer="adam", lr=lr) for key in methods]
    places, _ = walk(problem, walkers, problem.starts[list(starts)], steps=steps)
    return dict(zip(methods, places[:, -1], strict=True))


def counter() -> dict[str, np.ndarray]:
    """The step for gradients (1, 3) and (-3, -1): MGDA, the refined partition, and each coordinate alone."""
    gradients = PROBLEMS["pulling_apart"].gradients(np.zeros(2))
    alone = [direction(gradients[:, [place]], METHODS["mgda"]).direction[0] for place in range(2)]
    return {
        "mgda": direction(gradients, METHODS["mgda"]).direction,
        "rp_mgda": direction(gradients, METHODS["rp_mgda"]).direction,
        "coordinate-wise": np.array(alone),
    }


def fronts(
    name: str, method: str, *, preferences: int = 101, steps: int = 1000, seed: int = 0
) -> tuple[float, int, np.ndarray]:
    """One walk a preference on F1 .. F6, all from one random start.

    Returns:
        The area that the end points dominate below (1.1, 1.1), how many end points differ by more than 0.001,
        and the (P, 2) losses there.
    """
    problem = PROBLEMS[f"tchebycheff_{name}"]
    given = {"mu": 0.01} if method == "stch" else {}
    walkers = [
        walker(method, optimizer="adam", lr=0.01, weights=f"{share:.6f}, {1 - share:.6f}", **given)
        for share in np.linspace(0.0, 1.0, preferences)
    ]
    start = problem.random_starts(1, np.random.default_rng(seed))
    ends = walk(problem, walkers, start, steps=steps)[0][:, -1, 0]
    losses = problem.losses(ends)
    return hypervolume(losses), distinct(losses), losses


def hypervolume(losses: np.ndarray, corner: float = 1.1) -> float:
    """Area that (P, 2) losses dominate below (corner, corner)."""
    volume, ceiling = 0.0, corner
    for first, second in losses[np.argsort(losses[:, 0], kind="stable")]:
        if first < corner and second < ceiling:
            volume, ceiling = volume + (corner - first) * (ceiling - second), second
    return volume


def distinct(losses: np.ndarray, apart: float = 1e-3) -> int:
    """How many of (P, 2) losses lie farther than `apart` from all that were counted before."""
    found: list[np.ndarray] = []
    for one in losses:
        if all(np.abs(one - other).max() > apart for other in found):
            found.append(one)
    return len(found)


def quartic(*, steps: int = 6000) -> dict[str, tuple[float, float, float]]:
    """MGDA-FA and exact updates of the weights from (0.6, 1.8): x, CA distance, Pareto gap at the end."""
    problem = PROBLEMS["quartic_bowls"]
    found = {}
    for key in ("mgda_fa", "modo"):
        one = walker(key, lr=0.005, rate=0.05, rho=0.0)
        places, updates = walk(problem, [one], np.array([[0.6, 1.8]]), steps=steps)
        theta, update = places[0, -1, 0], updates[0, 0]
        rows = problem.gradients(theta)
        shortest = min_norm_of_nonzero(rows @ rows.T) @ rows
        found[key] = (
            float(theta[0]),
            float(np.linalg.norm(update - shortest)),
            float(np.linalg.norm(shortest)),
        )
    return found


def ordering(*, samples: int = 256, epochs: int = 6, seed: int = 0) -> tuple[float, list[float]]:
    """JoGBa on Gaussian gradients of two losses in 16 dimensions.

    Returns:
        The mean over 100 random orders of the largest centred prefix sum, and the same of each epoch's order
        after the first.
    """
    gradients = np.random.default_rng(seed).normal(size=(samples, 2, 16))
    centred = (gradients - gradients.mean(axis=0)).reshape(samples, -1)

    def longest(order: Sequence[int]) -> float:
        return float(np.linalg.norm(np.cumsum(centred[list(order)], axis=0), axis=1).max())

    rng = np.random.default_rng(seed + 1)
    random = float(np.mean([longest(rng.permutation(samples)) for _ in range(100)]))
    method = METHODS["jogba"]
    descent = Descent(
        method=method,
        settings=method.settings(),
        losses=lambda theta: np.zeros(2),
        gradients=lambda theta: gradients.mean(axis=0),
        rng=rng,
        sample_gradients=lambda theta: gradients,
    )
    balanced = []
    for _ in range(epochs):
        descent.direction(np.zeros(16))
        assert descent.order is not None
        balanced.append(longest(descent.order))
    return random, balanced


def _show_chain() -> None:
    for low in (-1.0, -2.0):
        shares = chain(low=low)
        print(f"chain, 512 starts in [{low:g}, 2]^3, off the front: MGDA {shares['mgda']:.2%}, "
              f"RP-MGDA {shares['rp_mgda']:.2%} (published: 72.66 % and 0)")  # fmt: skip


def _show_valleys() -> None:
    for key, ends in valleys().items():
        print(f"two valleys, {key}: " + ", ".join(f"({x:.3f}, {y:.3f})" for x, y in ends))
    print("published: the plain sum leaves the third start in its valley, ConFIG brings all five out")


def _show_counter() -> None:
    for key, step in counter().items():
        print(f"counter-check, {key}: ({step[0]:.3f}, {step[1]:.3f})")


def _show_fronts() -> None:
    for name, exact in EXACT_VOLUME.items():
        for method in ("weighted_sum", "stch"):
            volume, different, _ = fronts(name, method, steps=3000 if method == "weighted_sum" else 1000)
            print(f"{name.upper()}, {method}: area {volume:.4f} of {exact:.4f}, {different} of 101 different")


def _show_quartic() -> None:
    for key, (x, distance, gap) in quartic().items():
        print(f"quartic bowls, {key}: x = {x:.4f}, CA distance {distance:.1e}, Pareto gap {gap:.1e}")


def _show_ordering() -> None:
    random, balanced = ordering()
    print(f"JoGBa, largest centred prefix sum: random order {random:.1f}, epochs "
          + ", ".join(f"{value:.1f}" for value in balanced))  # fmt: skip


PARTS: dict[str, Callable[[], None]] = {
    "chain": _show_chain, "valleys": _show_valleys, "counter": _show_counter, "fronts": _show_fronts,
    "quartic": _show_quartic, "ordering": _show_ordering,
}  # fmt: skip

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        began = time.perf_counter()
        PARTS[part]()
        print(f"  {time.perf_counter() - began:.1f} s", flush=True)
