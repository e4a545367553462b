"""scikit-learn's checks of every estimator with its defaults; those excused, with the reason.

An excuse that is no longer needed fails: expected failures are strict.
Settings that change what is walked or chosen are checked in the files of their classes.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import AutoIRKSNSurvival, estimators

RELATIVE = "weights are relative: unlike repetitions, they do not change how many rows are counted"
WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
EXCUSED = {
    "KSN": dict.fromkeys(
        WEIGHTS, RELATIVE
    ),  # lam is a penalty beside a sum of squares, which repeated rows make larger
    "PathIC": dict.fromkeys(
        WEIGHTS, RELATIVE
    ),  # EBIC counts rows; PathIC(weights="repetitions") passes, in test_ic.py
}


class OfTimes(AutoIRKSNSurvival):
    """Takes the checks' y, a vector, for times from zero on, all of them those of events."""

    def fit(self, X, y, sample_weight=None, groups=None):
        return super().fit(X, as_times(y), sample_weight, groups)

    def score(self, X, y):
        return super().score(X, as_times(y))


def as_times(y):
    if y is None or np.asarray(y).ndim != 1:
        return y
    time = np.asarray(np.real(np.asarray(y)), float)
    return np.column_stack([time - np.min(time, initial=0.0), np.ones(len(time))])


def every_estimator():
    for name in estimators.__all__:
        kind = getattr(estimators, name)
        yield OfTimes() if kind is AutoIRKSNSurvival else kind()


def excused(estimator):
    return EXCUSED.get(type(estimator).__name__, {})


@parametrize_with_checks(list(every_estimator()), expected_failed_checks=excused)
@pytest.mark.filterwarnings(
    "ignore:No signal:ksupport.NoSignalWarning",  # the checks hand in noise
    "ignore:No features were selected:UserWarning",  # legitimate: transform has no columns then
)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)
