"""Runs: what do I have?"""

from pages.ui import frame

with frame.start("runs"):
    import streamlit as st

    from affinity.analysis.wording import plural
    from pages.ui import data, messages, pickers, run_list

    runs = data.listed()
    own = [item for item in runs if not item.sample]
    samples = len(runs) - len(own)
    if not own:
        messages.empty(
            "Start here: there is no run of your own yet.",
            f"Look around in the {samples} samples below, or train a few tasks together; it takes a minute."
            if samples
            else "Train a few tasks together; it takes a minute and fills every page.",
            page="train",
            link="Train my first run",
        )
    else:
        live = sum(item.status.live for item in own)
        running = f", {live} of them still training" if live else ""
        messages.answer(f"You have {plural(len(own), 'run')}{running}, and {plural(samples, 'sample')}.")
    if runs:
        st.caption("Click the box at the start of a row to select its run.")
        run_list.draw(runs)
        run_list.actions(pickers.listed_run(runs))
    with st.expander("Add a run that somebody sent me", icon=":material/upload:", expanded=not runs):
        run_list.upload()
