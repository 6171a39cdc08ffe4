"""Commands that read: list, show, matrix, export."""

import importlib

from affinity.analysis.overview import overview
from affinity.commands.shared import (
    Answer,
    Options,
    matrix_of,
    open_given,
    read_text,
    table,
    write_text,
)
from affinity.core.catalogue import Catalogue
from affinity.core.entry import Entry
from affinity.core.errors import SettingsError
from affinity.core.types import DIRECTION
from affinity.export.matrices import matrix_csv, matrix_json_text
from affinity.grouping import read_grouping, write_grouping
from affinity.runs.library import Library


def list_command(options: Options) -> Answer:
    """Runs, or the entries of a shelf."""
    if options.shelf == "runs":
        return _list_runs(options)

    shelf = _catalogue(options.shelf)
    rows = [{"name": entry.key, "title": entry.title, "source": entry.reference} for entry in shelf.values()]
    return {options.shelf: rows}, table([(row["name"], row["title"], row["source"]) for row in rows])


def _catalogue(shelf: str) -> Catalogue[Entry]:
    """The one catalogue a shelf's package holds."""
    package = importlib.import_module(f"affinity.{shelf}")
    return next(value for value in vars(package).values() if isinstance(value, Catalogue))


def _list_runs(options: Options) -> Answer:

    listed = Library(options.home).list()
    rows = [
        {
            "id": entry.id,
            "label": entry.info.label if entry.info else "",
            "kind": entry.info.kind if entry.info else "",
            "tasks": len(entry.info.tasks) if entry.info else None,
            "state": entry.status.state,
            "sample": entry.sample,
            "problem": entry.problem or None,
        }
        for entry in listed
    ]
    lines = [(row["id"], row["state"], row["kind"], row["problem"] or row["label"]) for row in rows]
    return {"runs": rows}, table(lines) or "No runs yet. Try: python -m affinity train --dataset digits"


def show_command(options: Options) -> Answer:
    """What a run is, and who helps and hurts most."""
    run = open_given(options)
    view = overview(run)
    status = run.status
    answer = {
        "run": run.id,
        "label": run.info.label,
        "kind": run.info.kind,
        "tasks": list(run.tasks),
        "steps": status.step,
        "signals": list(run.signals),
        "status": status.state,
        "error": status.error,
        "overview": {
            "sentences": view.sentences,
            "next_step": view.next_step,
            "helps": view.helps,
            "hurts": view.hurts,
            "caveats": view.caveats,
        },
    }
    lines = [
        f"{run.info.label}  ({run.id}, {status.state}, step {status.step})",
        f"tasks: {', '.join(run.tasks)}",
    ]
    return answer, "\n".join([*lines, *view.sentences])


def matrix_command(options: Options) -> Answer:
    """An affinity matrix with its intervals."""
    matrix = matrix_of(options, open_given(options))
    answer = {
        "tasks": matrix.tasks,
        "matrix": matrix.values,
        "low": matrix.low,
        "high": matrix.high,
        "n": matrix.count,
        "signal": matrix.signal,
        "reduce": matrix.reduce,
        "direction": DIRECTION,
        "caveats": matrix.caveats,
    }
    rows = [
        (task, *(f"{value:+.4g}" for value in row))
        for task, row in zip(matrix.tasks, matrix.values, strict=True)
    ]
    text = table([("a step on \\ does to", *matrix.tasks), *rows])
    return answer, f"{text}\n{matrix.signal}, {DIRECTION}"


def export_command(options: Options) -> Answer:
    """A grouping or a matrix as text or file."""
    run = open_given(options)
    if bool(options.grouping) == bool(options.matrix):
        raise SettingsError("choose one of --grouping FILE and --matrix.", "export")
    if options.grouping and options.format == "csv":
        raise SettingsError("a grouping has no CSV form.", "export --format", "Leave --format out.")
    if options.grouping:
        text = write_grouping(read_grouping(read_text(options.grouping), options.grouping, tasks=run.tasks))
    else:
        matrix = matrix_of(options, run)
        text = matrix_csv(matrix) if options.format == "csv" else matrix_json_text(matrix)
    if options.output:
        write_text(options.output, text)
        return {"file": options.output}, options.output
    return {"text": text}, text
