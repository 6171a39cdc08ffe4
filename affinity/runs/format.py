"""The run folder, in one documented place.

`<id>/`, where the id matches `[a-z0-9-]{8,40}`:

- `run.json`: a `RunInfo`; strict JSON, replaced atomically.
- `<signal>.arrows`: one Arrow IPC stream a recorded quantity, appended batch by batch. Columns: `step`
  (int64), `split` (string), `values` (fixed-size list of float64, the axes flattened row-major, NaN =
  missing). Schema metadata: `name`, `axes` and `shape` (JSON lists), `unit`, `sense`, `title`. A resumed run
  goes on in `<signal>.2.arrows` and so on: nothing is ever truncated, and where steps overlap the later write
  wins.
- `status.json`: a `Status`; replaced atomically.
- `trainings.jsonl`: only in reruns; one strict JSON object a finished training.
- `stop`: an empty file that asks the worker to stop.
- `worker.log`: what the worker said.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, cast, get_args

from affinity.core.config import TrainConfig
from affinity.core.errors import AffinityError, RunDamaged, RunTooNew
from affinity.core.names import clean_name, unique_names
from affinity.core.strict_json import Json, to_json
from affinity.core.types import TaskKind, TaskSpec

SCHEMA = "affinity.run/1"
RUN_FILE = "run.json"
STATUS_FILE = "status.json"
TRAININGS_FILE = "trainings.jsonl"
STOP_FILE = "stop"
LOG_FILE = "worker.log"
LOCK_FILE = ".writer.lock"

ID_PATTERN = re.compile(r"[a-z0-9-]{8,40}")
SIGNAL_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,59}")
SEGMENT_PATTERN = re.compile(r"(?P<signal>[a-z][a-z0-9_]{0,59})(\.(?P<segment>[0-9]{1,6}))?\.arrows")

RunKind: TypeAlias = Literal["training", "rerun", "recorded", "imported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What a run is.

    Attributes:
        id: the folder's name.
        label: the user's name for it.
        kind: `training` (our trainer), `rerun` (a grouping retrained), `recorded` (Recorder) or `imported`.
        tasks: the tasks; the order of every axis. Empty until the worker of a queued run loaded the data.
        layers: names of the shared layers, the order of every layer axis.
        settings: everything that decided the run, as plain JSON.
        seed: the training's seed, or None.
        device: where it ran; empty until known.
        versions: versions of what computed it.
        origin: where it came from, for example `{"rerun_of": id}`.
        created: UTC, ISO 8601.
        config_hash: names the settings without seed and device; equal for the seeds of one sweep.
        planted: the true grouping where the dataset knows it.
    """

    id: str
    label: str
    kind: RunKind
    tasks: tuple[TaskSpec, ...]
    settings: Mapping[str, Json] = field(default_factory=dict)
    seed: int | None = None
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    origin: Mapping[str, Json] = field(default_factory=dict)
    created: str = ""
    config_hash: str = ""
    planted: tuple[tuple[str, ...], ...] | None = None
    layers: tuple[str, ...] = ()

    @property
    def task_names(self) -> tuple[str, ...]:
        """The tasks' names, the order of every axis."""
        return tuple(task.name for task in self.tasks)

    @property
    def config(self) -> TrainConfig | None:
        """The training's config, or None for a run that our trainer did not make."""
        if self.kind != "training":
            return None
        return TrainConfig.from_json(self.settings)

    def to_json(self) -> dict[str, Json]:
        """The content of `run.json`."""
        return {"schema": SCHEMA, **cast(dict[str, Json], to_json(self))}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], run_id: str) -> "RunInfo":
        """Read the content of a `run.json`, which may come from an upload.

        Raises:
            RunTooNew: the schema is newer than this version reads.
            RunDamaged: a field is missing or has the wrong type.
        """
        schema = values.get("schema")
        if schema != SCHEMA:
            newer = isinstance(schema, str) and schema.startswith("affinity.run/")
            error = RunTooNew if newer else RunDamaged
            raise error(
                f"schema {schema!r} is not {SCHEMA!r}.", f"{run_id}/{RUN_FILE}", "Update this program."
            )
        try:
            return _info(values, run_id)
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, AffinityError) as error:
            raise RunDamaged(f"not a valid run description ({error}).", f"{run_id}/{RUN_FILE}") from error


def _info(values: Mapping[str, Any], run_id: str) -> RunInfo:
    if values["kind"] not in get_args(RunKind):
        raise ValueError(f"unknown kind {values['kind']!r}")
    names = unique_names(task["name"] for task in values["tasks"])
    tasks = tuple(_task(task, name) for task, name in zip(values["tasks"], names, strict=True))
    planted = values.get("planted")
    return RunInfo(
        id=run_id,
        label=clean_name(values.get("label") or run_id),
        kind=values["kind"],
        tasks=tasks,
        settings=dict(values.get("settings") or {}),
        seed=None if values.get("seed") is None else int(values["seed"]),
        device=_text(values.get("device")),
        versions={_text(key): _text(value) for key, value in (values.get("versions") or {}).items()},
        origin=dict(values.get("origin") or {}),
        created=_text(values.get("created")),
        config_hash=_text(values.get("config_hash")),
        planted=tuple(tuple(clean_name(task) for task in group) for group in planted) if planted else None,
        layers=tuple(clean_name(layer) for layer in values.get("layers") or ()),
    )


def _task(values: Mapping[str, Any], name: str) -> TaskSpec:
    kind = values.get("kind", "other")
    if kind not in get_args(TaskKind):
        raise ValueError(f"unknown task kind {kind!r}")
    return TaskSpec(
        name=name,
        kind=kind,
        classes=max(1, int(values.get("classes", 1))),
        description=_text(values.get("description")),
    )


def _text(value: object) -> str:
    return clean_name(str(value)) if value else ""


def new_id() -> str:
    """A fresh run id: the UTC time, so that folders sort by age, and a random part."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"[:19] + f"-{secrets.token_hex(3)}"


def now() -> str:
    """The current time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
