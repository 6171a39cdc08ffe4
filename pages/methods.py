"""Methods: how is it computed?"""

from pages.ui import frame

with frame.start("methods"):
    from pages.ui import glossary, reference

    reference.draw(reference.pick_shelf())
    glossary.words_here("affinity", "source", "affected", "cosine", "Gram matrix", "bound")
