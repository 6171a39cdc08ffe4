"""The page that tries methods: the problem and the methods, the pictures, and where every start ended."""

from typing import Any

import pandas as pd
import streamlit as st

from affinity.analysis.try_method import (
    MOST_METHODS,
    MOST_STARTS,
    MOST_STEPS,
    method_choices,
    problem_choices,
    try_methods,
)
from affinity.analysis.try_method_view import TryView
from affinity.figures.landscape import landscape, landscape_alt, loss_space, loss_space_alt
from affinity.problems import PROBLEMS
from pages.ui import messages, show, state

FIRST_PROBLEM = "chain"
FIRST_METHODS = ["joint", "mgda", "rp_mgda"]
OPTIMIZERS = {"": "As the source does", "sgd": "Plain steps", "adam": "Adam"}

COLUMNS: dict[str, Any] = {
    "Distance": st.column_config.NumberColumn(
        format="%.3g", help="From the nearest best compromise, in parameters."
    ),
    "Sum of losses": st.column_config.NumberColumn(format="%.4g"),
    "Still hurt": st.column_config.TextColumn(help="Losses that the method's next step would raise."),
}


def chosen() -> TryView:
    """Ask what is tried on what, and try it.

    Raises:
        SettingsError: the link asks for something that cannot be tried.
    """
    titles, methods = problem_choices(), method_choices()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.keep_valid("toy", list(titles))
        problem = st.selectbox(
            "Problem",
            list(titles),
            index=list(titles).index(FIRST_PROBLEM),
            format_func=lambda key: titles[key],
            width=300,
            **state.bound("toy"),
        )
        state.keep_all_valid("tried", list(methods))
        picked = st.multiselect(
            f"Methods, up to {MOST_METHODS}",
            list(methods),
            default=FIRST_METHODS,
            max_selections=MOST_METHODS,
            format_func=lambda key: methods[key],
            width=460,
            **state.bound("tried"),
        )
    entry = PROBLEMS[problem]
    st.caption(f"{messages.md(entry.summary)} {messages.md(entry.watch)}")
    if entry.reference:
        st.caption(f"Source: {messages.md(entry.reference)}")
    if not picked:
        messages.empty("No method is chosen.", "Choose at least one above.")
        st.stop()
    return _tried(problem, tuple(picked), **_settings())


def _settings() -> dict[str, Any]:
    """What may be changed about the walks; nothing means as the problem's source has it."""
    with st.expander("Steps, learning rate and starts", icon=":material/tune:"):
        columns = st.columns(4)
        for key, high in (("toy_steps", MOST_STEPS), ("toy_starts", MOST_STARTS), ("toy_lr", 100.0)):
            state.keep_within(key, 0, high)
        state.keep_valid("toy_optimizer", list(OPTIMIZERS))
        steps = columns[0].number_input(
            "Steps", 0, MOST_STEPS, value=0, help="0: as the source.", **state.bound("toy_steps")
        )
        rate = columns[1].number_input(
            "Learning rate",
            0.0,
            100.0,
            value=0.0,
            format="%.4g",
            step=0.01,
            help="0: as the source.",
            **state.bound("toy_lr"),
        )
        optimizer = columns[2].selectbox(
            "Optimiser", list(OPTIMIZERS), format_func=lambda k: OPTIMIZERS[k], **state.bound("toy_optimizer")
        )
        starts = columns[3].number_input(
            "Random starts",
            0,
            MOST_STARTS,
            value=0,
            help="0: the starts of the source. Random ones are the same each time.",
            **state.bound("toy_starts"),
        )
    return {
        "steps": int(steps) or None,
        "lr": float(rate) or None,
        "optimizer": optimizer or None,
        "random_starts": int(starts),
    }


@st.cache_resource(max_entries=64, show_spinner="The methods are walking …")
def _tried(problem: str, methods: tuple[str, ...], **settings: Any) -> TryView:  # noqa: ANN401 - see _settings
    return try_methods(problem, methods, **settings)


def pictures(view: TryView) -> None:
    """The landscape with the ways, the losses along them, and the ends as a table."""
    last = len(view.steps)
    state.keep_within("toy_shown", 1, last)
    shown = st.select_slider(
        "Up to step",
        list(range(1, last + 1)),
        value=last,
        format_func=lambda place: f"{view.steps[place - 1]:,}",
        key="toy_shown",
    )
    st.subheader("Where do they go?", anchor=False)
    ground = view.landscape
    show.figure(landscape(view, shown=shown), alt=landscape_alt(view), key="landscape")
    held = f" Not drawn: {messages.md(ground.held)}." if ground.held else ""
    st.caption(
        "Darker ground = a larger sum of the losses, on a logarithmic scale. Thick line = the best "
        "compromises. Ring with a number = start; at "
        f"the last step star = on the front, triangle = under way, cross = stuck.{held}"
    )
    st.subheader("What becomes of each loss?", anchor=False)
    show.panel(
        loss_space(view, shown=shown),
        _ends(view),
        alt=loss_space_alt(view),
        key="ends",
        columns=COLUMNS,
        csv=lambda: _ends(view).to_csv(index=False),
        open_table=True,
    )


def _ends(view: TryView) -> pd.DataFrame:
    """One row a method and start."""
    rows = [
        (
            end.method,
            end.start,
            {"front": "on the front", "diverged": "lost"}.get(end.outcome, end.outcome),
            end.distance,
            sum(end.losses),
            ", ".join(end.hurt) or "nobody",
        )
        for end in view.ends
    ]
    names = ["Method", "Start", "Outcome", "Distance", "Sum of losses", "Still hurt"]
    return pd.DataFrame(rows, columns=names)
