"""Groupings as papers and result tables write them: bars and commas, Python literals, letters."""

import ast
import warnings
from collections.abc import Hashable, Mapping, Sequence

from affinity.core.errors import GroupingError, Unreadable
from affinity.core.names import MAX_NAME_LENGTH, MAX_TASKS, unique_names
from affinity.core.types import Group

MAX_LITERAL = 200_000
MAX_LITERAL_DEPTH = 6

Named = tuple[tuple[str, ...], list[Group]]


def read_text_groups(text: str, where: str, tasks: Sequence[str] | None) -> Named:
    """Task names and groups from a text list; see `affinity.grouping.read_grouping` for the forms.

    A task that stands in several groups is served by the first of them.

    Raises:
        Unreadable: not understood or too large.
        GroupingError: a name is not one of `tasks`, or a group names a task twice.
    """
    if len(text) > MAX_LITERAL:
        raise Unreadable(f"{len(text)} characters are more than the limit of {MAX_LITERAL}.", where)
    text = _unquoted(text.strip())
    if not text:
        raise Unreadable("the text is empty.", where)
    lists = _literal_groups(text, where) if text[0] in "{[(" else _listed_groups(text, where, tasks)
    return _named(lists, where, tasks)


def _unquoted(text: str) -> str:
    """The text of a CSV cell without its quotes."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"').strip()
    return text


def _listed_groups(text: str, where: str, tasks: Sequence[str] | None) -> list[list[str]]:
    groups = [[name.strip() for name in part.split(",")] for part in text.split("|")]
    if not all(name for group in groups for name in group):
        raise Unreadable("a task name between the separators is empty.", where)
    words = {name for group in groups for name in group}
    if tasks is None or words <= set(tasks) or "," in text:
        return groups
    if len(groups) == 1 and len(text) == len(tasks) and text.isalpha():
        return _grouped(dict(zip(tasks, text, strict=True)))
    return _initials([group[0] for group in groups], tasks) or groups


def _initials(parts: Sequence[str], tasks: Sequence[str]) -> list[list[str]]:
    """`sd|n`: every letter is the first letter of exactly one task; nothing where one is not."""
    known: dict[str, list[str]] = {}
    for task in tasks:
        known.setdefault(task[:1].lower(), []).append(task)
    for letter in "".join(parts).lower():
        if len(known.get(letter, ())) != 1:
            return []
    return [[known[letter][0] for letter in part.lower()] for part in parts]


def _literal_groups(text: str, where: str) -> list[list[str]]:
    value = _literal(text, where)
    if isinstance(value, Mapping):
        members = [item for item in value.values() if isinstance(item, list | tuple | set | frozenset)]
        if len(members) == len(value):
            return [_names(item, where) for item in members]
        if members or not all(isinstance(item, str | int) for item in value.values()):
            raise Unreadable("expected one group label a task, or one list of tasks a group.", where)
        return _grouped({str(task): label for task, label in value.items()})
    if isinstance(value, list | tuple) and value:
        if all(isinstance(item, list | tuple | set | frozenset) for item in value):
            return [_names(item, where) for item in value]
        return [_names(value, where)]
    raise Unreadable("expected a dict or a list of groups.", where)


def _literal(text: str, where: str) -> object:
    """The literal in the text; nothing in it is executed."""
    if _depth(text) > MAX_LITERAL_DEPTH:
        raise Unreadable(f"brackets are nested deeper than {MAX_LITERAL_DEPTH} levels.", where)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape inside a name is no matter of ours
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise Unreadable("not a plain Python dict or list.", where) from error


def _depth(text: str) -> int:
    deepest = level = 0
    for character in text:
        level += (character in "([{") - (character in ")]}")
        deepest = max(deepest, level)
    return deepest


def _names(items: object, where: str) -> list[str]:
    assert isinstance(items, list | tuple | set | frozenset)
    if not all(isinstance(item, str | int) and not isinstance(item, bool) for item in items):
        raise Unreadable("a group has to be a list of task names.", where)
    ordered = items if isinstance(items, list | tuple) else sorted(items, key=str)
    return [str(item) for item in ordered]


def _grouped(label_of: Mapping[str, Hashable]) -> list[list[str]]:
    groups: dict[Hashable, list[str]] = {}
    for task, label in label_of.items():
        groups.setdefault(label, []).append(task)
    return list(groups.values())


def _named(lists: list[list[str]], where: str, tasks: Sequence[str] | None) -> Named:
    raw = list(dict.fromkeys(name for members in lists for name in members))
    if len(raw) > MAX_TASKS or len(lists) > MAX_TASKS:
        raise Unreadable(f"more than {MAX_TASKS} tasks or groups.", where)
    if any(len(name) > 10 * MAX_NAME_LENGTH for name in raw):
        raise Unreadable(f"a task name is longer than {10 * MAX_NAME_LENGTH} characters.", where)
    if tasks is None:
        clean = dict(zip(raw, unique_names(raw), strict=True))
    else:
        strangers = [name for name in raw if name not in set(tasks)]
        if strangers:
            raise GroupingError(f"'{strangers[0][:60]}' is not a task of this run.", where)
        clean = {name: name for name in raw}
    groups, served = [], set[str]()
    for members in lists:
        train = tuple(clean[name] for name in members)
        try:
            groups.append(Group(train=train, serve=tuple(name for name in train if name not in served)))
        except GroupingError as error:
            raise GroupingError(error.what, where, error.hint) from error
        served.update(train)
    return (tuple(tasks) if tasks is not None else tuple(clean.values())), groups
