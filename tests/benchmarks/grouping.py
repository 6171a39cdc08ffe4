"""How quickly groupings are proven, and how close the heuristics come; printed, never asserted.

Run with `python -m tests.benchmarks.grouping [names...]`; without names all parts but the two longest run.
Every instance is random with a fixed seed. Wall and processor seconds stand side by side, because on a busy
machine only the second says what a quiet one would need. Parts: nine, twenty, twentyseven, forty, hundred,
heuristics.
"""

import itertools
import sys
import time
from collections.abc import Callable

import numpy as np

from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.grouping import solve


def timed(call: Callable[[], GroupingSolution]) -> tuple[GroupingSolution, float, float]:
    """The answer with its wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    answer = call()
    return answer, time.perf_counter() - wall, time.process_time() - processor


def report(name: str, problem: GroupingProblem, algorithm: str = "exact") -> float:
    """Solve once and print a line; the wall seconds."""
    solution, wall, processor = timed(lambda: solve(problem, algorithm))
    proof = "proven" if solution.optimal else f"gap {solution.gap:.4f} ({solution.stopped or 'no proof'})"
    print(
        f"{name:44} {wall:8.3f} s wall {processor:8.3f} s cpu  score {solution.score:.5f}  {proof}",
        flush=True,
    )
    return wall


def gaussian(size: int, seed: int = 0) -> np.ndarray:
    """A directed matrix without structure."""
    return np.random.default_rng(seed).normal(size=(size, size))


def planted(size: int, seed: int = 0) -> np.ndarray:
    """Groups of five with mutual help and noise."""
    label = np.arange(size) // 5
    clean = np.where(label[:, None] == label, 0.5, -0.1)
    return clean + 0.3 * np.random.default_rng(seed).normal(size=(size, size))


def exhaustive(affinity: np.ndarray, groups: int) -> float:
    """The published notebook's way: every combination of at most K of all subsets, scores kept in dicts."""
    size = len(affinity)
    subsets = [c for count in range(1, size + 1) for c in itertools.combinations(range(size), count)]
    scored = [
        {task: sum(affinity[u, task] for u in c if u != task) / max(1, len(c) - 1) for task in c}
        for c in subsets
    ]
    best = -np.inf
    for count in range(1, groups + 1):
        for chosen in itertools.combinations(scored, count):
            found: dict[int, float] = {}
            for scores in chosen:
                for task, value in scores.items():
                    if value > found.get(task, -1e9):
                        found[task] = value
            if len(found) == size:
                best = max(best, sum(found.values()) / size)
    return best


def nine() -> None:
    """Nine overlapping tasks against exhaustive search in the same process."""
    affinity = gaussian(9)
    solve(GroupingProblem(affinity=affinity, groups=3, overlap=True))
    ours = min(report("9 tasks, 3 networks, overlap", _overlapping(affinity, 3)) for _ in range(3))
    report("9 tasks, 4 networks, overlap", _overlapping(affinity, 4))
    start = time.perf_counter()
    value = exhaustive(affinity, 3)
    took = time.perf_counter() - start
    same = abs(value - solve(_overlapping(affinity, 3)).score) < 1e-12
    print(
        f"exhaustive search: {took:.1f} s, {took / ours:,.0f} times as long; same value: {same}", flush=True
    )


def _overlapping(affinity: np.ndarray, groups: int) -> GroupingProblem:
    return GroupingProblem(affinity=affinity, groups=groups, overlap=True)


def twenty() -> None:
    """Any partition or selection of 20 tasks; the goal is 2 s."""
    for groups, overlap in itertools.product((2, 3, 4, 6, 8), (False, True)):
        problem = GroupingProblem(affinity=gaussian(20), groups=groups, overlap=overlap)
        report(f"20 tasks, {groups} networks, {'overlap' if overlap else 'partition'}", problem)


def twentyseven() -> None:
    """27 tasks; the goal is 60 s."""
    for groups, overlap in ((4, False), (8, False), (4, True)):
        problem = GroupingProblem(affinity=gaussian(27), groups=groups, overlap=overlap, time_limit=300)
        report(f"27 tasks, {groups} networks, {'overlap' if overlap else 'partition'}", problem)


def forty() -> None:
    """40 tasks into eight or more groups; the goal is 60 s."""
    for name, matrix in (("planted", planted(40)), ("random", gaussian(40))):
        for groups in (13, 8):
            problem = GroupingProblem(affinity=matrix, groups=groups, time_limit=120)
            report(f"40 tasks, {groups} networks, {name}", problem)


def hundred() -> None:
    """100 tasks: without a budget in a second, with one in 10 s with a gap."""
    for name, matrix in (("random", gaussian(100)), ("planted", planted(100))):
        report(f"100 tasks, no budget, {name}", GroupingProblem(affinity=matrix, groups=100))
        report(f"100 tasks, 10 networks, {name}", GroupingProblem(affinity=matrix, groups=10, time_limit=8))


def heuristics(instances: int = 1000) -> None:
    """Share of random instances of 16 tasks in which a heuristic is within 1 % of the optimum."""
    keys = ("local_search", "greedy_merge", "spectral", "agglomerative", "louvain")
    gaps: dict[str, list[float]] = {key: [] for key in keys}
    unproven = 0
    for seed in range(instances):
        affinity = gaussian(16, seed)
        problem = GroupingProblem(affinity=affinity, groups=2 + seed % 5)
        best = solve(problem)
        unproven += not best.optimal
        for key in keys if seed < instances // 10 else keys[:2]:
            gaps[key].append((best.score - solve(problem, key).score) / abs(best.score))
    print(f"{instances} instances of 16 tasks, 2 to 6 networks; {unproven} without proof")
    for key, found in gaps.items():
        near = 100 * np.mean(np.array(found) <= 0.01)
        print(f"  {key:16} within 1 %: {near:5.1f} % of {len(found)}  mean gap {100 * np.mean(found):.2f} %  "
              f"worst {100 * np.max(found):.2f} %", flush=True)  # fmt: skip


PARTS = {
    "nine": nine, "twenty": twenty, "hundred": hundred, "heuristics": heuristics,
    "twentyseven": twentyseven, "forty": forty,
}  # fmt: skip

if __name__ == "__main__":
    for part in sys.argv[1:] or ["nine", "twenty", "hundred", "heuristics"]:
        PARTS[part]()
