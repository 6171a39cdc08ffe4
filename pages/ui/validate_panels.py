"""The Validate page: the table that is judged by, and how well a prediction from pairs does."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from affinity.analysis.page_validation import Asked, example_table
from affinity.analysis.truth_table import FORMS, SENSES
from affinity.analysis.views.validation import ValidationView
from affinity.analysis.wording import interval, number
from affinity.export.validation import validation_csv
from affinity.figures.validation import gain_scatter, gain_scatter_alt, regret_lines, regret_lines_alt
from affinity.grouping import RankAgreement
from pages.ui import data, glossary, messages, show, state

_SENSES = {"": "As the table says", "lower": "Lower is better", "higher": "Higher is better"}
MEGABYTES = 16


def given() -> Asked | None:
    """The uploaded table, else the example."""
    upload = st.file_uploader(
        "A table of networks that were trained, with the score of every task",
        type=["csv", "txt", "json"],
        key="truth_table",
        max_upload_size=MEGABYTES,
    )
    forms()
    if upload is None:
        example = example_table(data.library())
        if example is not None:
            st.caption(
                "Until you upload one, this is an **example**: five planted tasks (a1 to a3 belong together, "
                "and so do b1 and b2), trained in all 31 networks that can be made of them; validation "
                "losses, lower is better."
            )
        return example
    state.keep_valid("sense", list(_SENSES))
    sense = st.segmented_control(
        "Which score is better?",
        list(_SENSES),
        default="",
        required=True,
        format_func=lambda key: _SENSES[key],
        **state.bound("sense"),
    )
    known = next((item for item in SENSES if item == sense), None)
    return Asked(content=upload.getvalue(), name=upload.name, sense=known)


def answer(asked: Asked) -> None:
    """Everything about one table."""
    first = data.validation(asked)
    view = data.validation(_chosen(asked, first))
    messages.answer(view.sentence)
    _ranks(view)
    st.subheader("What the choice costs", anchor=False)
    _budgets(view)
    st.subheader("Predicted against measured", anchor=False)
    _points(view)
    messages.caveats(view.caveats)


def forms() -> None:
    """What files may look like."""
    with st.expander("What should the table look like?", icon=":material/description:"):
        st.markdown("\n".join(f"- {form}" for form in FORMS))
        st.code(
            "depth,normals,edges\n0.40,,\n,0.21,\n,,0.10\n0.38,0.20,\n0.39,,0.11\n,0.22,0.10\n0.41,0.20,0.12"
        )


def _chosen(asked: Asked, first: ValidationView) -> Asked:
    """The part and the prediction, where there is a choice."""
    part, prediction = "", first.prediction
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if first.parts:
            state.keep_valid("part", list(first.parts))
            part = st.selectbox("Part of the table", first.parts, width=220, **state.bound("part"))
        if len(first.predictions) > 1:
            state.keep_valid("prediction", list(first.predictions))
            prediction = st.selectbox(
                "Prediction",
                first.predictions,
                format_func=lambda key: (
                    "from the measured pairs" if key == "pairs" else f"{key}, in the table"
                ),
                help="Pairs: a task in a larger network is predicted to do as well as in the pairs "
                "with its mates. Other predictions are columns of the table.",
                width=260,
                **state.bound("prediction"),
            )
    return replace(asked, part=part, prediction=prediction)


def _ranks(view: ValidationView) -> None:
    with st.container(horizontal=True):
        _metric("Rank agreement (Spearman)", view.over_tasks, "spearman")
        _metric("Pairs in order (Kendall)", view.over_tasks, "kendall")
        _metric("Spearman over networks", view.over_networks, "spearman")


def _metric(label: str, found: RankAgreement, name: str) -> None:
    low, high = getattr(found, f"{name}_low"), getattr(found, f"{name}_high")
    bounds = interval(low, high)
    st.metric(
        label,
        number(getattr(found, name), digits=2),
        delta=f"95 %: {bounds}" if bounds else "no interval",
        delta_color="off",
        delta_arrow="off",
        border=True,
        width=260,
        help=glossary.explain("rank correlation", "interval"),
    )


def _budgets(view: ValidationView) -> None:
    rows = [
        (
            row.budget,
            row.chosen,
            row.best,
            row.regret,
            row.share,
            " | ".join(", ".join(group) for group in row.chosen_groups),
            " | ".join(", ".join(group) for group in row.best_groups),
        )
        for row in view.rows
    ]
    names = [
        "Budget",
        "Chosen",
        "Best possible",
        "Regret",
        "Regret in %",
        "The prediction chooses",
        "Best choice",
    ]
    numeric = st.column_config.NumberColumn
    show.panel(
        regret_lines(view),
        pd.DataFrame(rows, columns=names),
        alt=regret_lines_alt(view),
        key="regret",
        columns={
            "Chosen": numeric(format="%.4g"),
            "Best possible": numeric(format="%.4g"),
            "Regret": numeric(format="%.3g", help=glossary.plain("regret")),
            "Regret in %": numeric(format="percent"),
        },
        csv=lambda: validation_csv(view),
        open_table=True,
    )


def _points(view: ValidationView) -> None:
    rows = [(point.task, ", ".join(point.network), point.predicted, point.measured) for point in view.points]
    show.panel(
        gain_scatter(view),
        pd.DataFrame(rows, columns=["Task", "Network", "Predicted", "Measured"]),
        alt=gain_scatter_alt(view),
        key="predicted_measured",
    )
    sizes = [(size, found.compared, found.spearman, found.kendall) for size, found in view.sizes]
    if len(sizes) > 1:
        with st.expander("By the size of the network", icon=":material/table:"):
            show.table(
                pd.DataFrame(
                    sizes, columns=["Tasks in the network", "Gains compared", "Spearman", "Kendall"]
                ),
                alt="Table: rank correlations by the size of the network",
                key="by_size",
            )
