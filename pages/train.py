"""Train: what happens if these tasks learn together?"""

from pages.ui import frame

with frame.start("train"):
    import streamlit as st

    from pages.ui import glossary, live, progress, train_form

    progress.watch("training", live.picture)
    live.last_result()
    st.subheader("A new training", anchor=False)
    order = train_form.draw()
    st.button(
        "Start training",
        type="primary",
        icon=":material/play_arrow:",
        key="start_training",
        disabled=not order.ready,
        on_click=train_form.start,
        args=(order,),
    )
    st.caption("It runs in the background: you can leave this page or close the browser and come back.")
    glossary.words_here("shared network", "method", "step", "seed", "probe", "lookahead", "gradient")
