"""Do predicted and measured gains rank alike? Rank correlations with intervals over whole networks."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from affinity.core.types import FloatArray

RESAMPLES: Final = 500
_LEAST: Final = 3

Pairs = Sequence[tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAgreement:
    """Rank correlations of predicted and measured gains, with 95 % percentile bootstrap intervals.

    Attributes:
        spearman, kendall: Spearman's rho and Kendall's tau-b; NaN where a side is constant or too short.
        spearman_low, spearman_high, kendall_low, kendall_high: bounds; NaN where unknown.
        compared: number of values compared.
        networks: number of networks they come from.
    """

    spearman: float
    kendall: float
    spearman_low: float
    spearman_high: float
    kendall_low: float
    kendall_high: float
    compared: int
    networks: int


def rank_agreement(pairs: Pairs, *, resamples: int = RESAMPLES, seed: int = 0) -> RankAgreement:
    """Rank correlations over all values, and how much they depend on which networks were measured.

    The tasks of a network are measured together, so whole networks are drawn again (a cluster bootstrap,
    Field & Welsh, 2007).

    Args:
        pairs: per network the predicted and the measured gains of its tasks.
        resamples: how many draws; 0 = no interval.
        seed: seed of the draws.
    """
    networks = len(pairs)
    found = _correlations(pairs)
    rng = np.random.default_rng(seed)
    drawn = (
        np.array(
            [
                _correlations([pairs[at] for at in rng.integers(networks, size=networks)])
                for _ in range(resamples)
            ]
        )
        if resamples and networks >= _LEAST and not np.isnan(found[0])
        else np.full((1, 2), np.nan)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a draw of equal networks has no correlation
        (low, high) = np.nanpercentile(drawn, [2.5, 97.5], axis=0)
    return RankAgreement(
        spearman=found[0],
        kendall=found[1],
        spearman_low=float(low[0]),
        spearman_high=float(high[0]),
        kendall_low=float(low[1]),
        kendall_high=float(high[1]),
        compared=sum(len(left) for left, _ in pairs),
        networks=networks,
    )


def _correlations(pairs: Pairs) -> tuple[float, float]:
    from scipy.stats import kendalltau, spearmanr

    if not pairs:
        return float("nan"), float("nan")
    guessed = np.concatenate([left for left, _ in pairs])
    measured = np.concatenate([right for _, right in pairs])
    if len(guessed) < _LEAST or np.ptp(guessed) == 0 or np.ptp(measured) == 0:
        return float("nan"), float("nan")
    return float(spearmanr(guessed, measured).statistic), float(kendalltau(guessed, measured).statistic)
