"""Groupings that the user named and kept: grouping files in the library, beside the runs."""

from dataclasses import dataclass, replace
from pathlib import Path

from affinity.core.errors import AffinityError, GroupingError
from affinity.core.names import clean_name
from affinity.core.types import Grouping
from affinity.grouping import read_grouping, write_grouping
from affinity.runs.format import ID_PATTERN, new_id, now
from affinity.runs.library import Library
from affinity.runs.reader import Run

FOLDER = "_groupings"  # not a run id, so the library never takes it for a run
MAX_KEPT = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kept:
    """A kept grouping.

    Attributes:
        id: the file's name without its ending.
        grouping: the grouping, with its label.
    """

    id: str
    grouping: Grouping


def named(grouping: Grouping, run: Run, label: str) -> Grouping:
    """The grouping with a label and where it came from, ready for export."""
    provenance = {**grouping.provenance, "run": run.id, "created": now()}
    if run.info.config_hash:
        provenance["config_hash"] = run.info.config_hash
    return replace(grouping, label=clean_name(label) if label.strip() else "", provenance=provenance)


def keep(library: Library, run: Run, grouping: Grouping, *, label: str) -> str:
    """Save a grouping of a run under a name.

    Returns:
        The id of the kept grouping.

    Raises:
        GroupingError: the run has too many already.
    """
    folder = library.home / FOLDER / run.id
    if len(_files(folder)) >= MAX_KEPT:
        raise GroupingError(f"this run has {MAX_KEPT} saved groupings already.", hint="Delete some first.")
    folder.mkdir(parents=True, exist_ok=True)
    name = new_id()
    text = write_grouping(named(grouping, run, label or "unnamed grouping"))
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return name


def kept(library: Library, run: Run) -> tuple[Kept, ...]:
    """The saved groupings of a run, newest first; a file that cannot be read any more is left out."""
    found = []
    for path in sorted(_files(library.home / FOLDER / run.id), reverse=True):
        try:
            text = path.read_text(encoding="utf-8")
            found.append(Kept(id=path.stem, grouping=read_grouping(text, path.name, tasks=run.tasks)))
        except (AffinityError, OSError, UnicodeDecodeError):
            continue
    return tuple(found)


def forget(library: Library, run: Run, kept_id: str) -> None:
    """Delete a saved grouping; nothing happens when it is gone already."""
    for path in _files(library.home / FOLDER / run.id):
        if path.stem == kept_id:
            path.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.glob("*.json") if ID_PATTERN.fullmatch(path.stem)]
