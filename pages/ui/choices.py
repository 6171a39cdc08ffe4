"""Pickers of what is looked at in a run: which affinity, on which data, over which steps, which task."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, cast

import streamlit as st

from affinity.analysis.affinity import recorded_steps, signal_choices
from affinity.analysis.views import SignalChoice
from affinity.core.errors import NotRecorded
from affinity.runs.reader import Run
from pages.ui import data, glossary, messages, state

Reduce = Literal["mean", "last", "ema"]

_REDUCTIONS = {"mean": "Mean over steps", "ema": "Recent steps", "last": "Last step", "step": "One step"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the user wants to see of an affinity.

    Attributes:
        signal: what the affinity is.
        split: part of the data.
        reduce: how the steps are reduced.
        first, last: the steps that enter; None = from the start, to the end.
    """

    signal: SignalChoice
    split: str
    reduce: Reduce
    first: int | None = None
    last: int | None = None

    @property
    def one_step(self) -> bool:
        """Only one step is looked at, so nothing can be told from chance."""
        return self.first is not None and self.first == self.last


def choice(opened: Run, *, steps: bool = True) -> Choice:
    """Signal, split and steps; stops the page with advice where the run has no affinity.

    Args:
        opened: the run.
        steps: offer one step too, not only reductions.
    """
    choices = data.ask(_signals, opened)
    if not choices:
        _no_affinity(opened)
        st.stop()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picked = _pick_signal(choices)
        split = _pick_split(picked)
        reduce = _pick_reduce(picked, steps=steps)
    if reduce == "step":
        step = _pick_step(opened, picked, split=split)
        return Choice(signal=picked, split=split, reduce="mean", first=step, last=step)
    return Choice(signal=picked, split=split, reduce=cast(Reduce, reduce))


def task(label: str, tasks: tuple[str, ...], key: str, *, default: str = "") -> str:
    """One of the tasks."""
    state.keep_valid(key, tasks)
    position = tasks.index(default) if default in tasks else 0
    return st.selectbox(label, tasks, position, width=300, **state.bound(key))


def _signals(opened: Run) -> tuple[SignalChoice, ...]:
    return tuple(signal_choices(opened))


def _steps(opened: Run, signal: str, split: str) -> tuple[int, ...]:
    return tuple(int(step) for step in recorded_steps(opened, signal, split=split))


def _no_affinity(opened: Run) -> None:
    if opened.status.live:
        messages.empty(
            "Nothing has been measured yet.",
            "The run has just started. The first picture comes with the first recorded step.",
            page="train",
            link="Watch the training",
        )
    elif opened.status.state in ("cancelled", "failed", "lost") and not opened.signals:
        messages.empty(
            "This training ended before anything was measured.",
            "Start it again, or pick another run above.",
            page="train",
        )
    elif opened.info.kind == "rerun":
        messages.empty(
            "This run retrained a grouping; it measured gains, not affinities.",
            "Its answer is on the Compare page.",
            page="compare",
        )
    else:
        messages.show_error(
            NotRecorded(
                "this run holds no affinity between tasks.",
                hint="Train again with the lookahead or the gradient probe switched on.",
            )
        )


def _pick_signal(choices: tuple[SignalChoice, ...]) -> SignalChoice:
    by_key = {item.key: item for item in choices}
    state.keep_valid("signal", list(by_key))
    meanings = "\n".join(f"- **{messages.md(item.title)}**: {messages.md(item.meaning)}" for item in choices)
    key = st.selectbox(
        "Affinity",
        list(by_key),
        format_func=lambda item: by_key[item].title,
        help=f"{glossary.explain('affinity')}\n\n{meanings}",
        width=300,
        **state.bound("signal"),
    )
    return by_key[key]


def _pick_split(picked: SignalChoice) -> str:
    if len(picked.splits) < 2:
        return picked.splits[0] if picked.splits else "train"
    state.keep_valid("split", picked.splits)
    return st.segmented_control(
        "Measured on",
        picked.splits,
        default=picked.splits[0],
        required=True,
        format_func=lambda name: {"train": "Training data", "validation": "Held-out data"}.get(name, name),
        help=glossary.explain("validation"),
        **state.bound("split"),
    )


def _pick_reduce(picked: SignalChoice, *, steps: bool) -> str:
    options = [key for key in _REDUCTIONS if steps or key != "step"]
    state.keep_valid("reduce", options)
    return st.segmented_control(
        "Steps",
        options,
        default=picked.default_reduce,
        required=True,
        wrap=True,
        format_func=lambda key: _REDUCTIONS[key],
        help="The mean uses every recorded step and says how sure it is. Recent steps weighs late steps "
        "more. One step shows a moment of the training.",
        **state.bound("reduce"),
    )


def _pick_step(opened: Run, picked: SignalChoice, *, split: str) -> int:
    steps = data.ask(_steps, opened, picked.key, split)
    if len(steps) < 2:
        return steps[0] if steps else 0
    stride = min(later - earlier for earlier, later in pairwise(steps))
    state.keep_within("step", steps[0], steps[-1])
    wanted = st.slider(
        "Step",
        steps[0],
        steps[-1],
        steps[-1],
        stride,
        help=f"{glossary.explain('step')}  \nThe arrow keys move it.",
        **state.bound("step"),
    )
    return min(steps, key=lambda step: abs(step - wanted))
