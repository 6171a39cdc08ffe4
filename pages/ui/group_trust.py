"""Can the suggestion be trusted? Budget, redrawn steps, the next best, and other measures."""

from collections.abc import Callable
from itertools import pairwise
from typing import Concatenate, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from affinity.analysis.page_groups import (
    Wish,
    budget_page,
    measures_page,
    next_best_page,
    stability_page,
)
from affinity.core.types import AffinityMatrix, Grouping
from affinity.figures.groups import budget_line, budget_line_alt
from affinity.figures.shares import share_heatmap, share_heatmap_alt
from affinity.runs.reader import Run
from pages.ui import data, glossary, messages, show

P = ParamSpec("P")
T = TypeVar("T")


def _opened(label: str, icon: str, key: str) -> st.delta_generator.DeltaGenerator | None:
    """A closed box whose content is asked for only when somebody wants to know."""
    box = st.expander(label, icon=icon, key=f"{key}_open", on_change="rerun")
    return box if box.open else None


def _asked(service: Callable[Concatenate[Run, P], T], run: Run, /, *choices: P.args, **named: P.kwargs) -> T:
    """The cached answer, with the seconds it takes where it is new."""
    with st.spinner("Searching …", show_time=True):
        return data.ask(service, run, *choices, **named)


def budget(run: Run, wanted: Wish, matrix: AffinityMatrix, suggested: Grouping) -> None:
    """What another network buys."""
    box = _opened("Is another network worth it?", ":material/savings:", "budget")
    if box is None:
        return
    with box:
        points = _asked(budget_page, run, wanted, matrix, suggested)
        gains = [
            float("nan"),
            *(late.score - early.score for early, late in pairwise(points)),
        ]
        names = ["Networks allowed", "Networks used", "Score", "One more brings", "At most possible", "Proof"]
        rows = [
            (
                point.groups,
                point.used,
                point.score,
                gain,
                point.bound,
                "proven best" if point.optimal else "best found",
            )
            for point, gain in zip(points, gains, strict=True)
        ]
        st.caption(
            "What one more network brings is the price at which it stops being worth having. Set that price "
            "under “Limits and prices”, and the number of networks decides itself."
        )
        plain = st.column_config.NumberColumn(format="%.4g")
        show.panel(
            budget_line(points, chosen=wanted.networks),
            pd.DataFrame(rows, columns=names),
            alt=budget_line_alt(points),
            key="budget",
            columns=dict.fromkeys(names[2:5], plain),
        )


def stable(run: Run, wanted: Wish, suggested: Grouping) -> None:
    """How often two tasks stay together when the steps are redrawn, and the gain on other steps."""
    box = _opened("How stable is the suggestion?", ":material/anchor:", "stable")
    if box is None:
        return
    with box:
        page = _asked(stability_page, run, wanted, suggested)
        st.markdown(messages.md(page.sentence))
        order = [task for group in suggested.groups for task in group.serve]
        title = "share of redrawn trainings that keep two tasks together"
        percent = st.column_config.NumberColumn(format="percent")
        table = pd.DataFrame(page.together, columns=list(run.tasks))
        # No task can have this name: names lose their blanks at both ends.
        table.insert(0, "Task ", list(run.tasks))
        show.panel(
            share_heatmap(run.tasks, page.together, title="kept together", order=order),
            table,
            alt=share_heatmap_alt(run.tasks, page.together, title=title),
            key="stability",
            columns=dict.fromkeys(run.tasks, percent),
        )


def next_best(run: Run, wanted: Wish, matrix: AffinityMatrix, suggested: Grouping) -> None:
    """How far the next grouping is, and which tasks it moves."""
    box = _opened("How close is the second best?", ":material/looks_two:", "second")
    if box is None:
        return
    with box:
        found = _asked(next_best_page, run, wanted, matrix, suggested)
        st.markdown(messages.md(found.sentence))
        if found.grouping is not None:
            rows = [
                (number, ", ".join(group.serve), ", ".join(set(group.train) - set(group.serve)) or "nobody")
                for number, group in enumerate(found.grouping.groups, start=1)
            ]
            show.table(
                pd.DataFrame(rows, columns=["Network", "Tasks", "Helpers"]),
                alt="Table: the networks of the second-best grouping",
                key="second_table",
            )


def measures(run: Run, wanted: Wish, suggested: Grouping, shown: Grouping) -> None:
    """What the other affinities of the run would choose."""
    box = _opened("Do other measures agree?", ":material/balance:", "measures")
    if box is None:
        return
    with box:
        page = _asked(measures_page, run, wanted, suggested, shown)
        st.markdown(messages.md(page.sentence))
        names = ["Measure", "Agreement", "Its own choice", "The shown one", "Regret", "Its networks"]
        rows = [
            (
                item.title,
                item.agreement,
                item.own,
                item.shown,
                item.regret,
                item.problem or " | ".join(", ".join(group.train) for group in item.grouping.groups)
                if item.grouping
                else item.problem,
            )
            for item in page.measures
        ]
        numeric = st.column_config.NumberColumn
        show.table(
            pd.DataFrame(rows, columns=names),
            alt="Table: what each measure would choose, and what the shown grouping loses under it",
            key="measures_table",
            columns={
                "Agreement": numeric(format="%.2f", help=glossary.plain("adjusted Rand index")),
                "Its own choice": numeric(format="%+.3g"),
                "The shown one": numeric(format="%+.3g"),
                "Regret": numeric(format="%.3g", help=glossary.plain("regret")),
            },
        )
        st.caption(
            "Gains of different measures have different units; compare within a row, not down a column."
        )
