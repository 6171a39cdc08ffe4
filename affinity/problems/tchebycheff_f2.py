"""Problem F2 of the smooth Tchebycheff paper: a convex front over a Pareto set along powers."""

from affinity.problems._bent_fronts import bent_front, powers

PROBLEM = bent_front(
    key="tchebycheff_f2",
    title="F2: convex front, powers",
    summary="Six parameters; on the Pareto set five follow the first along powers. The front is convex.",
    target=powers,
    scale=1.0,
    shift=0.0,
    convex=True,
)
