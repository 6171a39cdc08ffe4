"""The linear and the integer program over a pool of columns, solved by HiGHS through SciPy."""

from dataclasses import dataclass

import numpy as np

from affinity.core.types import AnyArray, FloatArray
from affinity.grouping._pricing import Columns, members

# What leaving an element unserved costs, in units of the largest affinity; only until columns cover it.
UNSERVED = 1e4
# HiGHS stops an integer program at an absolute gap of 1e-6 that SciPy cannot set; larger numbers shrink it.
ENLARGED = 1e3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relaxed:
    """Optimum of the linear program over the pool.

    Attributes:
        value: its objective; a lower bound on the linear optimum over all columns.
        duals: (M,) price of serving each element.
        weights: (C,) share of every column.
        covered: no element is left unserved.
    """

    value: float
    duals: FloatArray
    weights: FloatArray
    covered: bool


def solve_relaxed(columns: Columns, count: int, groups: int, *, exactly: bool) -> Relaxed:
    """Cover every element once by at most (or exactly) `groups` columns, fractions allowed.

    Args:
        columns: the pool.
        count: number of elements, M.
        groups: budget of networks.
        exactly: the budget has to be used up.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csc_array, eye_array, hstack, vstack

    # Stand-ins for what the pool cannot serve yet make the program feasible: one an element, and with an
    # exact budget one for missing networks.
    cover = hstack([csc_array(members(columns.serve, count).T), eye_array(count)])
    number = np.concatenate([np.ones(len(columns)), np.zeros(count)])[None, :]
    costs = np.concatenate([-columns.values, np.full(count, UNSERVED)])
    if exactly:
        shortage = csc_array(np.eye(count + 1)[:, count:])
        cover = hstack([vstack([cover, csc_array(number)]), shortage])
        costs = np.append(costs, UNSERVED)
    right = np.ones(count + int(exactly))
    right[count:] = groups
    answer = linprog(
        costs,
        A_ub=None if exactly else number,
        b_ub=None if exactly else [groups],
        A_eq=cover.tocsc(),
        b_eq=right,
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return Relaxed(
        value=-float(answer.fun),
        duals=-np.asarray(answer.eqlin.marginals[:count]),
        weights=answer.x[: len(columns)],
        covered=bool(answer.x[len(columns) :].max(initial=0.0) < 1e-9),
    )


def whole_columns(relaxed: Relaxed) -> AnyArray | None:
    """Rows of the chosen columns where the linear optimum happens to be integral, else None."""
    chosen = relaxed.weights > 0.5
    near = np.abs(relaxed.weights - chosen).max(initial=0.0) < 1e-7
    return np.flatnonzero(chosen) if near and relaxed.covered else None


def solve_whole(
    columns: Columns, count: int, groups: int, *, exactly: bool, seconds: float
) -> tuple[AnyArray | None, bool]:
    """The best cover by whole columns of the pool: its rows, or None, and whether that is proven.

    Args:
        columns: the pool.
        count: number of elements, M.
        groups: budget of networks.
        exactly: the budget has to be used up.
        seconds: time limit.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    rows, positions = np.nonzero(members(columns.serve, count))
    positions = np.concatenate([positions, np.full(len(columns), count)])
    rows = np.concatenate([rows, np.arange(len(columns))])
    matrix = coo_array((np.ones(len(rows)), (positions, rows)), shape=(count + 1, len(columns)))
    upper = np.ones(count + 1)
    upper[count] = groups
    lower = upper.copy()
    if not exactly:
        lower[count] = 0
    answer = milp(
        -ENLARGED * columns.values,
        integrality=np.ones(len(columns)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsc(), lower, upper),
        options={"mip_rel_gap": 0.0, "time_limit": max(0.1, min(seconds, 1e6))},
    )
    chosen = None if answer.x is None else np.flatnonzero(answer.x > 0.5)
    return chosen, answer.status in (0, 2)
