"""Published tables of how well tasks did in every network that was trained: from a file's text to arrays.

Four forms are understood, all listed in `FORMS`; everything in them is untrusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from affinity.analysis.truth_rows import Rows, read_rows
from affinity.core.errors import GroupingError, NeedsAnswer, Unreadable
from affinity.core.grouping import GroupTable
from affinity.core.types import FloatArray
from affinity.grouping import alone_in

Sense: TypeAlias = Literal["lower", "higher"]
SENSES: Final[tuple[Sense, ...]] = ("lower", "higher")

FORMS: Final = (
    "CSV with one row a network and one column a task; the cells of tasks outside the network are empty. "
    "A column `cost` is optional, and so is a column `group` that lists the tasks as in `depth|normals`.",
    "CSV with a column `mask` (`11000` = the first two tasks) and columns such as `val_t1`, `test_t1`, "
    "`gain_t1`, `hoa_t1` or `loss_task1`, as made from the releases of MTG-Net and of Standley et al. "
    "`val`, `gain` and `loss` choose, `test` judges, all others are predictions.",
    "Text of tab-separated losses without a header, as Standley et al. published it: first the networks of "
    "half size in one row, then one row a network.",
    'JSON: `{"sense": "lower", "groups": [{"scores": {"depth": 0.2, "normals": 0.1}, "cost": 1}]}`.',
)

_CHOOSING: Final = ("val", "valid", "validation", "gain", "loss", "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TruthTable:
    """Measured networks, ready to be validated against.

    Attributes:
        tasks: task names.
        truth: scores that outcomes are read from, larger is better.
        choice: scores that the best networks are chosen from; `truth` itself where nothing else was measured.
        predictions: published predictions for the same networks, by name.
        lower_is_better: the file's own numbers are losses or errors; here they are negated.
        name: which part of the file this is; empty where there is only one.
        others: names of the parts that can be chosen.
    """

    tasks: tuple[str, ...]
    truth: GroupTable
    choice: GroupTable
    predictions: Mapping[str, GroupTable]
    lower_is_better: bool
    name: str = ""
    others: tuple[str, ...] = ()

    @property
    def holds_gains(self) -> bool:
        """Every task scores 0 alone, so the numbers are gains over a network of its own."""
        return not np.any(np.nan_to_num(alone_in(self.choice), nan=1.0))


def read_truth_table(
    text: str,
    where: str,
    *,
    sense: Sense | None = None,
    part: str = "",
    test: str | None = None,
    masks: str | None = None,
) -> TruthTable:
    """The table in a file's text.

    Args:
        text: the untrusted text.
        where: the file's name, for messages.
        sense: whether lower or higher scores are better; read from the file where it says so.
        part: which part of a file that holds several; the first when empty.
        test: text of a second file with the same networks, measured on test data.
        masks: text of a second file that says which tasks each row trains, in rows of 0 and 1.

    Raises:
        Unreadable: not understood; names the line and the reason.
        NeedsAnswer: the file does not say whether lower or higher is better.
    """
    rows = read_rows(text, where, part=part, masks=masks)
    judged = None if test is None else read_rows(test, f"{where} (test)", part=part, masks=masks)
    choosing = next((name for name in _CHOOSING if name in rows.scores), None)
    judging = "test" if "test" in rows.scores else choosing
    if choosing is None or judging is None:
        raise Unreadable("no column holds measured scores.", where, f"Name them {', '.join(_CHOOSING[:-1])}.")
    lower = _lower(rows, choosing, sense, where)
    truth = rows.scores[judging] if judged is None else _same_networks(rows, judged, where)
    spare = {name: rows.scores[name] for name in rows.scores if name not in (*_CHOOSING, "test")}
    return TruthTable(
        tasks=rows.tasks,
        truth=_table(rows, truth, lower, where),
        choice=_table(rows, rows.scores[choosing], lower, where),
        # A published prediction is a gain: more is better whatever the table's own numbers mean.
        predictions={name: _table(rows, scores, False, where) for name, scores in spare.items()},
        lower_is_better=lower,
        name=rows.part,
        others=rows.parts,
    )


def _lower(rows: Rows, choosing: str, sense: Sense | None, where: str) -> bool:
    if sense is not None:
        return sense == "lower"
    if rows.sense is not None:
        return rows.sense == "lower"
    if choosing == "gain" or not np.any(
        np.nan_to_num(alone_in(_table(rows, rows.scores[choosing], False, where)), nan=1.0)
    ):
        return False
    raise NeedsAnswer("is a lower or a higher score better in this table?", SENSES, where)


def _same_networks(rows: Rows, judged: Rows, where: str) -> FloatArray:
    if rows.groups != judged.groups or rows.tasks != judged.tasks:
        raise Unreadable("the test table has other networks or tasks than the first one.", where)
    return next(iter(judged.scores.values()))


def _table(rows: Rows, scores: FloatArray, lower: bool, where: str) -> GroupTable:
    inside = np.zeros(scores.shape, dtype=bool)
    for row, group in enumerate(rows.groups):
        inside[row, list(group)] = True
    absent = inside & ~np.isfinite(scores)
    if absent.any():
        row, task = (int(index[0]) for index in np.nonzero(absent))
        raise Unreadable(
            f"'{rows.tasks[task]}' is trained but has no number.", f"{where}, line {rows.lines[row]}"
        )
    try:
        return GroupTable(
            groups=rows.groups,
            scores=np.where(inside, -scores if lower else scores, np.nan),
            costs=rows.costs,
        )
    except GroupingError as error:
        raise Unreadable(error.what, where, error.hint) from error
