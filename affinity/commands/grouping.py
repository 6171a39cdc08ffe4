"""The command that groups tasks: group, with its limits and prices."""

import math
import sys
from collections.abc import Sequence
from typing import cast

from affinity.analysis.collected import Reduce, collect
from affinity.analysis.grouping_cost import search_cost
from affinity.analysis.grouping_evidence import gain_interval
from affinity.analysis.grouping_limits import Limits
from affinity.analysis.grouping_words import UNKNOWN
from affinity.analysis.groups import groups_view, suggest
from affinity.commands.shared import Answer, Options, open_given, run_or_matrix, write_text
from affinity.core.errors import SettingsError
from affinity.core.types import AffinityMatrix, Grouping
from affinity.grouping import write_grouping


def group_command(options: Options) -> Answer:
    """The best grouping into at most K networks."""
    matrix = run_or_matrix(options)
    limits = _limits(options, matrix.tasks)
    if not (math.isfinite(options.seconds) and options.seconds > 0):
        raise SettingsError(f"a search of {options.seconds:g} seconds finds nothing.", "group --seconds")
    cost = search_cost(len(matrix.tasks), options.groups, overlap=options.overlap, seconds=options.seconds)
    if cost and not options.json:
        sys.stderr.write(f"{cost}\n")
    found = suggest(
        matrix,
        options.groups,
        algorithm=options.algorithm,
        overlap=options.overlap,
        limits=limits,
        seconds=options.seconds,
    )
    if options.output:
        write_text(options.output, write_grouping(found))
    low, high = _interval(options, matrix, found)
    view = groups_view(matrix, found, bounds=(low, high))
    answer = {
        "groups": [list(group.train) for group in found.groups],
        "serve": [list(group.serve) for group in found.groups],
        "score": found.score,
        "bound": found.bound,
        "optimal": found.optimal,
        "seconds": found.seconds,
        "notes": list(found.notes),
        "objective": found.objective,
        "mean_gain": view.score,
        "low": low,
        "high": high,
        "gains": {gain.task: gain.value for gain in view.gains},
        "sentence": view.sentence,
    }
    return answer, _text(found, view.sentence)


def _interval(options: Options, matrix: AffinityMatrix, found: Grouping) -> tuple[float, float]:
    """The interval of the mean gain, where the steps of a run can tell."""
    if matrix.low is None:  # a matrix from a file
        return UNKNOWN
    steps = collect(
        open_given(options), matrix.signal, split=options.split, first=options.first, last=options.last
    )
    score = groups_view(matrix, found).score
    return gain_interval(steps, cast(Reduce, matrix.reduce), found, score)


def _text(found: Grouping, sentence: str) -> str:
    lines = [", ".join(group.train) for group in found.groups]
    proof = "proven best" if found.optimal else f"at most {found.bound} is possible"
    return "\n".join([*lines, f"score {found.score:.6g}, {proof}", *found.notes, sentence])


def _limits(options: Options, tasks: Sequence[str]) -> Limits:
    general, own = 0.0, []
    for text in options.task_price:
        name, divider, value = text.rpartition("=")
        if divider:
            own.append((name, _number(value, "group --task-price")))
        else:
            general = _number(value, "group --task-price")
    return Limits(
        objective=options.objective,
        smallest=options.min_size,
        largest=options.max_size,
        together=tuple(_names(text, tasks, "group --together") for text in options.together),
        apart=tuple(_names(text, tasks, "group --apart") for text in options.apart),
        price=options.price,
        task_price=general,
        task_prices=tuple(own),
        minimum_gain=options.min_gain,
        threshold=options.threshold,
    )


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise SettingsError(f"'{text}' is not a number.", where) from error


def _names(text: str, tasks: Sequence[str], where: str) -> tuple[str, ...]:
    """Task names divided by commas; a name may hold commas itself, so the longest that fits is taken."""
    parts, names = text.split(","), list[str]()
    while parts:
        for size in range(len(parts), 0, -1):
            name = ",".join(parts[:size]).strip()
            if name in tasks:
                names.append(name)
                parts = parts[size:]
                break
        else:
            known = f"Tasks: {', '.join(tasks[:20])}."
            raise SettingsError(f"'{parts[0].strip()[:60]}' is not one of the tasks.", where, known)
    if len(set(names)) < 2:
        raise SettingsError(f"'{text[:60]}' names fewer than two tasks.", where)
    return tuple(dict.fromkeys(names))
