"""Affinity: who helps whom?"""

from pages.ui import frame

with frame.start("affinity"):
    from pages.ui import affinity_panels, choices, data, glossary, messages, pair_table, pickers

    run = pickers.run()
    choice = choices.choice(run)
    view = data.affinity(
        run,
        choice.signal,
        split=choice.split,
        reduce=choice.reduce,
        first=choice.first,
        last=choice.last,
    )
    messages.answer(view.sentence)
    words, certain = affinity_panels.filters(one_step=choice.one_step)
    affinity_panels.heatmap(view, words=words, certain=certain)
    pair_table.surest(view, key="pairs")
    pair_table.every_pair(view, key="pairs")
    affinity_panels.pair(run, view, choice)
    affinity_panels.graph(view, certain=not choice.one_step)
    messages.caveats([choice.signal.meaning, *view.caveats, view.interval_method])
    glossary.words_here("affinity", "source", "affected", "lookahead", "proximal", "interval", "confidence")
