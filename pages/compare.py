"""Compare: did the grouping help?"""

from pages.ui import frame

with frame.start("compare"):
    import streamlit as st

    from pages.ui import compare_panels, glossary, messages, pickers, progress

    run = pickers.run()
    progress.watch("rerun")
    rerun = compare_panels.pick_rerun(run)
    if rerun is None:
        messages.empty(
            "No grouping has been retrained yet.",
            "Find a grouping for this run and press “Retrain these groups”; the real gains appear here.",
            page="groups",
            link="Find a grouping",
        )
    else:
        compare_panels.real_gain(rerun)
    st.subheader("Runs side by side", anchor=False)
    compare_panels.side_by_side(run)
    glossary.words_here("gain", "joint", "single-task", "interval", "seed", "validation", "network")
