"""Means, intervals, ties and the normalized score against what is known of them."""

import numpy as np
import pytest

from eureka_lite.evolve.statistics import fit, human_normalized, rank_correlation, tied


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    generator, hits = np.random.default_rng(1), 0
    for _ in range(400):
        low, high = fit(generator.normal(0.3, 1.0, (1, 64))).ci95
        hits += low <= 0.3 <= high
    assert 0.92 * 400 <= hits <= 0.97 * 400


def test_more_training_seeds_that_disagree_widen_the_interval():
    generator = np.random.default_rng(0)
    noise = generator.normal(0.0, 0.1, (3, 64))
    alike, apart = fit(noise + 0.5), fit(noise + np.array([[0.2], [0.5], [0.8]]))
    assert apart.ci95[1] - apart.ci95[0] > 3 * (alike.ci95[1] - alike.ci95[0])
    assert (apart.worlds, apart.training_seeds) == (64, 3)
    assert apart.mean == pytest.approx(0.5, abs=0.02)


def test_ties_are_paired_over_worlds():
    generator = np.random.default_rng(0)
    hard = generator.uniform(0.0, 1.0, (1, 64))  # some worlds are hard for everyone
    assert tied(hard, hard)
    assert not tied(hard, hard - 0.02 + generator.normal(0.0, 0.01, (1, 64)))
    assert tied(hard, hard + generator.normal(0.0, 0.3, (1, 64)))


def test_the_human_normalized_score():
    sparse, human, method = (np.full((3, 16), value) for value in (0.2, 0.6, 0.8))
    assert human_normalized(method, human, sparse) == {"value": pytest.approx(1.5), "ci95": pytest.approx([1.5, 1.5])}
    assert human_normalized(method, sparse, human) == {"value": pytest.approx(0.5), "ci95": pytest.approx([0.5, 0.5])}
    assert human_normalized(method, human, human) is None
    assert human_normalized(method, None, sparse) is None


def test_rank_correlation_is_spearmans():
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert rank_correlation(x, np.exp(x)) == pytest.approx(1.0)
    assert rank_correlation(x, -(x**3)) == pytest.approx(-1.0)
    assert rank_correlation(x, np.array([1.0, 1.0, 2.0, 2.0, 3.0])) == pytest.approx(0.9486833)  # scipy 1.17
    assert rank_correlation(x, np.ones(5)) is None
