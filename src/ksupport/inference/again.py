"""An estimator fitted again, on other rows or another response."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone

from .._common.phases import phase
from ..posterior.judgement import NoSignalWarning
from ..walking import whole_walks_only


def judging_copy(estimator: Any) -> Any:
    """An unfitted copy of an estimator that gives probabilities."""
    twin = clone(estimator)
    if not hasattr(twin, "_p_value"):
        raise TypeError(
            "estimator must be AutoIRKSN, AutoIRKSNClassifier or AutoIRKSNSurvival, got "
            f"{estimator!r}"
        )
    return twin


def fitted_again(estimator: Any, X: Any, y: Any, groups: Any = None) -> Any:
    """A copy fitted on these data, without rows held out, which decide nothing."""
    twin = judging_copy(estimator)
    twin._holds_out = False
    with warnings.catch_warnings(), whole_walks_only(), phase(""):
        warnings.simplefilter("ignore", NoSignalWarning)
        return twin.fit(X, y, groups=groups)
