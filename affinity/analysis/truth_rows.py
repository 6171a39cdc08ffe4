"""The rows of a table of measured networks, in each form such tables are published in."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from affinity.analysis import truth_cells as cells
from affinity.core.errors import Unreadable
from affinity.core.strict_json import Json, loads
from affinity.core.types import FloatArray

MAX_CHARACTERS: Final = 20_000_000
MAX_NETWORKS: Final = 10_000

_HALF_SIZE: Final = 0.5
_SCORE = re.compile(r"(?P<kind>[A-Za-z]+)_(?:t(?=\d)|task_?)(?P<task>.+)")
_NO_SCORE: Final = ("group", "cost")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """What a file says, not judged yet.

    Attributes:
        tasks: task names.
        groups: per network the positions it trains.
        scores: (networks, N) by the name of their columns, `""` where they have none; NaN = empty.
        costs: (networks,) 1 where the file says nothing.
        lines: the line of the file each network stands in.
        sense: what the file says about it.
        part: the part that was read, of a file that holds several.
        parts: all parts.
    """

    tasks: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    scores: Mapping[str, FloatArray]
    costs: FloatArray
    lines: tuple[int, ...]
    sense: Literal["lower", "higher"] | None = None
    part: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Table:
    """A CSV file: its heading and, per row, the line and the cells."""

    header: list[str]
    rows: list[tuple[int, dict[str, str]]]
    where: str

    def place(self, line: int) -> str:
        return f"{self.where}, line {line}"

    def heading(self, start: str) -> str | None:
        return next((name for name in self.header if name.lower().startswith(start)), None)

    def numbers(self, names: Sequence[str | None]) -> FloatArray:
        """(rows, names); NaN for an empty cell or a column that is not there."""
        return np.array(
            [
                [cells.number(row.get(name or ""), self.place(line)) for name in names]
                for line, row in self.rows
            ]
        )

    def costs(self) -> FloatArray:
        """(rows,) 1 where the file says nothing."""
        name = self.heading("cost")
        return np.array([cells.cost(row.get(name or ""), self.place(line)) for line, row in self.rows])


def read_rows(text: str, where: str, *, part: str = "", masks: str | None = None) -> Rows:
    """The rows of a file, whatever its form.

    Args:
        text: the untrusted text.
        where: the file's name, for messages.
        part: which part of a file that holds several; the first when empty.
        masks: a second text that says which tasks each row trains.

    Raises:
        Unreadable: not understood; names the line and the reason.
    """
    if max(len(text), len(masks or "")) > MAX_CHARACTERS:
        raise Unreadable(f"more than {MAX_CHARACTERS:,} characters.", where)
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        return _from_json(text, where)
    lines = _lines(text, where)
    if masks is not None:
        return _with_masks(lines, masks, where)
    if "\t" in lines[0][1] and not re.search(r"[A-Za-z]", lines[0][1]):
        return _without_header(lines, where)
    table = _csv(lines, where)
    return _by_mask(table, part) if "mask" in table.header else _by_task(table)


def _lines(text: str, where: str) -> list[tuple[int, str]]:
    """Numbered lines without comments and blank lines."""
    found = [(at, line) for at, line in enumerate(text.splitlines(), start=1) if line.strip()]
    found = [(at, line) for at, line in found if not line.startswith("#")]
    if not found:
        raise Unreadable("the file is empty.", where)
    if len(found) > MAX_NETWORKS + 1:
        raise Unreadable(f"more than {MAX_NETWORKS:,} networks.", where)
    return found


def _csv(lines: list[tuple[int, str]], where: str) -> _Table:
    try:
        table = list(csv.reader((line for _, line in lines), strict=True))
    except csv.Error as error:
        raise Unreadable(f"not CSV ({error}).", where) from error
    header = [cell.strip() for cell in table[0]]
    if len(table) < 2 or all(cells.is_number(cell) for cell in header):
        raise Unreadable("expected a header with the tasks' names and one row a network.", where)
    if len(table) != len(lines):
        raise Unreadable("a cell runs over several lines.", where)
    for (at, _), row in zip(lines[1:], table[1:], strict=True):
        if len(row) != len(header):
            raise Unreadable(f"{len(row)} cells under {len(header)} headings.", f"{where}, line {at}")
    cells.task_names(header, where)  # no heading may stand twice
    numbered = zip(lines[1:], table[1:], strict=True)
    return _Table(header, [(at, dict(zip(header, row, strict=True))) for (at, _), row in numbered], where)


def _by_task(table: _Table) -> Rows:
    """One column a task."""
    raw = [name for name in table.header if not name.lower().startswith(_NO_SCORE)]
    named, scores = table.heading("group"), table.numbers(raw)
    groups = tuple(
        cells.group(row[named], raw, table.place(line)) if named else _filled(values, table.place(line))
        for (line, row), values in zip(table.rows, scores, strict=True)
    )
    return Rows(
        tasks=cells.task_names(raw, table.where),
        groups=groups,
        scores={"": scores},
        costs=table.costs(),
        lines=tuple(line for line, _ in table.rows),
    )


def _by_mask(table: _Table, part: str) -> Rows:
    """A mask and several kinds of score, as published with MTG-Net and for the subsets of Standley et al."""
    found = {name: match for name in table.header if (match := _SCORE.fullmatch(name))}
    raw = list(dict.fromkeys(match["task"] for match in found.values()))
    kinds = list(dict.fromkeys(match["kind"].lower() for match in found.values()))
    if not raw:
        raise Unreadable("a mask, but no column such as gain_t1 or loss_task1.", table.where)
    parts = tuple(dict.fromkeys(row.get("setting", "").strip() for _, row in table.rows))
    if part and part not in parts:
        raise Unreadable(
            f"there is no part '{part[:60]}'.", table.where, f"Choose one of: {', '.join(parts)}."
        )
    kept = [item for item in table.rows if item[1].get("setting", "").strip() == (part or parts[0])]
    tested = [item for item in kept if _is_test(item[1])]
    judged = len(tested) < len(kept)
    first = _Table(table.header, [item for item in kept if not (judged and _is_test(item[1]))], table.where)
    names = {kind: [_column(found, kind, task) for task in raw] for kind in kinds}
    scores = {kind: first.numbers(names[kind]) for kind in kinds}
    if tested and judged:
        if [row["mask"] for _, row in tested] != [row["mask"] for _, row in first.rows]:
            raise Unreadable("the validation rows and the test rows hold other networks.", table.where)
        scores["test"] = _Table(table.header, tested, table.where).numbers(names[kinds[0]])
    return Rows(
        tasks=cells.task_names(raw, table.where),
        groups=tuple(cells.mask(row["mask"], len(raw), first.place(line)) for line, row in first.rows),
        scores=scores,
        costs=first.costs(),
        lines=tuple(line for line, _ in first.rows),
        sense="lower" if "loss" in kinds else None,
        part=part or parts[0],
        parts=parts if len(parts) > 1 else (),
    )


def _is_test(row: Mapping[str, str]) -> bool:
    return row.get("split", "").strip().lower() == "test"


def _column(found: Mapping[str, re.Match[str]], kind: str, task: str) -> str | None:
    return next(
        (name for name, match in found.items() if (match["kind"].lower(), match["task"]) == (kind, task)),
        None,
    )


def _without_header(lines: list[tuple[int, str]], where: str) -> Rows:
    """The results text of Standley et al.: tabs, empty cells, first the networks of half size in one row."""
    table = [line.split("\t") for _, line in lines]
    count = max(map(len, table))
    scores = np.full((len(table), count), np.nan)
    for row, ((at, _), values) in enumerate(zip(lines, table, strict=True)):
        scores[row, : len(values)] = [cells.number(cell, f"{where}, line {at}") for cell in values]
    if np.isnan(scores[0]).any() or len(table) < 2:
        raise Unreadable(
            "expected the losses of the half-size networks of all tasks first.", f"{where}, line 1"
        )
    half = np.where(np.eye(count, dtype=bool), scores[0], np.nan)
    numbers = [lines[0][0]] * count + [at for at, _ in lines[1:]]
    scores = np.concatenate([half, scores[1:]])
    return Rows(
        tasks=tuple(f"task {at}" for at in range(1, count + 1)),
        groups=tuple(_filled(row, f"{where}, line {at}") for row, at in zip(scores, numbers, strict=True)),
        scores={"": scores},
        costs=np.concatenate([np.full(count, _HALF_SIZE), np.ones(len(table) - 1)]),
        lines=tuple(numbers),
        sense="lower",
    )


def _with_masks(lines: list[tuple[int, str]], masks: str, where: str) -> Rows:
    """Numbers in one file and the tasks of each row in another, as in MTG-Net's release."""
    place = f"{where} (masks)"
    table = [re.split(r"[\s,;]+", line.strip()) for _, line in lines]
    given = _lines(masks, place)
    if len(given) != len(table):
        raise Unreadable(f"{len(given)} masks for {len(table)} rows of numbers.", where)
    count = len(table[0])
    for (at, _), row in zip(lines, table, strict=True):
        if len(row) != count:
            raise Unreadable(f"{len(row)} numbers, {count} before.", f"{where}, line {at}")
    return Rows(
        tasks=tuple(f"task {at}" for at in range(1, count + 1)),
        groups=tuple(cells.mask(line, count, f"{place}, line {at}") for at, line in given),
        scores={
            "": np.array(
                [
                    [cells.number(cell, f"{where}, line {at}") for cell in row]
                    for (at, _), row in zip(lines, table, strict=True)
                ]
            )
        },
        costs=np.ones(len(table)),
        lines=tuple(at for at, _ in lines),
    )


