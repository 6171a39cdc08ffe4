"""Problem F5 of the smooth Tchebycheff paper: a concave front over a Pareto set along powers."""

from affinity.problems._bent_fronts import bent_front, powers

PROBLEM = bent_front(
    key="tchebycheff_f5",
    title="F5: concave front, powers",
    summary="Six parameters; on the Pareto set five follow the first along powers. The front is concave.",
    target=powers,
    scale=1.0,
    shift=0.0,
    convex=False,
)
