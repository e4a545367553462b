"""The heat map: standardised features, rows in the order of the response."""

import numpy as np
import pytest
import scipy.sparse as sp

from ksupport.explain.figures import fewer, heat_of
from ksupport.losses import Cox, Logistic, Squared

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 8)) * 3 + 1
EFFECTS = np.array([0, -1.0, 2.0, 0, 0, 1.0, 0, 0])
ETA = X @ EFFECTS
STANDARD = (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_go_by_the_response_and_features_by_sign(kind):
    y = RNG.standard_normal(50)
    heat = heat_of(Squared(), kind(X), y, ETA, EFFECTS, [1, 2, 5])
    assert heat.features.tolist() == [2, 5, 1]  # those that raise the response on top
    assert heat.rows.tolist() == np.argsort(y).tolist()
    np.testing.assert_allclose(heat.values, STANDARD[heat.rows][:, [2, 5, 1]].T)


def test_rows_of_a_class_go_by_what_is_predicted_and_survival_by_time():
    y = (RNG.uniform(size=50) < 0.5).astype(float)
    heat = heat_of(Logistic(), X, y, ETA, EFFECTS, [2])
    assert (np.diff(heat.response) >= 0).all()
    for each in (0, 1):
        assert (np.diff(ETA[heat.rows][heat.response == each]) >= 0).all()
    times = np.column_stack([RNG.exponential(size=50), y])
    heat = heat_of(Cox(), X, times, ETA, EFFECTS, [2])
    assert (heat.kind, heat.response.tolist()) == ("survival", np.sort(times[:, 0]).tolist())
    np.testing.assert_array_equal(heat.event, y[heat.rows])


def test_of_many_rows_neighbours_are_averaged():
    heat = heat_of(Squared(), X, ETA, ETA, EFFECTS, [2, 5])
    values, response, event = fewer(heat, 10)
    np.testing.assert_allclose(values, heat.values.reshape(2, 10, 5).mean(axis=2))
    np.testing.assert_allclose(response, heat.response.reshape(10, 5).mean(axis=1))
    assert event.tolist() == [1] * 10
    assert fewer(heat, 100)[0].shape == (2, 50)


def test_a_constant_feature_has_no_colour():
    flat = np.c_[X, np.ones(50)]
    heat = heat_of(Squared(), flat, ETA, ETA, np.append(EFFECTS, 1.0), [8])
    assert not heat.values.any()