def _from_json(text: str, where: str) -> Rows:
    """`{"sense", "groups": [{"scores": {task: score}, "cost"}]}`, or the list of groups alone."""
    content = loads(text, where)
    whole: dict[str, Json] = content if isinstance(content, dict) else {"groups": content}
    listed, sense = whole.get("groups"), whole.get("sense")
    if sense not in (None, "lower", "higher"):
        raise Unreadable(f"{str(sense)[:40]!r} is no sense; expected 'lower' or 'higher'.", f"{where}, sense")
    if not isinstance(listed, list) or not listed or len(listed) > MAX_NETWORKS:
        raise Unreadable(f"expected a list of 1 to {MAX_NETWORKS:,} groups.", f"{where}, groups")
    found: list[tuple[dict[str, Json], Json]] = []
    for at, item in enumerate(listed, start=1):
        given = item.get("scores") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(given, dict) or not given:
            raise Unreadable('expected {"scores": {task: score}}.', f"{where}, group {at}")
        found.append((given, item.get("cost")))
    raw = list(dict.fromkeys(name for given, _ in found for name in given))
    tasks = cells.task_names(raw, where)
    scores = np.full((len(found), len(raw)), np.nan)
    for at, (given, _) in enumerate(found):
        for name, value in given.items():
            scores[at, raw.index(name)] = cells.number(value, f"{where}, group {at + 1}")
    return Rows(
        tasks=tasks,
        groups=tuple(_filled(row, f"{where}, group {at}") for at, row in enumerate(scores, start=1)),
        scores={"": scores},
        costs=np.array(
            [cells.cost(given, f"{where}, group {at}") for at, (_, given) in enumerate(found, start=1)]
        ),
        lines=tuple(range(1, len(found) + 1)),
        sense=sense,  # type: ignore[arg-type]  # one of the two, see above
    )


def _filled(values: FloatArray, where: str) -> tuple[int, ...]:
    """The positions that hold a number."""
    group = tuple(int(at) for at in np.flatnonzero(np.isfinite(values)))
    if not group:
        raise Unreadable("a network without any score.", where)
    return group
