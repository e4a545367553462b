"""Probabilities by a criterion alone, and by folds alone."""

import numpy as np
import pytest

from ksupport import IRKSNCV, IRKSNIC, PathCV, PathIC
from ksupport.choosing.shares import by_scores
from ksupport.datasets import make_block_data, make_correlated_data


def test_weights_are_those_of_the_criterion():
    p = by_scores([(0, 1), (1,), ()], np.array([0.0, 2.0, 4.0]), 3)
    weights = np.exp([0.0, -1.0, -2.0])
    np.testing.assert_allclose(p, [weights[0], weights[0] + weights[1], 0] / weights.sum())


@pytest.mark.parametrize("model", [IRKSNIC(), PathIC("iht"), IRKSNCV(random_state=0)], ids=str)
def test_sure_features_are_probable(model):
    truth = np.zeros(60)
    truth[[3, 20, 41]] = 3.0, -2.0, 2.0
    X, y, w = make_correlated_data(80, 60, rho=0.4, w_true=truth, snr=5, random_state=0)
    model.fit(X, y)
    assert model.probability_.shape == (60,)
    assert model.probability_[w != 0].min() > 0.9
    assert np.median(model.probability_[w == 0]) < 0.1


def test_groups_on_folds():
    X, y, w = make_block_data(60, 100, random_state=0)
    for model in (PathCV("irksn", {"k": [8, 30]}), IRKSNCV(refit=None)):
        p = model.fit(X, y).probability_
        assert (p >= 0).all()
        assert (p <= 1).all()
        assert p[w != 0].mean() > 3 * p[w == 0].mean()
