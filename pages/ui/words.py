"""How facts about a run read on the page: states, kinds, times. Plain text; escape it for markdown."""

from collections import Counter
from datetime import datetime

import streamlit as st

from affinity.runs.format import RunInfo
from affinity.runs.library import Listed
from affinity.runs.status import State, Status

STATES: dict[State, tuple[str, str, str]] = {  # words, icon, badge colour
    "queued": ("waiting", ":material/hourglass_empty:", "gray"),
    "running": ("running", ":material/autorenew:", "blue"),
    "finished": ("finished", ":material/check:", "green"),
    "failed": ("failed", ":material/error:", "red"),
    "cancelled": ("cancelled", ":material/cancel:", "orange"),
    "lost": ("lost", ":material/link_off:", "red"),
}

KINDS = {
    "training": "training",
    "rerun": "retrained grouping",
    "recorded": "recorded",
    "imported": "imported",
}


def _broken(run: Listed) -> str:
    return "broken on purpose" if run.sample else "cannot be read"


def labels(runs: tuple[Listed, ...]) -> dict[str, str]:
    """A label for each run; the id is added where two would look the same."""
    names = {run.id: run.info.label if run.info else f"{run.id} ({_broken(run)})" for run in runs}
    twice = {name for name, count in Counter(names.values()).items() if count > 1}
    return {key: f"{name} · {key[-6:]}" if name in twice else name for key, name in names.items()}


def made_of(info: RunInfo) -> str:
    """Dataset, model and method in a few words; empty where our trainer was not involved."""
    nested = info.settings.get("train")
    settings = nested if isinstance(nested, dict) else info.settings
    parts = [str(settings.get(name) or "") for name in ("dataset", "model", "method")]
    return " · ".join(part for part in parts if part)


def when(created: str) -> datetime | None:
    """The time a run was made, in UTC, or None when it is unknown."""
    try:
        return datetime.fromisoformat(created.replace("Z", "+00:00"))
    except ValueError:
        return None


def length(run: Listed) -> str:
    """How much was trained: `300 steps`, or `24 networks` of a retrained grouping."""
    if run.info is None or not run.status.step:
        return ""
    return f"{run.status.step:,} {'networks' if run.info.kind == 'rerun' else 'steps'}"


def duration(seconds: float) -> str:
    """A length of time in words: `about 12 s`, `about 3 min`, `about 2 h`."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    return f"about {round(seconds / 3600)} h"


def progress(status: Status, *, unit: str = "step") -> str:
    """How far a run is: `step 120 of 300, about 12 s left`."""
    if status.state == "queued":
        return status.note or "waiting for its turn"
    if not status.step:
        return status.note or "starting: the data is being loaded"
    text = f"{unit} {status.step:,} of {status.total:,}"
    left = status.seconds_left
    return f"{text}, {duration(left)} left" if left is not None else text


def state_badge(state: State) -> None:
    """The state as a word with a colour and a symbol."""
    word, icon, colour = STATES[state]
    st.badge(word, icon=icon, color=colour)  # type: ignore[arg-type]
