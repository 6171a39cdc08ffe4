"""Editing a grouping by hand, keeping it, taking it away and retraining it."""

import time
from collections.abc import Callable

import streamlit as st

from affinity.analysis import grouping_edits
from affinity.analysis.page_groupings import forget, keep, kept, named
from affinity.analysis.page_text import to_text
from affinity.core.types import Grouping
from affinity.grouping import read_grouping, write_grouping
from affinity.jobs.launch import start_rerun
from affinity.runs.reader import Run
from pages.ui import data, glossary, messages, show, state

MAX_UNDO = 100
DOUBLE_CLICK_SECONDS = 3.0


def edit(grouping: Grouping, *, edited: bool) -> None:
    """Move, split, merge, undo; each change goes into the link of the page."""
    count = len(grouping.groups)
    with st.container(horizontal=True):
        with st.popover("Move a task", icon=":material/swap_horiz:"):
            task = st.selectbox("Task", grouping.tasks, key="move_task")
            home = grouping.groups.index(grouping.serving(task))
            places = [position for position in range(count + 1) if position != home]
            target = st.selectbox("To", places, format_func=lambda at: _name(at, count), key="move_target")
            position = None if target == count else target
            _change("Move", lambda: grouping_edits.move(grouping, task, to=position))
        with st.popover("Split a network", icon=":material/call_split:"):
            source = st.selectbox("Network", range(count), format_func=_name, key="split_group")
            inside = grouping.groups[min(source, count - 1)].train
            leaving = st.multiselect("Tasks that leave", inside, key="split_tasks")
            _change(
                "Split",
                lambda: grouping_edits.split(grouping, source, tuple(leaving)),
                disabled=not 0 < len(leaving) < len(inside),
            )
        with st.popover("Merge two networks", icon=":material/call_merge:", disabled=count < 2):
            first = st.selectbox("Network", range(count), format_func=_name, key="merge_first")
            second = st.selectbox("with", range(count), 1 % count, format_func=_name, key="merge_second")
            _change("Merge", lambda: grouping_edits.merge(grouping, first, second), disabled=first == second)
        with st.popover("Help in a second network", icon=":material/group_add:"):
            _helpers(grouping)
        st.button(
            "Undo", icon=":material/undo:", key="undo", on_click=_undo, disabled=not state.get("edits", [])
        )
        st.button(
            "Back to the suggestion",
            icon=":material/restart_alt:",
            key="reset",
            on_click=_set,
            args=("",),
            disabled=not edited,
        )


def _helpers(grouping: Grouping) -> None:
    """Train a task in another network too, and what can be done with those that are."""
    task = st.selectbox("Task", grouping.tasks, key="help_task")
    absent = [at for at, group in enumerate(grouping.groups) if task not in group.train]
    if absent:
        target = st.selectbox("also trained in", absent, format_func=_name, key="help_target")
        _change("Add", lambda: grouping_edits.add_helper(grouping, task, to=target))
    else:
        st.caption("Every network trains this task.")
    helping = [
        (name, at)
        for at, group in enumerate(grouping.groups)
        for name in group.train
        if name not in group.serve
    ]
    if not helping:
        return
    name, place = st.selectbox(
        "Helpers", helping, format_func=lambda at: f"{at[0]} in {_name(at[1])}", key="helper"
    )
    with st.container(horizontal=True):
        _change("Serve from there", lambda: grouping_edits.serve_from(grouping, name, group=place))
        _change("Remove helper", lambda: grouping_edits.remove_helper(grouping, name, group=place))


def take_away(run: Run, grouping: Grouping) -> None:
    """Name, save, export and import."""
    name = st.text_input("Name", grouping.label, 200, key="grouping_name", placeholder="my grouping") or ""
    with st.container(horizontal=True):
        if st.button("Save", icon=":material/bookmark_add:", key="keep_grouping"):
            keep(data.library(), run, grouping, label=name)
            state.notify("The grouping is saved with this run.")
            st.rerun()
        show.download(
            "Export as JSON",
            lambda: write_grouping(named(grouping, run, name)),
            file_name="grouping.json",
            mime="application/json",
            key="export_grouping",
        )
        with st.popover("Import a grouping", icon=":material/upload:"):
            _import(run)
    _saved(run)


