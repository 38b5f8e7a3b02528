"""What a set of measured episodes says about a policy: means, intervals, ties.

Fitness comes as [training seeds, worlds]; all candidates were measured on the same worlds, so comparisons are paired.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eureka_lite.store.formats import Fit

RESAMPLES = 2000
LEVEL = (2.5, 97.5)


def _indexes(seeds: int, worlds: int) -> tuple[np.ndarray, np.ndarray]:
    """Bootstrap draws [RESAMPLES, seeds] and [RESAMPLES, worlds], the same for equal shapes."""
    generator = np.random.default_rng(0)
    return generator.integers(0, seeds, (RESAMPLES, seeds)), generator.integers(0, worlds, (RESAMPLES, worlds))


def resampled_means(values: np.ndarray) -> np.ndarray:
    """Means [RESAMPLES] of [seeds, worlds] with seeds and worlds drawn with replacement (Efron 1979), crosswise."""
    seeds, worlds = _indexes(*values.shape)
    means = np.empty(RESAMPLES)
    for i in range(RESAMPLES):
        means[i] = values[seeds[i]][:, worlds[i]].mean()
    return means


def fit(values: np.ndarray) -> Fit:
    """Mean and 95 % bootstrap interval of [seeds, worlds].

    With one seed the interval speaks of worlds only, not of what another training would bring.
    """
    low, high = np.percentile(resampled_means(values), LEVEL)
    return Fit(float(values.mean()), (float(low), float(high)), values.shape[1], values.shape[0])


def tied(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether the 95 % interval of the paired difference of two [seeds, worlds] includes 0."""
    seeds = min(len(first), len(second))
    low, high = np.percentile(resampled_means(first[:seeds] - second[:seeds]), LEVEL)
    return bool(low <= 0.0 <= high)


def human_normalized(method: np.ndarray, human: np.ndarray | None, sparse: np.ndarray | None) -> dict[str, Any] | None:
    """(method - sparse) / |human - sparse| (Ma et al. 2024, section 4.1) with a 95 % interval.

    None where a baseline is missing, or where human and sparse cannot be told apart.
    """
    if human is None or sparse is None or tied(human, sparse):
        return None
    value = (method.mean() - sparse.mean()) / abs(human.mean() - sparse.mean())
    m, h, s = (resampled_means(v) for v in (method, human, sparse))
    low, high = np.percentile((m - s) / np.maximum(np.abs(h - s), 1e-9), LEVEL)
    return {"value": float(value), "ci95": [float(low), float(high)]}


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float | None:
    """Spearman's correlation of two [n]; None where one of them is constant."""
    if len(a) < 3 or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return None
    ranks = [_ranks(x) for x in (a, b)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(x: np.ndarray) -> np.ndarray:
    """Ranks, equal values sharing their mean rank."""
    order = np.argsort(x, kind="stable")
    ranks = np.empty(len(x))
    ranks[order] = np.arange(len(x))
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.bincount(inverse, ranks) / counts)[inverse]
