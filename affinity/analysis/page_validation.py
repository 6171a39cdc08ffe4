"""What the Validate page shows, from plain choices: so that one cached question answers the whole page."""

from dataclasses import dataclass
from pathlib import Path

from affinity.analysis.truth_table import Sense, read_truth_table
from affinity.analysis.validation import PAIRS, validation_view
from affinity.analysis.views.validation import ValidationView
from affinity.core.errors import Unreadable
from affinity.core.names import clean_name
from affinity.runs.library import Library

EXAMPLE = "networks.csv"
# A page should answer while somebody is looking at it.
SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the user asked for; hashable, so that it can key a cache.

    Attributes:
        content: the untrusted bytes of the table.
        name: its untrusted file name.
        sense: which score is better; None = as the table says.
        part: which part of the table; empty = the first.
        prediction: which prediction is judged.
    """

    content: bytes
    name: str
    sense: Sense | None = None
    part: str = ""
    prediction: str = PAIRS


def validation_page(asked: Asked) -> ValidationView:
    """The answer for a table.

    Raises:
        Unreadable: the file is not understood.
        NeedsAnswer: it does not say whether lower or higher is better.
        NotEnoughData: a pair was not measured.
        GroupingError: no budget can be met.
        SettingsError: no such prediction.
    """
    name = clean_name(asked.name)
    try:
        text = asked.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("the file is not UTF-8 text.", name, "Save it as CSV or JSON in UTF-8.") from error
    table = read_truth_table(text, name, sense=asked.sense, part=asked.part)
    known = asked.prediction in table.predictions
    return validation_view(table, prediction=asked.prediction if known else PAIRS, seconds=SECONDS)


def example_table(library: Library) -> Asked | None:
    """The example that comes with the sample runs; None where they are absent."""
    path = Path(library.samples) / EXAMPLE
    if not path.is_file():
        return None
    return Asked(content=path.read_bytes(), name=EXAMPLE, sense="lower")
