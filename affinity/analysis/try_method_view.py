"""What is seen when methods walk down a problem: ways, losses, where each start ended, and the answer."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from affinity.core.types import FloatArray, IntArray

Outcome: TypeAlias = Literal["front", "under way", "stuck", "diverged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPoint:
    """Where one start of one method ended.

    Attributes:
        method: the method's title.
        start: number of the start, from 1.
        theta: (n,) the parameters.
        losses: (N,) the losses there.
        distance: to the Pareto set, in parameter space; NaN if diverged.
        outcome: `front` = nearer than the problem's tolerance; `stuck` = not, and in the last tenth of the
            steps it moved by less than a fiftieth of the distance left; `under way` = it still moves.
        hurt: losses that the method's next update would raise, to first order.
    """

    method: str
    start: int
    theta: tuple[float, ...]
    losses: tuple[float, ...]
    distance: float
    outcome: Outcome
    hurt: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ways:
    """The ways of one method at the steps that are kept.

    Attributes:
        key, title: the method.
        theta: (T, S, n) parameters.
        losses: (T, S, N) losses.
    """

    key: str
    title: str
    theta: FloatArray
    losses: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Landscape:
    """A problem as a picture over two of its parameters.

    Attributes:
        title: the problem.
        names: (2,) the parameters on the axes.
        axes: (2,) their positions.
        first, second: (A,), (B,) grid along both.
        height: (B, A) sum of the losses; the other parameters are held at `held`.
        held: what the other parameters are held at, in words; empty where there are none.
        front: (P, 2) the Pareto set on these axes.
        front_losses: (P, N) the losses along it.
    """

    title: str
    names: tuple[str, str]
    axes: tuple[int, int]
    first: FloatArray
    second: FloatArray
    height: FloatArray
    held: str
    front: FloatArray
    front_losses: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TryView:
    """What each method did on a problem.

    Attributes:
        landscape: the picture under the ways.
        tasks: names of the losses.
        steps: (T,) the steps that are kept, from 0 to the last.
        ways: one entry a method.
        ends: one entry a method and start.
        sentence: the answer.
        caveats: sentences that belong beside the numbers.
    """

    landscape: Landscape
    tasks: tuple[str, ...]
    steps: IntArray
    ways: tuple[Ways, ...]
    ends: tuple[EndPoint, ...]
    sentence: str
    caveats: tuple[str, ...]
