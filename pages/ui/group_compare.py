"""Up to four groupings side by side: the one shown, the suggestion, and those saved with the run."""

import pandas as pd
import streamlit as st

from affinity.analysis.grouping_compare import MOST_COMPARED, GroupingsComparison, compare_groupings
from affinity.analysis.page_groupings import kept
from affinity.analysis.page_groups import GroupsPage, Wish
from affinity.analysis.wording import interval, number
from affinity.core.types import AffinityMatrix, Grouping
from affinity.export.comparisons import compared_groupings_csv
from affinity.figures.groups import compared_bars, compared_bars_alt
from affinity.runs.reader import Run
from pages.ui import data, glossary, messages, show, state


def side_by_side(run: Run, wanted: Wish, matrix: AffinityMatrix, page: GroupsPage) -> None:
    """Choose two to four, and see what each promises every task."""
    named: dict[str, tuple[str, Grouping]] = {"suggested": ("the suggestion", page.suggested)}
    if page.edited:
        named["shown"] = ("the one shown", page.view.grouping)
    for item in kept(data.library(), run):
        named[item.id] = (item.grouping.label or "unnamed grouping", item.grouping)
    state.keep_all_valid("compared", list(named))
    chosen = st.multiselect(
        "Groupings to compare",
        list(named),
        format_func=lambda key: named[key][0],
        max_selections=MOST_COMPARED,
        placeholder="Choose two to four; save some above to have more",
        width=520,
        **state.bound("compared"),
    )
    if len(chosen) < 2:
        st.caption("Choose at least two groupings.")
        return
    answer = data.ask(
        compare_groupings,
        run,
        matrix,
        _distinct([named[key] for key in chosen]),
        signal=wanted.signal,
        split=wanted.split,
        reduce=wanted.reduce,
    )
    messages.answer(answer.sentence)
    _totals(answer)
    _tasks(answer)


def _distinct(chosen: list[tuple[str, Grouping]]) -> tuple[tuple[str, Grouping], ...]:
    """Two groupings may have one name; a number tells them apart."""
    names: list[str] = []
    for name, _ in chosen:
        same = sum(1 for earlier in names if earlier == name or earlier.startswith(f"{name} ("))
        names.append(f"{name} ({same + 1})" if same else name)
    return tuple((name, grouping) for name, (_, grouping) in zip(names, chosen, strict=True))


def _totals(answer: GroupingsComparison) -> None:
    with st.container(horizontal=True):
        for item in answer.compared:
            bounds = interval(item.low, item.high)
            st.metric(
                messages.md(item.name),
                number(item.score),
                delta=f"95 %: {bounds}" if bounds else None,
                delta_color="off",
                delta_arrow="off",
                border=True,
                width=250,
            )
    rows = [
        (
            item.name,
            len(item.grouping.groups),
            " | ".join(", ".join(group.train) for group in item.grouping.groups),
        )
        for item in answer.compared
    ]
    show.table(
        pd.DataFrame(rows, columns=["Grouping", "Networks", "Who trains together"]),
        alt="Table: the networks of each grouping",
        key="compared_groups",
    )
    if len(answer.agreements) > 1:
        told = "; ".join(f"{one} and {other}: {value:.2f}" for one, other, value in answer.agreements)
        st.caption(messages.md(f"Agreement (adjusted Rand index, 1 is the same): {told}."))
    else:
        one, other, value = answer.agreements[0]
        st.caption(
            messages.md(f"Agreement of {one} and {other}: {value:.2f} (adjusted Rand index, 1 is the same).")
        )


def _tasks(answer: GroupingsComparison) -> None:
    frame = pd.DataFrame({"Task ": [gain.task for gain in answer.compared[0].gains]})
    for item in answer.compared:
        frame[item.name] = [gain.value for gain in item.gains]
    plain = st.column_config.NumberColumn(format="%+.3g", help=glossary.plain("gain"))
    show.panel(
        compared_bars(answer),
        frame,
        alt=compared_bars_alt(answer),
        key="compared_gains",
        columns={item.name: plain for item in answer.compared},
        csv=lambda: compared_groupings_csv(answer),
    )
