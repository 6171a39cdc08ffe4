"""Views about where gradients fight. All numbers come from Gram matrices of the shared gradients."""

from dataclasses import dataclass

from affinity.core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PairConflict:
    """An unordered pair over all recorded steps.

    Attributes:
        first, second: the tasks.
        rate: share of defined steps with a negative cosine; NaN if none is defined.
        conflicts: how many steps that is.
        n: how many steps have a defined cosine: the denominator.
        mean_cosine: mean over those steps, -1 to 1.
        magnitude_similarity: mean gradient magnitude similarity, 0 to 1.
    """

    first: str
    second: str
    rate: float
    conflicts: int
    n: int
    mean_cosine: float
    magnitude_similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerConflict:
    """How often gradients conflict in one layer.

    Attributes:
        layer: the layer's name.
        score: number of (step, pair) cosines below the threshold.
        n: number of defined (step, pair) cosines: the denominator.
        rate: score / n; NaN if nothing is defined.
        mean_cosine: mean over the defined cosines.
    """

    layer: str
    score: int
    n: int
    rate: float
    mean_cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HurtTask:
    """How often an update goes against a task's own gradient.

    Attributes:
        task: the task.
        rate: share of steps in which the update raises its loss to first order; NaN if undefined.
        hurt: how many steps that is.
        n: number of steps with a gradient: the denominator.
        mean_alignment: mean cosine between its gradient and the update, -1 to 1.
    """

    task: str
    rate: float
    hurt: int
    n: int
    mean_alignment: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConflictsView:
    """Where gradients fight, over the recorded steps.

    Attributes:
        tasks: the order of task axes.
        steps: (T,) recorded steps.
        conflict_fraction: (T,) share of defined pairs with a negative cosine.
        min_cosine, mean_cosine: (T,) over the defined pairs.
        magnitude_similarity: (T,) mean over the defined pairs, 0 to 1.
        dominance: (T,) largest over smallest nonzero gradient norm, at least 1.
        condition_number: (T,) of the gradient matrix; infinite below full rank, NaN where not computed.
        condition_number_nonzero: (T,) over the nonzero singular values only; NaN where not computed.
        rank: (T,) numerical rank of the gradient matrix; NaN where not computed.
        pareto_gap: (T,) smallest norm of a convex combination of the gradients; NaN where not computed.
        relative_gap: (T,) the same over the mean gradient norm.
        coherence: (T,) norm of the sum over the sum of norms, 0 to 1.
        norms: (T, N) gradient norms.
        pair_rate: (N, N) conflict rate; NaN on the diagonal and where undefined.
        pair_cosine: (N, N) mean cosine; NaN on the diagonal and where undefined.
        pairs: every unordered pair, the most conflicting first.
        layers: layers, the most conflicting first; empty when not recorded.
        hurt: tasks by how often the joint update (the sum of gradients) hurts them, the worst first.
        noise_floor: task -> mean self-cosine between two half batches; empty when not recorded.
        pooled_rate: conflicts / comparisons over all pairs and steps; NaN if nothing is defined.
        conflicts, comparisons: numerator and denominator of the pooled rate.
        sentence: the answer in words.
        caveats: sentences the reader has to see beside the numbers.
    """

    tasks: tuple[str, ...]
    steps: IntArray
    conflict_fraction: FloatArray
    min_cosine: FloatArray
    mean_cosine: FloatArray
    magnitude_similarity: FloatArray
    dominance: FloatArray
    condition_number: FloatArray
    condition_number_nonzero: FloatArray
    rank: FloatArray
    pareto_gap: FloatArray
    relative_gap: FloatArray
    coherence: FloatArray
    norms: FloatArray
    pair_rate: FloatArray
    pair_cosine: FloatArray
    pairs: tuple[PairConflict, ...]
    layers: tuple[LayerConflict, ...]
    hurt: tuple[HurtTask, ...]
    noise_floor: tuple[tuple[str, float], ...]
    pooled_rate: float
    conflicts: int
    comparisons: int
    sentence: str
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodHurt:
    """Whom a training method's update would hurt, at the steps that were looked at.

    Attributes:
        key, title: the method; the key `joint` is the plain sum of the gradients.
        rate: share of steps in which somebody is hurt; NaN where no step has a gradient.
        mean_hurt: hurt tasks a step, on average.
        promised: share of steps at which the method promises to hurt nobody; NaN = it never promises.
        tasks: every task, the most often hurt first.
    """

    key: str
    title: str
    rate: float
    mean_hurt: float
    promised: float
    tasks: tuple[HurtTask, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodsHurt:
    """Every method that a Gram matrix is enough for, on the same recorded gradients.

    Attributes:
        methods: one entry a method, the joint sum first, then those that hurt least.
        steps: how many steps were looked at.
        recorded: how many were recorded.
        sentence: the answer.
        caveats: sentences that belong beside the numbers.
    """

    methods: tuple[MethodHurt, ...]
    steps: int
    recorded: int
    sentence: str
    caveats: tuple[str, ...]
