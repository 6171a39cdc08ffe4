"""Groups: which tasks should train together?"""

from pages.ui import frame

with frame.start("groups"):
    from dataclasses import replace

    import streamlit as st

    from affinity.analysis.page_groups import groups_page
    from pages.ui import (
        choices,
        data,
        glossary,
        group_panels,
        group_tools,
        grouping_cards,
        messages,
        pickers,
        state,
    )

    run = pickers.run()
    choice = choices.choice(run, steps=False)
    wish = replace(group_panels.wish(run, choice), text=state.own(state.GROUPING))
    page = data.ask(groups_page, run, wish)
    messages.answer(page.view.sentence)
    group_panels.standing(page)
    grouping_cards.draw(page.view)
    messages.caveats(page.view.caveats)
    st.subheader("Change it by hand", anchor=False)
    group_tools.edit(page.view.grouping, edited=page.edited)
    st.subheader("Try it for real", anchor=False)
    group_tools.retrain(run, page.view.grouping)
    st.subheader("Keep it and take it away", anchor=False)
    group_tools.take_away(run, page.view.grouping)
    group_panels.budget(run, wish)
    group_panels.stable(run, wish)
    glossary.words_here("group", "network", "gain", "interval", "bound", "stability", "joint", "single-task")
