"""Warnings point at the line of the caller."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksupport import IRKSN, AutoIRKSN, AutoIRKSNSurvival, NoSignalWarning

RNG = np.random.default_rng(0)
X, NOISE = RNG.standard_normal((40, 12)), RNG.standard_normal(40)


@pytest.mark.parametrize(
    ("model", "y", "category"),
    [
        (AutoIRKSN(), NOISE, NoSignalWarning),
        (AutoIRKSNSurvival(), np.column_stack([np.exp(NOISE), NOISE < 0.5]), NoSignalWarning),
        (IRKSN(k=20), NOISE, UserWarning),
        (make_pipeline(StandardScaler(), IRKSN(k=20)), NOISE, UserWarning),
    ],
    ids=str,
)
def test_a_warning_of_a_fit_points_here(model, y, category):
    with pytest.warns(category) as warned:
        model.fit(X, y)
    assert {each.filename for each in warned} == {__file__}
