"""Try a method: what would each method do where the right answer is known?"""

from pages.ui import frame

with frame.start("try_method"):
    from pages.ui import glossary, messages, try_panels

    view = try_panels.chosen()
    messages.answer(view.sentence)
    try_panels.pictures(view)
    messages.caveats(view.caveats)
    glossary.words_here("method", "gradient", "gradient conflict", "Pareto set", "front", "step")
