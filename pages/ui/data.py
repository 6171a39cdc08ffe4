"""What the pages ask for, cached by run and revision: a picture is computed once per change of its run."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import streamlit as st

from affinity.analysis.affinity import affinity_view
from affinity.analysis.collected import Reduce
from affinity.analysis.page_validation import Asked, validation_page
from affinity.analysis.views import AffinityView, SignalChoice
from affinity.analysis.views.validation import ValidationView
from affinity.core.config import TrainConfig
from affinity.core.strict_json import Json
from affinity.datasets import DATASETS
from affinity.datasets._own_table import ColumnSummary, summarise_table
from affinity.jobs.tables import located
from affinity.runs.library import Library, Listed
from affinity.runs.reader import Run

T = TypeVar("T")
P = ParamSpec("P")


def library() -> Library:
    """The user's runs and the samples."""
    return Library()


def listed() -> tuple[Listed, ...]:
    """All runs, newest first, samples last."""
    return library().list()


def open_run(run_id: str) -> Run:
    """Open a run by its id.

    Raises:
        RunError: there is no such run, or it cannot be read.
    """
    return library().open(run_id)


def ask(service: Callable[Concatenate[Run, P], T], run: Run, /, *choices: P.args, **named: P.kwargs) -> T:
    """The answer of a service for a run, from the cache when neither the run nor the choices changed.

    Args:
        service: `(run, choices...) -> frozen view object`; all sessions share its read-only arrays.
        run: the run.
        *choices: hashable arguments of the service.
        **named: hashable named arguments of the service.
    """
    name = f"{service.__module__}.{service.__qualname__}"
    key = (name, str(run.folder), run.revision, cast(Hashable, choices), tuple(sorted(named.items())))
    answer: T = _answers(key, lambda: service(run, *choices, **named))
    return answer


def affinity(
    run: Run,
    signal: SignalChoice,
    *,
    split: str = "",
    reduce: Reduce | None = None,
    first: int | None = None,
    last: int | None = None,
) -> AffinityView:
    """Who helps whom; asked in one form by all pages, so that they share the answer."""
    return ask(
        affinity_view,
        run,
        signal.key,
        reduce=reduce or signal.default_reduce,
        first=first,
        last=last,
        split=split or signal.splits[0],
    )


def ask_together(service: Callable[[Sequence[Run]], T], runs: Sequence[Run]) -> T:
    """The answer of a service about several runs, cached like `ask`."""
    name = f"{service.__module__}.{service.__qualname__}"
    key = (name, *((str(run.folder), run.revision) for run in runs))
    answer: T = _answers(key, lambda: service(runs))
    return answer


@st.cache_resource(max_entries=256, show_spinner=False)
def _answers(key: tuple[Hashable, ...], _make: Callable[[], Any]) -> Any:  # noqa: ANN401 - any view object
    return _make()


@st.cache_resource(max_entries=32, show_spinner="Choosing networks …")
def validation(asked: Asked) -> ValidationView:
    """How well a prediction chooses, judged by an uploaded table.

    Raises:
        AffinityError: the table is not understood, or cannot answer.
    """
    return validation_page(asked)


@st.cache_resource(max_entries=16, show_spinner="Reading the table …")
def table_columns(file: str) -> tuple[ColumnSummary, ...]:
    """What was understood of a kept table's columns.

    Raises:
        DatasetError: it cannot be read as a table; names line and reason.
    """
    return summarise_table(library().home / file)


@st.cache_resource(max_entries=16, show_spinner="Loading the dataset's tasks …")
def dataset_tasks(key: str, settings: tuple[tuple[str, Json], ...]) -> tuple[str, ...]:
    """Names of a dataset's tasks.

    Raises:
        AffinityError: the dataset cannot be loaded.
    """
    dataset = DATASETS.find(key)
    chosen = located(TrainConfig(dataset=key, dataset_settings=settings), library().home)
    loaded = dataset.load(dataset.settings.from_json(dict(chosen.dataset_settings)), 0)
    return tuple(task.name for task in loaded.tasks)
