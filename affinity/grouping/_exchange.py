"""The grouping file `affinity.grouping/1`: what a grouping looks like outside the program.

Everything read here is untrusted: sizes are limited before anything is parsed, every value is checked, and
no text is evaluated.
"""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from affinity.core.errors import AffinityError, GroupingError, RunTooNew, Unreadable
from affinity.core.grouping import GroupingProblem, GroupingSolution
from affinity.core.names import MAX_NAME_LENGTH, MAX_TASKS, clean_name, unique_names
from affinity.core.strict_json import Json, dumps, loads
from affinity.core.types import DIRECTION, FloatArray, Group, Grouping
from affinity.grouping._fields import Fields
from affinity.grouping._text_lists import read_text_groups

SCHEMA = "affinity.grouping/1"
MAX_CHARACTERS = 16_000_000

_RUN_ID = re.compile(r"[a-z0-9-]{8,40}")
_HASH = re.compile(r"[0-9a-f]{6,64}")
_CREATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
_WORD = re.compile(r"[\w.+ -]{1,64}")
_VERSION = "version "
MAX_NOTES = 20


def to_grouping(
    solution: GroupingSolution,
    tasks: Sequence[str],
    *,
    problem: GroupingProblem,
    algorithm: str,
    signal: str | None = None,
    reduce: str | None = None,
    seconds: float | None = None,
    stability: FloatArray | None = None,
    label: str = "",
    provenance: Mapping[str, str] | None = None,
) -> Grouping:
    """A solver's answer with names instead of positions.

    Args:
        solution: the answer.
        tasks: task names in the order of the problem's axes.
        problem: the question, for its objective.
        algorithm: key of the algorithm.
        signal: the measure or recorded signal the affinity came from.
        reduce: how its steps were reduced.
        seconds: search time.
        stability: (N, N) share of bootstrap samples in which two tasks were grouped together.
        label: the user's name for the grouping.
        provenance: `run`, `config_hash`, `created` and `version <package>`; see `write_grouping`.
    """
    groups = tuple(
        Group(train=tuple(tasks[task] for task in train), serve=tuple(tasks[task] for task in serve))
        for train, serve in solution.groups
    )
    return Grouping(
        tasks=tuple(tasks),
        groups=groups,
        score=solution.score,
        bound=solution.bound if math.isfinite(solution.bound) else None,
        optimal=solution.optimal,
        objective=problem.objective,
        algorithm=algorithm,
        signal=signal,
        reduce=reduce,
        seconds=seconds,
        stability=stability,
        label=label,
        provenance=dict(provenance or {}),
        notes=solution.notes,
    )


def write_grouping(grouping: Grouping) -> str:
    """The grouping as strict JSON text; `read_grouping` gives the same grouping back.

    Of the provenance only a run id, a config hash, a UTC time and `version <package>` entries are written,
    and only where they look like one: a path or a host name never leaves the machine.
    """
    ids = {name: f"t{number}" for number, name in enumerate(grouping.tasks)}
    groups = [
        {"train": [ids[task] for task in group.train], "serve": [ids[task] for task in group.serve]}
        for group in grouping.groups
    ]
    known = grouping.provenance
    return dumps(
        {
            "schema": SCHEMA,
            "label": grouping.label,
            "tasks": [{"id": identity, "name": name} for name, identity in ids.items()],
            "groups": groups,
            "direction": DIRECTION,
            "signal": grouping.signal,
            "reduce": grouping.reduce,
            "algorithm": grouping.algorithm,
            "objective": grouping.objective,
            "score": grouping.score,
            "bound": grouping.bound,
            "optimal": grouping.optimal,
            "seconds": grouping.seconds,
            "notes": list(grouping.notes),
            "stability": grouping.stability,
            "run": _matching(known.get("run"), _RUN_ID),
            "config_hash": _matching(known.get("config_hash"), _HASH),
            "versions": _versions(known),
            "created": _matching(known.get("created"), _CREATED),
        },
        indent=1,
    )


