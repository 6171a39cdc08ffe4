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
        group_compare,
        group_panels,
        group_search,
        group_tools,
        group_trust,
        grouping_cards,
        messages,
        pickers,
        state,
    )

    run = pickers.run()
    choice = choices.choice(run, steps=False)
    wish = group_panels.wish(run, choice)
    matrix = data.affinity(run, choice.signal, split=choice.split, reduce=choice.reduce).matrix
    suggested = group_search.found(run, wish, matrix)
    page = data.ask(groups_page, run, replace(wish, text=state.own(state.GROUPING)), matrix, suggested)
    messages.answer(page.view.sentence)
    group_panels.standing(page, wish)
    grouping_cards.draw(page.view)
    messages.caveats(page.view.caveats)
    st.subheader("Change it by hand", anchor=False)
    group_tools.edit(page.view.grouping, edited=page.edited)
    st.subheader("Try it for real", anchor=False)
    group_tools.retrain(run, page.view.grouping)
    st.subheader("Keep it and take it away", anchor=False)
    group_tools.take_away(run, page.view.grouping)
    st.subheader("Can it be trusted?", anchor=False)
    group_trust.budget(run, wish, matrix, suggested)
    group_trust.stable(run, wish, suggested)
    group_trust.next_best(run, wish, matrix, suggested)
    group_trust.measures(run, wish, suggested, page.view.grouping)
    st.subheader("Compare groupings", anchor=False)
    group_compare.side_by_side(run, wish, matrix, page)
    glossary.words_here(
        *("group", "network", "gain", "interval", "bound", "stability", "price", "helper"),
        *("adjusted Rand index", "regret", "joint", "single-task"),
    )
