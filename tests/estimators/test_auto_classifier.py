"""`AutoIRKSNClassifier`, and `AutoIRKSN` by losses other than squares."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ksupport import AutoIRKSN, AutoIRKSNClassifier

NOISE = "ignore:No signal:ksupport.NoSignalWarning"  # the checks hand in noise
EMPTY = "ignore:No features were selected:UserWarning"  # legitimate: transform then has no columns


@parametrize_with_checks(
    [
        AutoIRKSNClassifier(),
        AutoIRKSNClassifier(cv=3, class_weight="balanced"),
        AutoIRKSN(loss="huber"),
        AutoIRKSN(loss="poisson"),
    ]
)
@pytest.mark.filterwarnings(EMPTY, NOISE)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)
