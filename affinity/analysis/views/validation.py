"""Views about whether pairs predict what whole networks do."""

from dataclasses import dataclass

from affinity.grouping import RankAgreement


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow:
    """One budget: what the prediction chose, and the best there was.

    Attributes:
        budget: largest total cost of the networks; a network of full size costs 1 unless the table says else.
        chosen, best: total over the tasks of the true score, in the table's own unit and sense.
        regret: how much worse the choice is, 0 or more unless the best was chosen on other data.
        share: regret over the size of the best total; NaN where that is 0.
        chosen_groups, best_groups: task names of each network.
        proven: both choices are proven best for what they were chosen from.
    """

    budget: float
    chosen: float
    best: float
    regret: float
    share: float
    chosen_groups: tuple[tuple[str, ...], ...]
    best_groups: tuple[tuple[str, ...], ...]
    proven: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedNetwork:
    """One task in one network of three or more tasks.

    Attributes:
        task: the task.
        network: all tasks of the network.
        predicted, measured: its gain; see `ValidationView.unit`.
    """

    task: str
    network: tuple[str, ...]
    predicted: float
    measured: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValidationView:
    """How well a prediction chose.

    Attributes:
        tasks: task names.
        networks: number of measured networks.
        part: which part of the file this is; empty where there is only one.
        parts: the parts that can be chosen.
        prediction: name of the prediction, `pairs` for the mean over the measured pairs.
        predictions: the predictions that can be chosen.
        lower_is_better: the table's own numbers are losses or errors.
        unit: what predicted and measured values are, in words.
        rows: one a budget.
        points: one per task and network of three or more tasks.
        over_tasks, over_networks: rank correlations over (task, network) and over networks.
        sizes: the first of them for each number of tasks in a network.
        sentence: the answer in words.
        caveats: sentences the reader has to see beside the numbers.
    """

    tasks: tuple[str, ...]
    networks: int
    part: str
    parts: tuple[str, ...]
    prediction: str
    predictions: tuple[str, ...]
    lower_is_better: bool
    unit: str
    rows: tuple[BudgetRow, ...]
    points: tuple[PredictedNetwork, ...]
    over_tasks: RankAgreement
    over_networks: RankAgreement
    sizes: tuple[tuple[int, RankAgreement], ...]
    sentence: str
    caveats: tuple[str, ...] = ()
