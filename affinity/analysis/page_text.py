"""A grouping as a short text for a link: `0.1.h2_2.3` are two networks, `h2` helps without being served."""

import re
from collections.abc import Sequence

from affinity.core.errors import GroupingError
from affinity.core.types import Group, Grouping

_TEXT = re.compile(r"h?\d{1,3}(\.h?\d{1,3})*(_h?\d{1,3}(\.h?\d{1,3})*)*")
MAX_LENGTH = 20_000


def to_text(grouping: Grouping) -> str:
    """The grouping by positions of its tasks."""
    position = {task: number for number, task in enumerate(grouping.tasks)}
    return "_".join(
        ".".join(f"{'' if task in group.serve else 'h'}{position[task]}" for task in group.train)
        for group in grouping.groups
    )


def from_text(text: str, tasks: Sequence[str]) -> Grouping:
    """The grouping that `to_text` wrote for a run with these tasks.

    Raises:
        GroupingError: the text is not such a grouping, or does not fit the tasks.
    """
    if len(text) > MAX_LENGTH or not _TEXT.fullmatch(text):
        raise GroupingError("the link's grouping cannot be read.", hint="Start from the suggested one.")
    groups = [[_member(word) for word in words.split(".")] for words in text.split("_")]
    if any(number >= len(tasks) for group in groups for number, _ in group):
        raise GroupingError(
            "the link's grouping names tasks that this run does not have.", hint="Open it with its own run."
        )
    return Grouping(
        tasks=tuple(tasks),
        groups=tuple(
            Group(
                train=tuple(tasks[number] for number, _ in group),
                serve=tuple(tasks[number] for number, served in group if served),
            )
            for group in groups
        ),
    )


def _member(word: str) -> tuple[int, bool]:
    return int(word.removeprefix("h")), not word.startswith("h")
