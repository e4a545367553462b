"""What all estimators are asked."""

import numpy as np
import pytest
from sklearn.base import is_classifier

from ksupport import AutoIRKSNSurvival


@pytest.fixture(scope="session")
def as_asked():
    """Numbers as an estimator takes them: as they are, as classes, or as times of events."""

    def given(model, y):
        if isinstance(model, AutoIRKSNSurvival):
            return np.column_stack([np.exp(-y / np.std(y)), np.ones(len(y))])
        return y > 0 if is_classifier(model) else y

    return given
