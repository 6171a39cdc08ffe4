"""The Affinity page's pictures: heatmap, pair over time, graph; each with its direction in words."""

from typing import Any

import streamlit as st

from affinity.analysis.curves import pair_curve
from affinity.analysis.page_affinity import default_pair, drawable, threshold_of
from affinity.analysis.views import AffinityView
from affinity.figures.heatmap import affinity_heatmap, affinity_heatmap_alt
from affinity.figures.network import MOST_ARROWS, task_graph, task_graph_alt
from affinity.figures.timeline import pair_curves, pair_curves_alt
from affinity.runs.reader import Run
from pages.ui import choices, data, glossary, messages, pair_table, show, state

DIRECTION = (
    "Read a row from left to right: what a training step on the row's task does to the task of each column. "
    "Blue helps, orange hurts."
)


def filters(*, one_step: bool) -> tuple[str, bool]:
    """Words that task names must contain, and whether open signs are hidden; one step has no intervals."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Find tasks", "", 200, placeholder="part of a name", width=240, **state.bound("search")
        )
        certain = st.toggle(
            "Hide what cannot be told from zero",
            disabled=one_step,
            help=glossary.explain("interval"),
            **state.bound("certain"),
        )
    return (words or "").strip(), certain and not one_step


def matching(view: AffinityView, words: str) -> tuple[str, ...]:
    """Tasks whose names contain the words, similar ones side by side; all when fewer than two match."""
    found = tuple(task for task in view.order if words.lower() in task.lower())
    if len(found) < 2:
        if words:
            st.caption(f"Fewer than two tasks match “{messages.md(words)}”; showing all.")
        return view.order
    return found


def heatmap(view: AffinityView, *, words: str, certain: bool) -> None:
    """The heatmap; a click on a cell opens its pair below."""
    picture = affinity_heatmap(view, order=matching(view, words), hide_uncertain=certain)
    show.clickable(picture, alt=affinity_heatmap_alt(view), key="heatmap", on_click=_open_pair)
    st.caption(f"{DIRECTION} Click a cell to see the pair over time.")


def heatmap_only(view: AffinityView, *, key: str) -> None:
    """The heatmap without anything to click."""
    show.figure(affinity_heatmap(view), alt=affinity_heatmap_alt(view), key=key)
    st.caption(DIRECTION)


@st.fragment
@messages.boundary()
def pair(run: Run, view: AffinityView, choice: choices.Choice) -> None:
    """One pair over the whole training, and the way back."""
    st.subheader("One pair over time", anchor=False)
    first = default_pair(view)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = choices.task("A step on", view.matrix.tasks, "source", default=first[0])
        others = tuple(task for task in view.matrix.tasks if task != source) or (source,)
        affected = choices.task("and what it does to", others, "affected", default=first[1])
    ways = [(source, affected)] if choice.signal.symmetric else [(source, affected), (affected, source)]
    curves = [
        data.ask(pair_curve, run, choice.signal.key, source=one, affected=other, split=choice.split)
        for one, other in dict.fromkeys(ways)
    ]
    rows = [row for row in view.rows if (row.source, row.affected) in ways]
    show.panel(
        pair_curves(curves, step=choice.first if choice.one_step else None),
        pair_table.frame(rows),
        alt=pair_curves_alt(curves),
        key="pair",
        columns=pair_table.COLUMNS,
        notes=[curve.sentence for curve in curves],
    )


@st.fragment
@messages.boundary()
def graph(view: AffinityView, *, certain: bool) -> None:
    """Tasks as points, the strongest affinities as arrows."""
    st.subheader("Who helps whom as a graph", anchor=False)
    arrows = drawable(view, certain=certain)
    if not arrows:
        st.caption("No affinity between two tasks can be told from zero, so there is nothing to draw.")
        return
    most = min(MOST_ARROWS, len(arrows))
    state.keep_within("threshold", 1, most)
    count = most
    if most > 1:
        count = st.slider("Strongest arrows", 1, most, min(20, most), width=400, **state.bound("threshold"))
    least = threshold_of(view, count, certain=certain)
    picture = task_graph(view, threshold=least, hide_uncertain=certain)
    alt = task_graph_alt(view, threshold=least, hide_uncertain=certain)
    show.clickable(picture, alt=alt, key="graph", on_click=_open_pair_from_graph)
    if state.take("opened"):
        st.rerun()  # the pair is drawn by another part of the page
    st.caption(
        "An arrow points from the task a step was taken on to the task it helps (solid, blue) or hurts "
        "(dashed, orange); thicker is stronger. Click the middle of an arrow to see its pair over time."
    )


def _open_pair_from_graph(clicked: list[Any]) -> None:
    _open_pair(clicked)
    state.put("opened", True)


def _open_pair(clicked: list[Any]) -> None:
    source, affected = clicked[:2]
    state.put("source", str(source))
    state.put("affected", str(affected))
