"""The shelf's entry for a CSV file of the user's own."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from affinity.core.entry import Dataset
from affinity.core.errors import DatasetError
from affinity.core.settings import setting
from affinity.core.types import DatasetArrays
from affinity.datasets._own_table import TableSettings, load_table


@dataclass(frozen=True, kw_only=True)
class OwnTableSettings(TableSettings):
    """Which file, and which of its columns are tasks."""

    file: str = setting("", help="Path of a CSV file with a header line.")
    targets: tuple[str, ...] = setting((), help="Names of the columns to predict, each a task.")
    checksum: str = setting("", help="SHA-256 of the file; if given, a changed file is refused.")


def checksum_of(path: Path) -> str:
    """SHA-256 of a file as 64 hex digits, to be kept with a run so that a rerun meets the same data.

    Raises:
        DatasetError: the file cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DatasetError(f"cannot be read ({reason}).", path.name or "table") from error


def load(settings: OwnTableSettings, seed: int) -> DatasetArrays:
    """The named columns of the file as tasks, all other columns as inputs.

    Args:
        settings: file and columns.
        seed: seed of the split.

    Raises:
        DatasetError: no file is given, it has changed, or it cannot be read; names file, line and reason.
    """
    if not settings.file:
        raise DatasetError(
            "no file is chosen.", "own_table.file", "Choose a CSV file and the columns to predict."
        )
    path = Path(settings.file)
    if settings.checksum and checksum_of(path) != settings.checksum.strip().lower():
        raise DatasetError(
            "has changed since it was chosen.", path.name, "Choose it again to train on the new content."
        )
    return load_table(path, settings.targets, settings=settings, seed=seed)


DATASET = Dataset(
    key="own_table",
    title="Your own table",
    summary="A CSV file of yours: choose the columns to predict, all others become inputs.",
    load=load,
    settings=OwnTableSettings,
)
