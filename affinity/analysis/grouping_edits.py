"""Regrouping by hand: pure functions from a grouping to the next one.

An edited grouping keeps its tasks, signal and label, but not its score, its proof or its stability: those
belonged to the grouping it was made from. A network that serves nobody is dropped.
"""

from collections.abc import Iterable
from dataclasses import replace

from affinity.core.errors import GroupingError
from affinity.core.types import Group, Grouping


def move(grouping: Grouping, task: str, *, to: int | None) -> Grouping:
    """Take a task out of the network that serves it and have it trained and served by another.

    Args:
        grouping: the grouping so far.
        task: the task to move.
        to: position of the network; None = a network of its own.

    Raises:
        GroupingError: no such task or network.
    """
    home = _home(grouping, task)
    if to is None:
        return _edited(grouping, [*_without(grouping, home, (task,)), Group(train=(task,), serve=(task,))])
    _known_group(grouping, to)
    if to == home:
        return grouping
    groups = _without(grouping, home, (task,))
    groups[to] = _joined(grouping, groups[to], (task,), serve=True)
    return _edited(grouping, groups)


def split(grouping: Grouping, group: int, tasks: Iterable[str]) -> Grouping:
    """Give some tasks of a network a new network of their own.

    Tasks that only help there help in the new network too, so at least one task has to be served.

    Raises:
        GroupingError: no such network, a task is not in it, or one of the two would serve nobody.
    """
    _known_group(grouping, group)
    leaving = tuple(task for task in grouping.groups[group].train if task in set(tasks))
    strangers = [task for task in tasks if task not in leaving]
    if strangers:
        raise GroupingError(f"'{strangers[0]}' is not trained by network {group + 1}.")
    serve = tuple(task for task in leaving if task in grouping.groups[group].serve)
    if not serve or len(serve) == len(grouping.groups[group].serve):
        raise GroupingError("both networks of a split have to serve at least one task.")
    return _edited(grouping, [*_without(grouping, group, leaving), Group(train=leaving, serve=serve)])


def merge(grouping: Grouping, first: int, second: int) -> Grouping:
    """Train the tasks of two networks in one, which stands where the first stood.

    Raises:
        GroupingError: no such network, or twice the same.
    """
    _known_group(grouping, first)
    _known_group(grouping, second)
    if first == second:
        raise GroupingError("a network cannot be merged with itself.")
    groups = list(grouping.groups)
    added = groups[second]
    merged = _joined(grouping, groups[first], added.train, serve=False)
    served = set(groups[first].serve) | set(added.serve)
    groups[first] = Group(train=merged.train, serve=tuple(task for task in merged.train if task in served))
    del groups[second]
    return _edited(grouping, groups)


def add_helper(grouping: Grouping, task: str, *, to: int) -> Grouping:
    """Train a task in a second network as well, where it helps without being served.

    Raises:
        GroupingError: no such task or network, or the task is there already.
    """
    _known_task(grouping, task)
    _known_group(grouping, to)
    if task in grouping.groups[to].train:
        raise GroupingError(f"'{task}' is trained by network {to + 1} already.")
    groups = list(grouping.groups)
    groups[to] = _joined(grouping, groups[to], (task,), serve=False)
    return _edited(grouping, groups)


def remove_helper(grouping: Grouping, task: str, *, group: int) -> Grouping:
    """Take a task out of a network that it only helps.

    Raises:
        GroupingError: no such task or network, or the task is served there or is not in it.
    """
    _known_task(grouping, task)
    _known_group(grouping, group)
    place = grouping.groups[group]
    if task not in place.train or task in place.serve:
        raise GroupingError(f"'{task}' does not only help in network {group + 1}.", hint="Move it instead.")
    return _edited(grouping, _without(grouping, group, (task,)))


def serve_from(grouping: Grouping, task: str, *, group: int) -> Grouping:
    """Serve a task from another network that trains it already; in the old one it only helps from now on.

    Raises:
        GroupingError: no such task or network, or the network does not train the task.
    """
    home = _home(grouping, task)
    _known_group(grouping, group)
    if task not in grouping.groups[group].train:
        raise GroupingError(f"network {group + 1} does not train '{task}'.", hint="Add it there first.")
    groups = list(grouping.groups)
    old = groups[home]
    groups[home] = Group(train=old.train, serve=tuple(name for name in old.serve if name != task))
    groups[group] = _joined(grouping, groups[group], (task,), serve=True)
    return _edited(grouping, groups)


def _edited(grouping: Grouping, groups: Iterable[Group]) -> Grouping:
    return replace(
        grouping,
        groups=tuple(group for group in groups if group.serve),
        score=None,
        bound=None,
        optimal=False,
        algorithm="by hand",
        seconds=None,
        stability=None,
    )


def _without(grouping: Grouping, position: int, tasks: tuple[str, ...]) -> list[Group]:
    """All networks, one of them without some tasks; one left empty keeps its place and serves nobody."""
    groups = list(grouping.groups)
    train = tuple(task for task in groups[position].train if task not in tasks)
    serve = tuple(task for task in groups[position].serve if task not in tasks)
    # An empty group cannot exist; one that serves nobody is dropped when the edit is finished.
    groups[position] = Group(train=train, serve=serve) if train else Group(train=tasks, serve=())
    return groups


def _joined(grouping: Grouping, group: Group, tasks: tuple[str, ...], *, serve: bool) -> Group:
    """A network with more tasks, in the order of the grouping's tasks."""
    train, served = {*group.train, *tasks}, {*group.serve, *(tasks if serve else ())}
    return Group(
        train=tuple(task for task in grouping.tasks if task in train),
        serve=tuple(task for task in grouping.tasks if task in served),
    )


def _home(grouping: Grouping, task: str) -> int:
    _known_task(grouping, task)
    return next(number for number, group in enumerate(grouping.groups) if task in group.serve)


def _known_task(grouping: Grouping, task: str) -> None:
    if task not in grouping.tasks:
        raise GroupingError(f"'{task}' is not a task of this grouping.")


def _known_group(grouping: Grouping, position: int) -> None:
    if not 0 <= position < len(grouping.groups):
        raise GroupingError(f"there is no network {position + 1}.")
