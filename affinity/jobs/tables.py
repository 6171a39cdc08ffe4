"""Tables that a user uploaded: kept beside the runs under the name of their content, not their own."""

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path

from affinity.core.config import TrainConfig
from affinity.runs.library import Library

FOLDER = "_tables"
OWN_TABLE = "own_table"
_KEPT = re.compile(rf"{FOLDER}/[0-9a-f]{{16}}\.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTable:
    """An uploaded table.

    Attributes:
        file: where it is, relative to the home folder, so that no path of this machine enters a run.
        checksum: SHA-256 of its content, 64 hex digits.
    """

    file: str
    checksum: str


def keep_table(library: Library, content: bytes) -> KeptTable:
    """Keep an uploaded table; the same content is kept once."""
    checksum = hashlib.sha256(content).hexdigest()
    file = f"{FOLDER}/{checksum[:16]}.csv"
    path = library.home / file
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return KeptTable(file=file, checksum=checksum)


def is_kept(file: object) -> bool:
    """Whether a setting names a kept table, and nothing else on this machine."""
    return isinstance(file, str) and _KEPT.fullmatch(file) is not None


def located(config: TrainConfig, home: Path) -> TrainConfig:
    """The config with the place of a kept table on this machine; any other config as it is."""
    settings = dict(config.dataset_settings)
    if config.dataset != OWN_TABLE or not is_kept(settings.get("file")):
        return config
    file = str(settings["file"])
    return replace(config, dataset_settings=tuple({**settings, "file": str(home / file)}.items()))
