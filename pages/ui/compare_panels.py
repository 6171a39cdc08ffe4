"""The Compare page: a retrained grouping against its baselines, and runs side by side."""

from typing import Any

import pandas as pd
import streamlit as st

from affinity.analysis.compare import compare_view
from affinity.analysis.compare_runs import compare_runs
from affinity.analysis.views import CompareView, RunsComparison
from affinity.core.errors import NotEnoughData
from affinity.export.comparisons import gains_csv, runs_csv
from affinity.figures.compare import real_gain_bars, real_gain_bars_alt, run_bars, run_bars_alt
from affinity.runs.library import Listed
from affinity.runs.reader import Run
from pages.ui import data, glossary, messages, show, state, words

MOST_RUNS = 8
AGAINST = {"joint": "all tasks together", "single": "every task alone"}
OUTCOMES = {"win": "better", "tie": "no clear difference", "loss": "worse", "missing": "missing"}

GAIN: dict[str, Any] = {
    "Gain": st.column_config.NumberColumn(format="percent", help=glossary.plain("gain")),
    "from": st.column_config.NumberColumn(format="percent", help=glossary.plain("interval")),
    "to": st.column_config.NumberColumn(format="percent", help=glossary.plain("interval")),
    "Metric": st.column_config.NumberColumn(
        format="%.4f", help="On validation data: accuracy for classes, R² for numbers; larger is better."
    ),
    "Metric of the reference": st.column_config.NumberColumn(format="%.4f"),
}
COST: dict[str, Any] = {
    "Parameters": st.column_config.NumberColumn(format="localized"),
    "Passes": st.column_config.NumberColumn(
        format="localized", help="Forward and backward passes through a network."
    ),
    "Seconds": st.column_config.NumberColumn(format="%.1f", help="One network after the other."),
}


def pick_rerun(run: Run) -> Listed | None:
    """The rerun to look at; those of the page's run come first."""
    found = [item for item in data.listed() if item.info is not None and item.info.kind == "rerun"]
    if not found:
        return None
    own = [
        item
        for item in found
        if (item.info and item.info.origin.get("rerun_of") == run.id) or item.id == run.id
    ]
    ordered = own + [item for item in found if item not in own]
    ids = [item.id for item in ordered]
    names = words.labels(tuple(ordered))
    wanted = run.id if run.info.kind == "rerun" else state.own(state.RERUN)
    st.session_state["pick_rerun"] = wanted if wanted in ids else ids[0]
    picked = st.selectbox(
        "Retrained grouping",
        ids,
        format_func=lambda key: (
            f"{names[key]}{'' if key in [item.id for item in own] else ' (of another run)'}"
        ),
        key="pick_rerun",
        on_change=lambda: state.set_own(state.RERUN, st.session_state["pick_rerun"]),
        width=420,
    )
    state.set_own(state.RERUN, picked)
    return next(item for item in ordered if item.id == picked)


def real_gain(rerun: Listed) -> None:
    """Did the grouping help: sentence, picture, tables, fine print."""
    opened = data.open_run(rerun.id)
    if opened.status.error:
        st.warning(messages.md(opened.status.error), icon=":material/warning:")
    try:
        view = data.ask(compare_view, opened)
    except NotEnoughData:
        if not opened.status.live:
            raise
        st.caption("The first numbers come when the first network of the grouping is trained.")
        return
    messages.answer(view.sentence)
    _networks(view)
    _gain_picture(view)
    st.markdown("**What each way of training costs**")
    show.table(
        _costs(view), alt="Networks, parameters, passes and seconds of each way.", key="costs", columns=COST
    )
    messages.caveats(view.caveats)


def side_by_side(run: Run) -> None:
    """Several runs next to each other, and what differs in their settings."""
    runs = [item for item in data.listed() if item.info is not None and item.info.kind != "rerun"]
    names = words.labels(tuple(runs))
    ids = [item.id for item in runs if item.id != run.id]
    kept = [key for key in state.get("others", []) if key in ids]
    if kept != state.get("others", []):
        state.put("others", kept)
    chosen = st.multiselect(
        "Compare with",
        ids,
        format_func=lambda key: names[key],
        max_selections=MOST_RUNS - 1,
        placeholder="choose runs",
        **state.bound("others"),
    )
    if not chosen:
        st.caption("Choose one or more runs to see their results and settings beside this one.")
        return
    view = data.ask_together(compare_runs, [run, *(data.open_run(key) for key in chosen)])
    messages.answer(view.sentence)
    show.panel(
        run_bars(view), _results(view), alt=run_bars_alt(view), key="results", csv=lambda: runs_csv(view)
    )
    if view.differences:
        st.markdown("**Settings that differ**")
        show.table(_differences(view), alt="Settings that are not the same in all runs.", key="differences")
    messages.caveats(view.caveats)


def _gain_picture(view: CompareView) -> None:
    references = [total.against for total in view.totals]
    if not references:
        return
    state.keep_valid("against", references)
    against = st.segmented_control(
        "Against",
        references,
        default=references[0],
        required=True,
        format_func=lambda key: AGAINST[key],
        help=glossary.explain("joint", "single-task"),
        **state.bound("against"),
    )
    picture, alt = real_gain_bars(view, against=against), real_gain_bars_alt(view, against=against)
    show.panel(
        picture,
        _gains(view, against),
        alt=alt,
        key="gains",
        columns=GAIN,
        csv=lambda: gains_csv(view),
        open_table=True,
    )


def _networks(view: CompareView) -> None:
    if view.grouping is not None:
        parts = (", ".join(group.train) for group in view.grouping.groups)
        st.markdown(
            "  \n".join(f"**Network {number}:** {messages.md(part)}" for number, part in enumerate(parts, 1))
        )


def _gains(view: CompareView, against: str) -> pd.DataFrame:
    names = ["Task", "Outcome", "Gain", "from", "to", "Metric", "Metric of the reference", "Seeds"]
    rows = [
        (
            gain.task,
            OUTCOMES[gain.outcome],
            gain.value,
            gain.low,
            gain.high,
            gain.metric,
            gain.reference_metric,
            gain.n,
        )
        for gain in view.gains
        if gain.against == against
    ]
    return pd.DataFrame(rows, columns=names)


def _costs(view: CompareView) -> pd.DataFrame:
    rows = [(cost.title, cost.networks, cost.parameters, cost.passes, cost.seconds) for cost in view.costs]
    return pd.DataFrame(rows, columns=["Way of training", "Networks", "Parameters", "Passes", "Seconds"])


def _results(view: RunsComparison) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {"Task": list(view.tasks)}
    for row, label in enumerate(view.labels):
        columns[label] = [
            f"{value:.4f}" if here else "not in this run"
            for value, here in zip(view.metrics[row], view.present[row], strict=True)
        ]
    return pd.DataFrame(columns)


def _differences(view: RunsComparison) -> pd.DataFrame:
    columns = ["Setting", *view.labels]
    return pd.DataFrame([(row.name, *row.values) for row in view.differences], columns=columns)
