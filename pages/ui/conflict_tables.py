"""Gradient conflicts as tables: pairs, layers and tasks."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from affinity.analysis.views import ConflictsView, HurtTask, MethodsHurt
from pages.ui import glossary

SHARE: Any = {"format": "percent", "min_value": 0.0, "max_value": 1.0}

PAIR_COLUMNS: dict[str, Any] = {
    "In conflict": st.column_config.ProgressColumn(**SHARE, help=glossary.plain("gradient conflict")),
    "Mean cosine": st.column_config.NumberColumn(format="%+.3f", help=glossary.plain("cosine")),
    "Equal length": st.column_config.NumberColumn(format="%.2f", help=glossary.plain("magnitude similarity")),
    "Steps": st.column_config.NumberColumn(help="Recorded steps in which both tasks had a gradient."),
}
LAYER_COLUMNS: dict[str, Any] = {
    "In conflict": PAIR_COLUMNS["In conflict"],
    "Mean cosine": PAIR_COLUMNS["Mean cosine"],
    "Comparisons": st.column_config.NumberColumn(format="localized"),
}
TASK_COLUMNS: dict[str, Any] = {
    "Hurt by the step": st.column_config.ProgressColumn(
        **SHARE, help="Share of steps in which the update raises this task's loss, to first order."
    ),
    "Agreement with it": st.column_config.NumberColumn(format="%+.3f", help=glossary.plain("cosine")),
    "Steps": PAIR_COLUMNS["Steps"],
}
METHOD_COLUMNS: dict[str, Any] = {
    "Somebody is hurt": st.column_config.ProgressColumn(
        **SHARE, help="Share of steps in which the method's update raises at least one task's loss."
    ),
    "Tasks hurt a step": st.column_config.NumberColumn(format="%.2f"),
    "Promises not to": st.column_config.NumberColumn(
        format="percent",
        help="Share of steps at which the method's own theorem applies; empty = it promises nothing.",
    ),
    "Most often": st.column_config.TextColumn(help="The task that is hurt most often."),
}


def pairs(view: ConflictsView) -> pd.DataFrame:
    """Every pair, the most conflicting first."""
    names = ["Task", "and task", "In conflict", "Mean cosine", "Equal length", "Steps"]
    rows = [
        (row.first, row.second, row.rate, row.mean_cosine, row.magnitude_similarity, row.n)
        for row in view.pairs
    ]
    return pd.DataFrame(rows, columns=names)


def layers(view: ConflictsView) -> pd.DataFrame:
    """Layers, the most conflicting first."""
    names = ["Layer", "In conflict", "Mean cosine", "Comparisons"]
    return pd.DataFrame([(row.layer, row.rate, row.mean_cosine, row.n) for row in view.layers], columns=names)


def tasks(view: ConflictsView) -> pd.DataFrame:
    """Tasks, the one the joint step hurts most often first."""
    return hurt(view.hurt)


def hurt(rows: Sequence[HurtTask]) -> pd.DataFrame:
    """Tasks, the one that an update hurts most often first."""
    names = ["Task", "Hurt by the step", "Agreement with it", "Steps"]
    return pd.DataFrame([(row.task, row.rate, row.mean_alignment, row.n) for row in rows], columns=names)


def methods(view: MethodsHurt) -> pd.DataFrame:
    """Methods, the joint sum first, then those that hurt least."""
    names = ["Method", "Somebody is hurt", "Tasks hurt a step", "Promises not to", "Most often"]
    rows = [
        (
            row.title,
            row.rate,
            row.mean_hurt,
            row.promised,
            row.tasks[0].task if row.tasks and row.tasks[0].hurt else "nobody",
        )
        for row in view.methods
    ]
    return pd.DataFrame(rows, columns=names)


def steps(view: ConflictsView) -> pd.DataFrame:
    """Recorded steps with the statistics of all pairs."""
    return pd.DataFrame(
        {
            "Step": view.steps,
            "Pairs in conflict": view.conflict_fraction,
            "Mean cosine": view.mean_cosine,
            "Lowest cosine": view.min_cosine,
            "Equal length": view.magnitude_similarity,
        }
    )
