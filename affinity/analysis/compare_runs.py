"""Several runs side by side: final results task by task, and what differs in their settings."""

from collections.abc import Mapping, Sequence

import numpy as np

from affinity.analysis.views import RunsComparison, SettingDifference
from affinity.analysis.wording import listing, plural
from affinity.core.errors import NotEnoughData
from affinity.core.strict_json import Json, dumps
from affinity.core.types import FloatArray, read_only
from affinity.runs.reader import Run

# Long enough to tell runs of one second apart: the random end of the id is part of it.
_ID_END = 6
_ABSENT = "not set"


def compare_runs(runs: Sequence[Run]) -> RunsComparison:
    """The runs' final validation metric and loss per task, over the union of their tasks.

    Raises:
        NotEnoughData: no run was given.
    """
    if not runs:
        raise NotEnoughData("choose at least one run to compare.")
    tasks = tuple(dict.fromkeys(task for run in runs for task in run.tasks))
    present = np.array([[task in run.tasks for task in tasks] for run in runs])
    shared = tuple(task for task in tasks if all(task in run.tasks for run in runs))
    metrics = np.stack([_final(run, "validation_metric", tasks) for run in runs])
    differences = setting_differences([_settings(run) for run in runs])
    return RunsComparison(
        ids=tuple(run.id for run in runs),
        labels=tuple(f"{run.info.label} · {run.id[-_ID_END:]}" for run in runs),
        tasks=tasks,
        metrics=read_only(metrics),
        losses=read_only(np.stack([_final(run, "validation_loss", tasks) for run in runs])),
        present=read_only(present, bool),
        shared=shared,
        differences=differences,
        sentence=_sentence(runs, tasks, shared, metrics, differences),
        caveats=_caveats(runs, shared, tasks, metrics, present),
    )


def setting_differences(settings: Sequence[Mapping[str, Json]]) -> tuple[SettingDifference, ...]:
    """Settings that are not the same everywhere, nested ones as `outer.inner`, in alphabetical order."""
    flat = [dict(_flattened(values)) for values in settings]
    names = sorted({name for values in flat for name in values})
    rows = [
        SettingDifference(name=name, values=tuple(one.get(name, _ABSENT) for one in flat)) for name in names
    ]
    return tuple(row for row in rows if len(set(row.values)) > 1)


def _flattened(values: Mapping[str, Json], prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            found += _flattened(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", value if isinstance(value, str) else dumps(value)))
    return found


def _settings(run: Run) -> dict[str, Json]:
    return {**run.info.settings, "seed": run.info.seed, "device": run.info.device}


def _final(run: Run, signal: str, tasks: Sequence[str]) -> FloatArray:
    """(tasks,) last finite value of an evaluated quantity; NaN where the run has none."""
    info = run.signals.get(signal)
    result = np.full(len(tasks), np.nan)
    if info is None or info.shape != (len(run.tasks),):
        return result
    values = _evaluations(run, signal)
    for column, task in enumerate(run.tasks):
        known = values[:, column][np.isfinite(values[:, column])]
        if len(known):
            result[tasks.index(task)] = known[-1]
    return result


def _evaluations(run: Run, signal: str) -> FloatArray:
    """(T, N) an evaluated quantity, whichever part of the data its rows are labelled with."""
    validation = run.signal(signal, split="validation")
    return (validation if len(validation.steps) else run.signal(signal)).values


def _sentence(
    runs: Sequence[Run],
    tasks: Sequence[str],
    shared: Sequence[str],
    metrics: FloatArray,
    differences: Sequence[SettingDifference],
) -> str:
    said = [f"{plural(len(runs), 'run')}, {plural(len(tasks), 'task')}, {len(shared)} of them in every run."]
    common = [tasks.index(task) for task in shared]
    means = metrics[:, common].mean(axis=1) if common else np.full(len(runs), np.nan)
    if len(runs) > 1 and np.isfinite(means).any():
        best = int(np.nanargmax(means))
        said.append(
            f"{runs[best].info.label} has the highest mean metric on the shared tasks ({means[best]:.3f})."
        )
    if len(runs) > 1:
        names = [difference.name for difference in differences]
        said.append(f"They differ in {listing(names)}." if names else "Their settings are the same.")
    return " ".join(said)


def _caveats(
    runs: Sequence[Run], shared: Sequence[str], tasks: Sequence[str], metrics: FloatArray, present: FloatArray
) -> tuple[str, ...]:
    said = []
    if len(shared) < len(tasks):
        said.append("Tasks that a run does not have are shown as such; means are over shared tasks only.")
    if (np.isnan(metrics) & np.asarray(present, dtype=bool)).any():
        said.append("Some tasks were not validated, or their metric is undefined.")
    live = [run.info.label for run in runs if run.status.live]
    if live:
        said.append(f"Still going: {listing(live)}.")
    return tuple(said)