def now() -> str:
    """The present time as the file's `created` wants it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_grouping(text: str, where: str, *, tasks: Sequence[str] | None = None) -> Grouping:
    """A grouping from the file's text, or from one of the lists that papers and tables use.

    Besides `affinity.grouping/1` these are understood: the command line's own answer
    (`{"groups": [["a", "b"], ["c"]]}`, with `serve` where groups overlap), `a,b|c` (groups divided by bars,
    tasks by commas), the text of a Python dict or list (`{'a': 0, 'b': 1}`, `{'g1': ['a', 'b']}`,
    `[['a', 'b'], ['c']]`), also quoted as in a CSV cell, and letters: `AAB` (one letter a task, equal letters
    share a network) or `sd|n` (tasks by their first letter). Letters need `tasks`.

    Args:
        text: the untrusted text.
        where: file or field it came from, for messages.
        tasks: the run's task names; the answer then has exactly these, in this order.

    Raises:
        Unreadable: not understood, too long, or a value of the wrong type; names the place.
        RunTooNew: a later version of the format.
        GroupingError: a task is missing, unknown or served twice.
    """
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"{len(text)} characters are more than the limit of {MAX_CHARACTERS}.", where)
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped.startswith("{") and '"schema"' in stripped:
        return _from_json(stripped, where, tasks)
    if stripped.startswith("{") and '"groups"' in stripped:
        return _from_answer(stripped, where, tasks)
    names, groups = read_text_groups(stripped, where, tasks)
    return _grouping(where, names, groups, {"algorithm": "by hand"})


def _from_answer(text: str, where: str, tasks: Sequence[str] | None) -> Grouping:
    """What `group --json` prints: lists of task names, and where groups overlap the tasks each serves."""
    content = loads(text, where)
    train = _name_lists(content.get("groups") if isinstance(content, dict) else None, f"{where}, groups")
    given = content.get("serve") if isinstance(content, dict) else None
    serve = train if given is None else _name_lists(given, f"{where}, serve")
    if len(serve) != len(train):
        raise Unreadable(f"{len(serve)} lists of served tasks for {len(train)} groups.", f"{where}, serve")
    groups = [Group(train=members, serve=part) for members, part in zip(train, serve, strict=True)]
    named = tuple(dict.fromkeys(name for group in groups for name in group.train))
    return _grouping(where, named if tasks is None else tuple(tasks), groups, {"algorithm": "by hand"})


def _name_lists(value: Json, where: str) -> list[tuple[str, ...]]:
    rows = value if isinstance(value, list) else []
    if not rows or len(rows) > MAX_TASKS or not all(isinstance(row, list) for row in rows):
        raise Unreadable("expected a list of lists of task names.", where)
    names = [
        [clean_name(name) for name in row if isinstance(name, str)] for row in rows if isinstance(row, list)
    ]
    if any(len(row) != len(own) for row, own in zip(rows, names, strict=True) if isinstance(row, list)):
        raise Unreadable("a task name has to be text.", where)
    return [tuple(row) for row in names]


def _from_json(text: str, where: str, tasks: Sequence[str] | None) -> Grouping:
    content = Fields.of(loads(text, where), where)
    schema = content.text("schema", MAX_NAME_LENGTH)
    if schema != SCHEMA:
        later = re.fullmatch(r"affinity\.grouping/\d+", schema)
        problem: type[AffinityError] = RunTooNew if later else Unreadable
        raise problem(f"the schema is '{schema[:60]}'; this program reads '{SCHEMA}'.", where)
    if content.text("direction", MAX_NAME_LENGTH, default=DIRECTION) != DIRECTION:
        raise Unreadable(f"the direction has to be '{DIRECTION}'.", f"{where}, direction")
    identities, names = _tasks(content)
    if tasks is not None and set(tasks) != set(names):
        missing = sorted(set(tasks) ^ set(names))
        raise GroupingError(
            f"'{missing[0]}' is not in both the file and the run.",
            where,
            "The grouping may belong to another run.",
        )
    lookup = dict(zip(identities, names, strict=True))
    groups = [_group(item, lookup) for item in content.objects("groups", MAX_TASKS)]
    details = {
        "label": content.text("label", MAX_NAME_LENGTH, default=""),
        "signal": content.optional_text("signal", MAX_NAME_LENGTH),
        "reduce": content.optional_text("reduce", MAX_NAME_LENGTH),
        "algorithm": content.text("algorithm", MAX_NAME_LENGTH, default="by hand"),
        "objective": content.text("objective", MAX_NAME_LENGTH, default=""),
        "score": content.number("score"),
        "bound": content.number("bound"),
        "optimal": content.flag("optimal"),
        "seconds": content.number("seconds"),
        "stability": _stability(content, len(names)),
        "provenance": _provenance(content),
        "notes": _notes(content),
    }
    return _grouping(where, names if tasks is None else tuple(tasks), groups, details)


def _tasks(content: Fields) -> tuple[list[str], tuple[str, ...]]:
    listed = content.objects("tasks", MAX_TASKS)
    identities = [item.text("id", MAX_NAME_LENGTH) for item in listed]
    if not identities or len(set(identities)) != len(identities):
        raise Unreadable("expected at least one task, each with an id of its own.", f"{content.where}, tasks")
    return identities, unique_names(item.text("name", 10 * MAX_NAME_LENGTH) for item in listed)


def _group(item: Fields, names: Mapping[str, str]) -> Group:
    found: dict[str, tuple[str, ...]] = {}
    for role in ("train", "serve"):
        identities = item.texts(role, MAX_TASKS, MAX_NAME_LENGTH)
        strangers = [identity for identity in identities if identity not in names]
        if strangers:
            raise GroupingError(f"'{strangers[0][:60]}' is not the id of a task.", f"{item.where}, {role}")
        found[role] = tuple(names[identity] for identity in identities)
    try:
        return Group(train=found["train"], serve=found["serve"])
    except GroupingError as error:
        raise GroupingError(error.what, item.where, error.hint) from error


def _grouping(
    where: str, tasks: Sequence[str], groups: Sequence[Group], details: Mapping[str, object]
) -> Grouping:
    try:
        return Grouping(tasks=tuple(tasks), groups=tuple(groups), **details)  # type: ignore[arg-type]
    except GroupingError as error:
        raise GroupingError(error.what, where, error.hint) from error


def _stability(content: Fields, size: int) -> FloatArray | None:
    rows = content.value("stability")
    if rows is None:
        return None
    place = f"{content.where}, stability"
    square = isinstance(rows, list) and len(rows) == size
    if not square or not all(isinstance(row, list) and len(row) == size for row in rows):  # type: ignore[union-attr]
        raise Unreadable(f"expected {size} rows of {size} shares.", place)
    flat = [item for row in rows for item in row]  # type: ignore[union-attr]
    if any(isinstance(item, bool) or not isinstance(item, int | float | None) for item in flat):
        raise Unreadable("a share has to be a number or null.", place)
    shares = np.array([math.nan if item is None else item for item in flat], dtype=np.float64)
    if ((shares < 0) | (shares > 1)).any():
        raise Unreadable("a share has to lie between 0 and 1.", place)
    shares = shares.reshape(size, size)
    shares.setflags(write=False)
    return shares


def _notes(content: Fields) -> tuple[str, ...]:
    if content.value("notes") is None:
        return ()
    return content.texts("notes", MAX_NOTES, 10 * MAX_NAME_LENGTH)


def _provenance(content: Fields) -> dict[str, str]:
    found = {}
    for key, pattern in (("run", _RUN_ID), ("config_hash", _HASH), ("created", _CREATED)):
        value = _matching(content.optional_text(key, MAX_NAME_LENGTH), pattern)
        if value is not None:
            found[key] = value
    versions = content.value("versions")
    for name, version in versions.items() if isinstance(versions, dict) else ():
        if isinstance(version, str) and _WORD.fullmatch(name) and _WORD.fullmatch(version):
            found[_VERSION + name] = version
    return found


def _versions(provenance: Mapping[str, str]) -> dict[str, Json]:
    return {
        key.removeprefix(_VERSION): value
        for key, value in provenance.items()
        if key.startswith(_VERSION) and _WORD.fullmatch(key) and _WORD.fullmatch(value)
    }


def _matching(value: str | None, pattern: re.Pattern[str]) -> str | None:
    return value if value is not None and pattern.fullmatch(value) else None
