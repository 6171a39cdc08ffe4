"""The library: a folder of the user's runs, and the read-only samples. Path safety lives here.

A string from a user or a URL is only ever compared with the ids that are really there; it never becomes
a path.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from affinity.core.errors import AffinityError, RunBusy, RunError, RunNotFound
from affinity.core.names import clean_name
from affinity.core.strict_json import read_object, write_atomic
from affinity.runs.format import ID_PATTERN, RUN_FILE, RunInfo, new_id
from affinity.runs.reader import Run
from affinity.runs.status import Status, read_status

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A line of the library.

    Attributes:
        id: the run's id.
        sample: it is one of the read-only samples.
        info: what the run is, or None when its description cannot be read.
        status: what it is doing now.
        problem: why it cannot be read; empty when it can.
    """

    id: str
    sample: bool
    info: RunInfo | None
    status: Status
    problem: str = ""


def default_home() -> Path:
    """`AFFINITY_HOME`, else `runs/` beside the app, else `runs/` in the working directory."""
    chosen = os.environ.get("AFFINITY_HOME")
    if chosen:
        return Path(chosen).expanduser()
    return (_ROOT if (_ROOT / "app.py").exists() else Path.cwd()) / "runs"


def samples_home() -> Path:
    """The folder of sample runs beside the app; it may be absent."""
    return _ROOT / "sample_runs"


class Library:
    """The runs of one home folder, and the samples.

    Args:
        home: folder of the user's runs; the default one when left out.
        samples: folder of read-only runs; the shipped ones when left out.
    """

    def __init__(self, home: Path | str | None = None, *, samples: Path | None = None) -> None:
        self.home = (Path(home) if home is not None else default_home()).resolve()
        self.samples = samples if samples is not None else samples_home()

    def list(self) -> tuple[Listed, ...]:
        """All runs, newest first, samples last; a broken one is listed with the reason."""
        own = [_listed(folder, sample=False) for folder in _folders(self.home)]
        samples = [_listed(folder, sample=True) for folder in _folders(self.samples)]
        own.sort(key=lambda entry: entry.id, reverse=True)
        samples.sort(key=lambda entry: (bool(entry.problem), entry.id))
        return (*own, *samples)

    def open(self, reference: str) -> Run:
        """Open a run by its id or by a unique prefix of it.

        Raises:
            RunNotFound: no run, or several, match.
            RunError: the run cannot be read.
        """
        return Run(self._folder(reference))

    def new_folder(self) -> Path:
        """A fresh folder for a new run.

        Raises:
            RunError: the library cannot be written to.
        """
        folder = self.home / new_id()
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise RunError(
                f"the library cannot be written to ({error.strerror}).",
                self.home.name,
                "Choose another folder.",
            ) from error
        return folder

    def rename(self, run_id: str, label: str) -> None:
        """Give a run another label.

        Raises:
            RunError: the run is a sample, or cannot be read.
        """
        folder = self._own_folder(run_id)
        info = RunInfo.from_json(read_object(folder / RUN_FILE), folder.name)
        write_atomic(folder / RUN_FILE, replace(info, label=clean_name(label)).to_json())

    def delete(self, run_id: str) -> None:
        """Delete a run for good.

        Raises:
            RunBusy: it is still being trained.
            RunError: the run is a sample, or does not exist.
        """
        folder = self._own_folder(run_id)
        if read_status(folder).live:
            raise RunBusy("this run is still being trained.", run_id, "Cancel it first.")
        shutil.rmtree(folder)

    def _folder(self, reference: str) -> Path:
        matches = [
            folder
            for home in (self.home, self.samples)
            for folder in _folders(home)
            if folder.name == reference or (reference and folder.name.startswith(reference))
        ]
        # The user's own runs come first, so a copy of a sample is opened instead of the sample.
        exact = [folder for folder in matches if folder.name == reference][:1]
        if len(exact or matches) != 1:
            found = "no run matches" if not matches else f"{len(matches)} runs match"
            ids = ", ".join(sorted(folder.name for folder in matches)[:5])
            hint = f"For example {ids}." if ids else "`python -m affinity list` shows all runs."
            raise RunNotFound(f"{found} '{clean_name(reference)}'.", hint=hint)
        return (exact or matches)[0]

    def _own_folder(self, run_id: str) -> Path:
        folder = next((folder for folder in _folders(self.home) if folder.name == run_id), None)
        if folder is None:
            raise RunError("only your own runs can be changed.", clean_name(run_id), "Samples are read-only.")
        return folder


def open_run(reference: str | Path, *, home: Path | str | None = None) -> Run:
    """Open a run by id, by a unique prefix of its id, or by the path of its folder.

    Raises:
        RunNotFound: nothing, or more than one run, matches.
        RunError: the run cannot be read.
    """
    folder = Path(reference)
    try:
        is_path = (folder / RUN_FILE).is_file()
    except OSError:  # a name that is too long, or a folder that may not be searched
        is_path = False
    return Run(folder.resolve()) if is_path else Library(home).open(str(reference))


def _folders(home: Path) -> Iterator[Path]:
    if home.is_dir():
        for folder in home.iterdir():
            if ID_PATTERN.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                yield folder


def _listed(folder: Path, *, sample: bool) -> Listed:
    status = read_status(folder)
    try:
        info, problem = RunInfo.from_json(read_object(folder / RUN_FILE), folder.name), ""
    except AffinityError as error:
        info, problem = None, str(error)
    return Listed(id=folder.name, sample=sample, info=info, status=status, problem=problem)
