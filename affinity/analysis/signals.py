"""Which affinities a run can show: measures whose quantities it recorded, and recorded matrices."""

from typing import Final

from affinity.analysis.views import SignalChoice
from affinity.core.entry import Measure
from affinity.core.errors import NotRecorded
from affinity.measures import MEASURES
from affinity.runs.reader import Run

SPLITS: Final = ("train", "validation")
PAIR_AXES: Final = ("source", "affected")
AFFINITY_SENSES: Final = frozenset({"affinity", "higher"})

_ORDER: Final = ("lookahead", "proximal", "lookahead_per_lr", "first_order", "cosine", "loss_correlation")
_RECORDED: Final = "recorded_"


def signal_choices(run: Run) -> tuple[SignalChoice, ...]:
    """The affinities that this run can show: measures whose quantities it recorded, and recorded matrices.

    Returns:
        Lookahead affinity first where there is one; empty if the run recorded nothing that serves.
    """
    choices = [_measure_choice(run, measure) for measure in MEASURES.values()]
    recorded = [_recorded_choice(run, name) for name in recorded_matrices(run)]
    found = [choice for choice in (*recorded, *choices) if choice is not None and choice.splits]
    return tuple(sorted(found, key=_rank))


def find_choice(run: Run, signal: str) -> SignalChoice:
    """The choice called `signal`.

    Raises:
        NotRecorded: the run cannot show it; the message says what would have to be recorded.
        SettingsError: no measure and no recorded matrix has this name.
    """
    choice = _measure_choice(run, MEASURES[signal]) if signal in MEASURES else None
    if choice is None and recorded_name(signal) in recorded_matrices(run):
        choice = _recorded_choice(run, recorded_name(signal))
    if choice is not None and choice.splits:
        return choice
    measure = MEASURES.find(signal)
    absent = [name for name in measure.needs if not usable(run, name)]
    reason = f"needs {' and '.join(absent)}, which this run did not record" if absent else "has no values yet"
    raise NotRecorded(f"'{measure.title}' {reason}.", f"run {run.id}", _how_to_log(measure))


def recorded_name(signal: str) -> str:
    """The recorded signal behind the key of a recorded choice."""
    plain = signal.removeprefix(_RECORDED)
    return plain if plain in MEASURES else signal


def recorded_matrices(run: Run) -> tuple[str, ...]:
    """Names of signals that were recorded as affinities."""
    return tuple(
        name
        for name, info in run.signals.items()
        if info.axes == PAIR_AXES and info.sense in AFFINITY_SENSES and usable(run, name)
    )


def usable(run: Run, name: str) -> bool:
    """Whether a signal was recorded with as many tasks as the run has."""
    info = run.signals.get(name)
    if info is None:
        return False
    sizes = zip(info.axes, info.shape, strict=True)
    return all(size == len(run.tasks) for axis, size in sizes if axis in PAIR_AXES)


def has_rows(run: Run, name: str, split: str) -> bool:
    """Whether a signal has rows on a part of the data; a quantity of the step itself counts for both."""
    if not run.signals[name].axes:
        return True
    if name != "losses" and "losses" in run.signals:
        steps = run.signal("losses", split=split).steps
        # Most often the first step answers the question without reading the whole signal.
        if len(steps) and len(run.signal(name, split=split, first=int(steps[0]), last=int(steps[0])).steps):
            return True
    return len(run.signal(name, split=split).steps) > 0


def _rank(choice: SignalChoice) -> tuple[int, str]:
    return (_ORDER.index(choice.key) if choice.key in _ORDER else -choice.recorded, choice.key)


def _measure_choice(run: Run, measure: Measure) -> SignalChoice | None:
    if not all(usable(run, name) for name in measure.needs):
        return None
    return SignalChoice(
        key=measure.key,
        title=measure.title,
        meaning=measure.summary,
        formula=measure.formula,
        caveat=measure.caveat,
        splits=tuple(split for split in SPLITS if all(has_rows(run, name, split) for name in measure.needs)),
        default_reduce=measure.default_reduce,
        symmetric=measure.symmetric,
        reference=measure.reference,
        unit=measure.unit,
    )


def _recorded_choice(run: Run, name: str) -> SignalChoice:
    info = run.signals[name]
    measure = MEASURES.get(name)
    shadowed = measure is not None and all(usable(run, need) for need in measure.needs)
    return SignalChoice(
        key=f"{_RECORDED}{name}" if shadowed else name,
        title=f"{info.title} (recorded)" if shadowed else info.title,
        meaning="A matrix that was recorded as it is: what a step on the source does to the affected task.",
        formula="",
        caveat="Recorded elsewhere: this program can check neither its formula nor its direction.",
        splits=tuple(split for split in SPLITS if has_rows(run, name, split)),
        unit=info.unit,
        recorded=True,
    )


def _how_to_log(measure: Measure) -> str:
    probes = [name for name in measure.needs if name not in ("losses", "learning_rate")] or ["losses"]
    return f"Train with the probes {', '.join(probes)}, or log them with the Recorder."
