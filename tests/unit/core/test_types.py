import pickle

import numpy as np
import pytest

from affinity.core.errors import (
    AffinityError,
    DatasetError,
    GroupingError,
    NeedsAnswer,
    NonFiniteLoss,
)
from affinity.core.linalg import cosine_of_gram
from affinity.core.types import AffinityMatrix, DatasetArrays, Group, Grouping, Signal, TaskSpec, read_only


def arrays(**changes: object) -> DatasetArrays:
    made: dict[str, object] = {
        "inputs": np.zeros((4, 2), np.float32),
        "targets": {"a": np.zeros(4), "b": np.ones(4)},
        "tasks": (TaskSpec(name="a", kind="regression"), TaskSpec(name="b", kind="binary", classes=2)),
        "train": np.array([0, 1]),
        "validation": np.array([2, 3]),
    }
    return DatasetArrays(**(made | changes))


def test_nobody_can_write_to_a_record():
    matrix = AffinityMatrix(tasks=("a", "b"), values=np.eye(2), count=np.ones((2, 2)))
    data = arrays()
    signal = Signal(name="x", axes=(), steps=np.arange(3), values=np.zeros(3))
    grouping = Grouping.partition(("a",), [("a",)], stability=np.eye(1))
    protected = (
        *(matrix.values, matrix.count, data.inputs, data.train, data.targets["a"]),
        *(signal.steps, signal.values, grouping.stability),
    )
    for array in protected:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 7


def test_a_record_does_not_follow_the_array_it_was_made_from():
    values = np.eye(2)
    matrix = AffinityMatrix(tasks=("a", "b"), values=values)
    values[0, 1] = 9
    assert matrix.values[0, 1] == 0
    assert read_only(values)[0, 1] == 9


def test_effects_are_asked_for_by_name():
    matrix = AffinityMatrix(tasks=("a", "b"), values=[[0, 1], [2, 3]])
    assert matrix.effect(source="a", affected="b") == 1
    assert matrix.effect(source="b", affected="a") == 2


@pytest.mark.parametrize(("tasks", "values"), [((), np.eye(0)), (("a", "a"), np.eye(2)), (("a",), np.eye(2))])
def test_a_matrix_that_does_not_fit_its_tasks_is_refused(tasks, values):
    with pytest.raises(AffinityError):
        AffinityMatrix(tasks=tasks, values=values)


def test_a_grouping_serves_every_task_once():
    with pytest.raises(GroupingError, match="'b' is served by no group"):
        Grouping.partition(("a", "b"), [("a",)])
    with pytest.raises(GroupingError, match="'a' is served by 2 groups"):
        Grouping.partition(("a", "b"), [("a",), ("a", "b")])
    with pytest.raises(GroupingError, match="'z' is in a group but is not a task"):
        Grouping.partition(("a",), [("a",), ("z",)])


def test_a_grouping_needs_tasks_with_names_of_their_own():
    with pytest.raises(GroupingError, match="names of their own"):
        Grouping.partition(("a", "a"), [("a",)])
    with pytest.raises(GroupingError, match="names of their own"):
        Grouping.partition((), [])


def test_a_stability_of_the_wrong_size_is_refused():
    with pytest.raises(GroupingError, match="not 1 x 1"):
        Grouping.partition(("a",), [("a",)], stability=np.eye(2))


@pytest.mark.parametrize(
    ("train", "serve"), [((), ()), (("a", "a"), ("a",)), (("a",), ("b",)), (("a",), ("a", "a"))]
)
def test_a_group_serves_only_what_it_trains(train, serve):
    with pytest.raises(GroupingError):
        Group(train=train, serve=serve)


def test_a_task_may_help_where_it_is_not_served():
    both = Group(train=("a", "b"), serve=("a",))
    grouping = Grouping(tasks=("a", "b"), groups=(both, Group(train=("b",), serve=("b",))))
    assert grouping.serving("a") is both


def test_a_dataset_that_does_not_fit_together_is_refused():
    with pytest.raises(DatasetError, match="exactly one target column"):
        arrays(targets={"a": np.zeros(4)})
    with pytest.raises(DatasetError, match=r"'b' has shape \(3,\), expected \(4,\)"):
        arrays(targets={"a": np.zeros(4), "b": np.zeros(3)})
    with pytest.raises(DatasetError, match="too few"):
        arrays(validation=np.array([], int))


def test_a_subset_keeps_the_datasets_order_and_refuses_strangers():
    assert [task.name for task in arrays().only(["b", "a"]).tasks] == ["a", "b"]
    with pytest.raises(DatasetError, match="no task is called 'c'"):
        arrays().only(["c"])


@pytest.mark.parametrize(
    "error",
    [
        NonFiniteLoss("what", "step 3", "hint"),
        NeedsAnswer("which way?", ("rows", "columns"), "a.csv"),
        AffinityError("only what"),
    ],
)
def test_errors_travel_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), type(copy), vars(copy)) == (str(error), type(error), vars(error))


def test_a_cosine_with_a_zero_gradient_is_missing():
    # C_2x3 with a zero row added: cos = -2.5 / sqrt(10 * 1.25), worked by hand
    gram = np.array([[10.0, -2.5, 0.0], [-2.5, 1.25, 0.0], [0.0, 0.0, 0.0]])
    cosines = cosine_of_gram(gram)
    assert cosines[0, 1] == pytest.approx(-0.7071067811865475, abs=1e-15)
    assert np.isnan(cosines[2]).all()
    assert np.isnan(cosines[:, 2]).all()


def test_a_cosine_of_tiny_gradients_does_not_underflow():
    gram = np.array([[1e-300, 5e-301], [5e-301, 1e-300]])
    assert cosine_of_gram(gram)[0, 1] == pytest.approx(0.5)
