"""Start page: the short answer for one run, and what to do next."""

from pages.ui import frame

with frame.start("home"):
    from affinity.analysis.overview import overview
    from pages.ui import data, glossary, home, messages, pickers

    home.first_visit()
    run = pickers.run()
    view = data.ask(overview, run)
    home.short_answer(view)
    home.picture(view)
    home.ways_on(run.id)
    messages.caveats(view.caveats)
    glossary.words_here("affinity", "source", "affected", "step", "interval", "confidence")