def _import(run: Run) -> None:
    """From a file or from pasted text, in any of the forms that people write groupings in."""
    given = st.file_uploader(
        "A grouping file",
        type=["json", "txt", "csv"],
        key=f"grouping_{state.get('uploads', 0)}",
        max_upload_size=16,
    )
    if given is not None:
        _take(given.getvalue().decode("utf-8", errors="replace"), run)
    pasted = st.text_area(
        "or text",
        key=f"pasted_{state.get('uploads', 0)}",
        placeholder="a,b|c   or   {'a': 0, 'b': 0, 'c': 1}   or   [['a', 'b'], ['c']]   or   AAB",
        help="Bars divide networks and commas divide tasks; a Python dict or list is read, never run; "
        "letters give every task, in the run's order, a network.",
    )
    if st.button("Read it", key="read_pasted", disabled=not (pasted or "").strip()):
        _take(pasted or "", run)


def _take(text: str, run: Run) -> None:
    imported = read_grouping(text, "the grouping", tasks=run.tasks)
    state.put("uploads", state.get("uploads", 0) + 1)
    _set(to_text(imported))
    state.notify("The grouping was read and is shown below.")
    st.rerun()


def retrain(run: Run, grouping: Grouping) -> None:
    """Train the groups, all tasks together and every task alone, to see the real gain."""
    if run.info.config is None:
        st.caption("Only a training that was made here can be retrained; this run came from elsewhere.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seeds = st.number_input(
            "Seeds",
            1,
            20,
            3,
            key="rerun_seeds",
            help=glossary.explain("seed"),
            width=160,
            persist_state="session",
        )
        steps = st.number_input(
            "Steps",
            1,
            1_000_000,
            run.info.config.steps,
            key=f"rerun_steps_{run.id}",
            help=glossary.explain("step"),
            width=160,
            persist_state="session",
        )
        pressed = st.button(
            "Retrain these groups", type="primary", icon=":material/replay:", key="rerun_button"
        )
    if pressed:
        _start_rerun(run, grouping, seeds=int(seeds), steps=int(steps))


def _start_rerun(run: Run, grouping: Grouping, *, seeds: int, steps: int) -> None:
    signature, last = (run.id, to_text(grouping), seeds, steps), state.get("started")
    if last is None or last[0] != signature or time.monotonic() - last[1] > DOUBLE_CLICK_SECONDS:
        state.put("started", (signature, time.monotonic()))
        rerun = start_rerun(data.library(), run.id, grouping, seeds=tuple(range(seeds)), steps=steps)
        state.set_own(state.RERUN, rerun)
    st.switch_page("pages/compare.py", query_params={state.RUN: run.id, state.RERUN: state.own(state.RERUN)})


def _saved(run: Run) -> None:
    found = kept(data.library(), run)
    if not found:
        return
    names = {item.id: item.grouping.label or "unnamed grouping" for item in found}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            f"Saved groupings ({len(found)})",
            list(names),
            format_func=lambda key: names[key],
            key="saved",
            width=300,
        )
        grouping = next(item.grouping for item in found if item.id == chosen)
        st.button("Show it", key="show_saved", on_click=_set, args=(to_text(grouping),))
        if st.button("Delete it", key="forget_saved", icon=":material/delete:"):
            forget(data.library(), run, chosen)
            st.rerun()


def _change(label: str, make: Callable[[], Grouping], *, disabled: bool = False) -> None:
    @messages.safely
    def apply() -> None:
        _set(to_text(make()))

    st.button(label, type="primary", key=f"apply_{label}", on_click=apply, disabled=disabled)


def _set(text: str) -> None:
    state.put("edits", [*state.get("edits", []), state.own(state.GROUPING)][-MAX_UNDO:])
    state.set_own(state.GROUPING, text)


def _undo() -> None:
    edits = list(state.get("edits", []))
    if edits:
        state.set_own(state.GROUPING, edits.pop())
        state.put("edits", edits)


def _name(position: int, count: int | None = None) -> str:
    return "a new network" if position == count else f"Network {position + 1}"
