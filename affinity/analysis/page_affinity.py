"""Small questions of the Affinity page."""

from affinity.analysis.views import AffinityView, PairRow


def threshold_of(view: AffinityView, arrows: int, *, certain: bool) -> float:
    """The size that only the `arrows` strongest affinities reach.

    Args:
        view: the affinities.
        arrows: how many shall be left.
        certain: count only those that can be told from zero.
    """
    sizes = sorted((abs(row.value) for row in drawable(view, certain=certain)), reverse=True)
    return sizes[min(arrows, len(sizes)) - 1] if sizes and arrows > 0 else 0.0


def drawable(view: AffinityView, *, certain: bool) -> tuple[PairRow, ...]:
    """Pairs that a graph can show: with a value, and told from zero where that is asked."""
    verdicts = {"helps", "hurts"} if certain else {"helps", "hurts", "not distinguishable from zero"}
    return tuple(row for row in view.rows if row.verdict in verdicts and row.value)


def default_pair(view: AffinityView) -> tuple[str, str]:
    """The pair worth looking at first: the surest help, else the strongest; a lone task with itself."""
    rows = view.rows
    if not rows:
        return view.matrix.tasks[0], view.matrix.tasks[0]
    known = drawable(view, certain=False) or rows
    best = rows[0] if rows[0].verdict == "helps" else max(known, key=lambda row: abs(row.value))
    return best.source, best.affected
