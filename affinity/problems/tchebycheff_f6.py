"""Problem F6 of the smooth Tchebycheff paper: a concave front over a Pareto set along waves."""

from affinity.problems._bent_fronts import bent_front, waves

PROBLEM = bent_front(
    key="tchebycheff_f6",
    title="F6: concave front, waves",
    summary="Six parameters; on the Pareto set five follow the first along waves. The front is concave.",
    target=waves,
    scale=2.0,
    shift=-1.0,
    convex=False,
)
