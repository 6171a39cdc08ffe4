"""The search behind the Groups page: what it may take, a quick answer, and a longer one when asked for."""

from dataclasses import replace
from functools import partial

import streamlit as st

from affinity.analysis.background_search import BackgroundSearches, Progress
from affinity.analysis.grouping_cost import budget_hint, longer_result, search_cost
from affinity.analysis.page_groups import LONGER, SECONDS, Wish, suggestion
from affinity.core.types import AffinityMatrix, Grouping
from affinity.runs.reader import Run
from pages.ui import data, messages, state

_NAMES = {"4": "4 seconds", "30": "30 seconds", "120": "2 minutes"}
_POLL_SECONDS = 1.0


def found(run: Run, wish: Wish, matrix: AffinityMatrix) -> Grouping:
    """The suggestion: of the quick search, or of a longer one once that has ended."""
    wanted = replace(wish, text="", seconds=SECONDS)
    cost = search_cost(len(run.tasks), wish.networks, overlap=wish.overlap, seconds=SECONDS)
    if cost and wish.algorithm == "exact":
        st.caption(messages.md(cost))
    with st.spinner("Searching for the best grouping …", show_time=True):
        quick = data.ask(suggestion, run, wanted, matrix)
    hint = budget_hint(quick, wish.networks, wish.limits)
    if hint:
        st.caption(messages.md(hint))
    if quick.optimal or wish.algorithm != "exact":
        return quick
    seconds = _longer(run, wish)
    if seconds <= SECONDS:
        return quick
    longer = _long(run, replace(wanted, seconds=seconds), matrix)
    if longer is None:
        return quick
    st.caption(messages.md(longer_result(quick, longer)))
    # Both start from the same place, but a search may be stopped before it is as far as the quick one.
    return longer if (longer.score or 0.0) >= (quick.score or 0.0) else quick


def _longer(run: Run, wish: Wish) -> float:
    """How long may be searched, asked only where the quick search proved nothing."""
    keys = [f"{seconds:g}" for seconds in LONGER]
    state.keep_valid("seconds", keys)
    seconds = float(
        st.segmented_control(
            "Not proven yet: search longer?",
            keys,
            default=keys[0],
            required=True,
            format_func=lambda key: _NAMES[key],
            help="A longer search may find a better grouping, and comes closer to the proof. It runs beside "
            "the page, and you can stop it at any time with the best so far.",
            **state.bound("seconds"),
        )
    )
    if seconds > SECONDS:
        st.caption(
            messages.md(search_cost(len(run.tasks), wish.networks, overlap=wish.overlap, seconds=seconds))
        )
    return seconds


def _long(run: Run, wish: Wish, matrix: AffinityMatrix) -> Grouping | None:
    progress = _ask(run, wish, matrix)
    if progress.found is None:
        _watch(run, wish, matrix)
    return progress.found


def _ask(run: Run, wish: Wish, matrix: AffinityMatrix) -> Progress:
    return _searches().ask(_key(run, wish), partial(suggestion, run, wish, matrix))


def _key(run: Run, wish: Wish) -> tuple[str, str, Wish]:
    return str(run.folder), str(run.revision), wish


@st.fragment(run_every=_POLL_SECONDS)
def _watch(run: Run, wish: Wish, matrix: AffinityMatrix) -> None:
    """The running search, until it has ended."""
    with messages.boundary():
        progress = _ask(run, wish, matrix)
        if progress.found is not None:
            st.rerun()
        if progress.seconds is None:
            st.progress(0.0, "Waiting for another search to end; meanwhile the quick answer is shown.")
        else:
            told = min(progress.seconds, wish.seconds)
            far = f"{told:.0f} of at most {wish.seconds:g} seconds"
            st.progress(told / wish.seconds, f"Searching: {far}. Meanwhile the quick answer is shown.")
        st.button(
            "Stop and use the best so far",
            icon=":material/stop_circle:",
            key="stop_search",
            on_click=_searches().stop,
            args=(_key(run, wish),),
        )


@st.cache_resource(show_spinner=False)
def _searches() -> BackgroundSearches:
    return BackgroundSearches()
