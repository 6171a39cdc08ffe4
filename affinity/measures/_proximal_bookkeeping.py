"""How sequential group updates keep their proximal affinity map, from the losses they compute anyway.

A batch updates one group of tasks after another and computes every task's loss before each update. The
difference between two neighbouring rows of losses is credited to a group and averaged exponentially.
Reference: Jeong & Yoon, 2025, Selective Task Group Updates, https://arxiv.org/abs/2502.11986.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from affinity.core.types import FloatArray

Attribution: TypeAlias = Literal["post_noextra", "post", "lagged"]
Groups: TypeAlias = Sequence[Sequence[int]]


def track(
    affinity: FloatArray, group: Sequence[int], *, before: FloatArray, after: FloatArray, decay: float
) -> FloatArray:
    """The map after one group's update has been credited.

    With m tasks in the group and a_t = (1 - after_t / before_t) / m, every row s of the group moves towards
    v[s, t] by v <- (1 - decay) old + decay v, where v is a_t, except inside the group: there the diagonal
    does not move when a_t < 0, and two tasks of opposite signs both get -max(a_s, a_t). Entries whose loss
    before was missing or not positive, inside the group the source's too, do not move.

    Args:
        affinity: (N, N) map so far, `[source, affected]`.
        group: positions of the tasks that were updated together.
        before: (N,) losses before the update; NaN = missing.
        after: (N,) losses after it; NaN = missing.
        decay: weight of the new value, in (0, 1].

    Returns:
        (N, N) the new map; the given one is left alone.
    """
    members = np.asarray(group, dtype=np.int64)
    known = np.isfinite(before) & np.isfinite(after) & (before > 0)
    change = np.full(len(affinity), np.nan)
    change[known] = (1 - after[known] / before[known]) / len(members)
    values = np.broadcast_to(change, (len(members), len(affinity))).copy()
    values[:, members] = _inside(change[members])
    moved = affinity.copy()
    old = affinity[members]
    moved[members] = np.where(np.isnan(values), old, (1 - decay) * old + decay * values)
    return moved


def _inside(change: FloatArray) -> FloatArray:
    """(m, m) values between the members of one group; NaN = does not move."""
    source, affected = change[:, None], change[None, :]
    values = np.where(source * affected < 0, -np.maximum(source, affected), affected)
    values = np.where(np.isnan(source), np.nan, values)
    own = np.diagonal(values)
    np.fill_diagonal(values, np.where(own < 0, np.nan, own))
    return np.asarray(values)


def track_batch(
    affinity: FloatArray,
    order: Groups,
    *,
    losses: FloatArray,
    decay: float,
    attribution: Attribution = "post_noextra",
) -> FloatArray:
    """The map after one batch of sequential group updates.

    A single group is expected to have been updated twice on the batch, as the method prescribes, so that
    one difference can be seen; `order` may name it once or twice.

    Args:
        affinity: (N, N) map so far.
        order: the groups in the order of their updates.
        losses: (M, N) losses before each of the M updates, or (M + 1, N) with those after the last.
        decay: weight of a new value.
        attribution: which group a difference between two rows is credited to. `post_noextra`: the group
            whose update lies between them; the last group stays unseen. `post`: the same, the row after
            the last update included. `lagged`: the group that is updated next, as the authors' released
            code does; the first group's rows never move.

    Raises:
        ValueError: fewer rows of losses than the attribution needs.
    """
    groups = [order[0], order[0]] if len(order) == 1 else list(order)
    needed = len(groups) + (attribution == "post")
    if len(losses) < needed:
        raise ValueError(f"{len(groups)} updates need {needed} rows of losses, found {len(losses)}")
    credited = groups[1:] if attribution == "lagged" else groups[: needed - 1]
    for row, group in enumerate(credited):
        affinity = track(affinity, group, before=losses[row], after=losses[row + 1], decay=decay)
    return affinity


def track_run(
    tasks: int,
    batches: Iterable[tuple[Groups, FloatArray]],
    *,
    decay: float,
    attribution: Attribution = "post_noextra",
) -> FloatArray:
    """(N, N) the map after a whole run that starts at 0; see `track_batch`.

    Args:
        tasks: number of tasks.
        batches: per batch the order of its groups and the rows of its losses.
        decay: weight of a new value; the paper uses 0.001 and 0.0001.
        attribution: which group a difference is credited to.
    """
    affinity = np.zeros((tasks, tasks))
    for order, losses in batches:
        affinity = track_batch(affinity, order, losses=losses, decay=decay, attribution=attribution)
    return affinity
