"""Methods: how is it computed?"""

from pages.ui import frame, glossary, reference

with frame.start("methods"):
    reference.draw(reference.pick_shelf())
    glossary.words_here("affinity", "source", "affected", "cosine", "Gram matrix", "bound")
