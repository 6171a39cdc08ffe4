"""The Conflicts page's pictures: over time, by pair, by task, by layer."""

import streamlit as st

from affinity.analysis.views import ConflictsView, MethodsHurt
from affinity.export.statistics import conflict_pairs_csv, conflict_steps_csv
from affinity.figures.conflict_bars import hurt_bars, hurt_bars_alt, layer_bars, layer_bars_alt
from affinity.figures.conflicts import (
    conflict_heatmap,
    conflict_heatmap_alt,
    conflict_timeline,
    conflict_timeline_alt,
    cosine_distribution,
    cosine_distribution_alt,
    magnitude_timeline,
    magnitude_timeline_alt,
)
from pages.ui import conflict_tables, messages, show, state

MANY_TASKS = 40


def pairs(view: ConflictsView) -> None:
    """Which two tasks fight."""
    st.subheader("Which tasks fight?", anchor=False)
    show.panel(
        conflict_heatmap(view),
        conflict_tables.pairs(view),
        alt=conflict_heatmap_alt(view),
        key="conflict_pairs",
        columns=conflict_tables.PAIR_COLUMNS,
        csv=lambda: conflict_pairs_csv(view),
        notes=[
            "Both directions are equal: a cosine cannot say who hurts whom, only that two tasks disagree."
        ],
    )
    if len(view.tasks) > MANY_TASKS:
        show.figure(cosine_distribution(view), alt=cosine_distribution_alt(view), key="cosine_distribution")


def over_time(view: ConflictsView) -> None:
    """When tasks fight, and how unequal their gradients are."""
    st.subheader("When do they fight?", anchor=False)
    show.panel(
        conflict_timeline(view),
        conflict_tables.steps(view),
        alt=conflict_timeline_alt(view),
        key="conflict_steps",
        csv=lambda: conflict_steps_csv(view),
    )
    with st.expander("Does one task drown the others?", icon=":material/height:"):
        show.figure(magnitude_timeline(view), alt=magnitude_timeline_alt(view), key="magnitudes")


def victims(view: ConflictsView) -> None:
    """Whom the joint step hurts, and in which layers."""
    left, right = st.columns(2)
    with left:
        st.subheader("Whom does the joint step hurt?", anchor=False)
        show.panel(
            hurt_bars(view.hurt),
            conflict_tables.tasks(view),
            alt=hurt_bars_alt(view.hurt),
            key="conflict_tasks",
            columns=conflict_tables.TASK_COLUMNS,
        )
    with right:
        st.subheader("In which layers?", anchor=False)
        if not view.layers:
            st.caption("This run did not record gradients layer by layer.")
            return
        show.panel(
            layer_bars(view),
            conflict_tables.layers(view),
            alt=layer_bars_alt(view),
            key="conflict_layers",
            columns=conflict_tables.LAYER_COLUMNS,
        )


def under_methods(view: MethodsHurt) -> None:
    """Who would still be hurt if another method combined these gradients."""
    st.subheader("Who would still be hurt under another method?", anchor=False)
    st.markdown(messages.md(view.sentence))
    show.table(
        conflict_tables.methods(view),
        alt=f"Table: every method and whom it would hurt. {view.sentence}",
        key="methods_hurt",
        columns=conflict_tables.METHOD_COLUMNS,
    )
    titles = {row.key: row.title for row in view.methods}
    state.keep_valid("method", list(titles))
    key = st.selectbox(
        "Task by task under",
        list(titles),
        index=min(1, len(titles) - 1),
        format_func=lambda one: titles[one],
        width=300,
        **state.bound("method"),
    )
    chosen = next(row for row in view.methods if row.key == key)
    show.panel(
        hurt_bars(chosen.tasks),
        conflict_tables.hurt(chosen.tasks),
        alt=hurt_bars_alt(chosen.tasks),
        key="method_tasks",
        columns=conflict_tables.TASK_COLUMNS,
        notes=view.caveats,
    )
