"""Problem F1 of the smooth Tchebycheff paper: a convex front over a Pareto set along a parabola."""

from affinity.problems._bent_fronts import bent_front, parabola

PROBLEM = bent_front(
    key="tchebycheff_f1",
    title="F1: convex front, a parabola",
    summary="Six parameters; on the Pareto set five follow the first along a parabola. The front is convex.",
    target=parabola,
    scale=1.0,
    shift=0.0,
    convex=True,
)
