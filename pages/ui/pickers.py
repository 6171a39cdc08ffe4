"""Pickers: draw a widget, return a plain value. What is picked lives in the URL."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, cast

import streamlit as st

from affinity.analysis.affinity import recorded_steps, signal_choices
from affinity.analysis.views import SignalChoice
from affinity.core.errors import AffinityError, NotRecorded
from affinity.runs.library import Listed
from affinity.runs.reader import Run
from pages.ui import data, glossary, messages, state, words

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


def run() -> Run:
    """The run the page is about, picked at its top; stops the page with advice where there is none."""
    runs = data.listed()
    if not runs:
        messages.empty(
            "There is no run yet.",
            "Train a few tasks together; it takes a minute and everything here fills itself.",
            page="train",
            link="Train my first run",
        )
        st.stop()
    listed = listed_run(runs)
    if listed.info is None:
        _explain_broken(listed)
        st.stop()
    opened = data.open_run(listed.id)
    _banner(opened, listed)
    return opened


def listed_run(runs: tuple[Listed, ...]) -> Listed:
    """One line of the library, also one that cannot be read."""
    chosen = _pick_run(runs)
    return next(item for item in runs if item.id == chosen)


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


def _pick_run(runs: tuple[Listed, ...]) -> str:
    ids = [item.id for item in runs]
    names = words.labels(runs)
    wanted = state.chosen_run()
    if wanted and wanted not in ids:
        st.warning(
            f"The run **{messages.md(wanted)}** of this link is not in your library; showing another one.",
            icon=":material/link_off:",
        )
    if wanted not in ids:
        wanted = default_run(runs)
    # Always, because after a change of page the old value can still be read but is not used any more.
    st.session_state["pick_run"] = wanted
    picked = st.selectbox(
        "Run",
        ids,
        format_func=lambda key: names[key],
        key="pick_run",
        on_change=lambda: state.choose_run(st.session_state["pick_run"]),
        help="Every page shows this run. The samples come with the program.",
        width=420,
    )
    state.choose_run(picked)
    return picked


def default_run(runs: tuple[Listed, ...]) -> str:
    """The newest run of the user that can be read, else the first sample, else whatever there is."""
    readable = [item for item in runs if item.info is not None]
    ready = [item for item in readable if not item.status.live and item.info and item.info.kind != "rerun"]
    return (ready or readable or list(runs))[0].id


def _banner(opened: Run, listed: Listed) -> None:
    info, status = opened.info, opened.status
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if listed.sample:
            st.badge("sample", icon=":material/school:", color="violet")
        words.state_badge(status.state)
        facts = f"{words.made_of(info) or words.KINDS[info.kind]} · {len(info.tasks)} tasks"
        length = words.progress(status) if status.live else words.length(listed)
        seed = f"seed {info.seed}" if info.seed is not None else ""
        st.caption(" · ".join(messages.md(part) for part in (facts, length, seed) if part), width="content")
    if status.error:
        st.warning(messages.md(status.error), icon=":material/warning:")


def _explain_broken(listed: Listed) -> None:
    messages.show_error(
        AffinityError(
            f"This run cannot be read: {listed.problem}",
            hint="Pick another run above. Your other runs are not affected.",
        )
    )
    st.page_link("pages/runs.py", label="See all runs", icon=":material/folder_open:")


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
