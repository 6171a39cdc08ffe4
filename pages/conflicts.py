"""Conflicts: where do gradients fight?"""

from pages.ui import frame

with frame.start("conflicts"):
    from affinity.analysis.conflicts import conflicts_view
    from affinity.analysis.hurt_by_method import hurt_by_method
    from pages.ui import conflict_panels, data, glossary, messages, pickers

    run = pickers.run()
    view = data.ask(conflicts_view, run)
    messages.answer(view.sentence)
    conflict_panels.pairs(view)
    conflict_panels.over_time(view)
    conflict_panels.victims(view)
    conflict_panels.under_methods(data.ask(hurt_by_method, run))
    messages.caveats(view.caveats)
    glossary.words_here("gradient", "gradient conflict", "cosine", "magnitude similarity", "noise floor")
