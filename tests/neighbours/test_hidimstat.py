"""Knockoffs by hidimstat: many features are selected, and few lead to a warning."""

import warnings

import numpy as np
import pytest

from ksupport import IRKSN
from ksupport.datasets import make_correlated_data
from ksupport.neighbours.hidimstat import knockoffs

MODEL = IRKSN(k=15, alpha=0.1, standardize=True, stopping="held_out")


def test_rates_are_checked_before_anything_is_imported():
    with pytest.raises(ValueError, match=r"fdr must be in \(0, 1\), got 2"):
        knockoffs(MODEL, np.zeros((4, 2)), np.zeros(4), fdr=2)


def test_many_features_are_named_and_few_are_told_to_be_too_few():
    pytest.importorskip("hidimstat", reason="hidimstat comes with the extra 'knockoffs'")
    truth = np.zeros(60)
    truth[:15] = 2.0
    X, y, w = make_correlated_data(200, 60, rho=0.3, w_true=truth, snr=5, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="hidimstat")
        named = knockoffs(MODEL, X, y, fdr=0.2)
    assert named[:15].mean() > 0.8
    assert named[15:].mean() < 0.15
    with pytest.warns(UserWarning, match="select none or at least 1 / fdr = 10"):
        few = knockoffs(MODEL, X, X[:, 0] + 0.1 * y / y.std(), fdr=0.1)
    assert not few.any()
