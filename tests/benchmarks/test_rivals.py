"""Rivals that are installed for the benchmarks alone do what their adapters take for granted."""

import numpy as np
import pytest

from benchmarks.selection_rivals import METHODS
from benchmarks.susie import SuSiE


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 30))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    w = np.zeros(30)
    w[[3, 17]] = 1.0, -0.7
    y = X @ w + 0.5 * rng.standard_normal(100)
    return X, y - y.mean(), w


def test_the_port_of_susie_and_the_plain_one_say_the_same(data):
    pytest.importorskip("pysusie")
    X, y, w = data
    port, plain = METHODS["pysusie"]().fit(X, y), SuSiE().fit(X, y)
    assert np.flatnonzero(port.support_).tolist() == [3, 17]
    np.testing.assert_allclose(port.probability_, plain.probability_, atol=0.01)
    np.testing.assert_allclose(port.coef_, plain.coef_, atol=0.01)
    sets = [sorted(S.tolist() for S in m.credible_sets_) for m in (port, plain)]
    assert sets[0] == sets[1] == [[3], [17]]


def test_the_port_of_susie_has_no_sets_where_there_is_no_signal(data):
    pytest.importorskip("pysusie")
    X, _, _ = data
    assert (
        METHODS["pysusie"]().fit(X, np.random.default_rng(1).standard_normal(100)).credible_sets_
        == []
    )


def test_integrated_path_stability_selection_gives_one_answer_and_its_coefficients(data):
    pytest.importorskip("ipss")
    X, y, w = data
    one, same = (METHODS["IPSS"]().fit(X, y) for _ in range(2))
    assert np.flatnonzero(one.support_).tolist() == [3, 17]
    np.testing.assert_array_equal(one.support_, same.support_)
    assert np.abs(one.coef_ - w).max() < 0.2
    assert not one.coef_[~one.support_].any()
