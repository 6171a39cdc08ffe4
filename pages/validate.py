"""Validate: does pairwise affinity pick the right groups?"""

from pages.ui import frame

with frame.start("validate"):
    from pages.ui import glossary, messages, validate_panels

    asked = validate_panels.given()
    if asked is None:
        messages.empty(
            "There is no table yet.",
            "Upload the scores of networks that were trained on several sets of the same tasks.",
        )
    else:
        validate_panels.answer(asked)
    glossary.words_here("network", "gain", "regret", "rank correlation", "interval")
