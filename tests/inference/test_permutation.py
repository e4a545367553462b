"""The permutation test: exact on noise, and the one of the fit."""

import numpy as np
import pytest
from scipy.stats import kstest

from ksupport import IRKSNCV, AutoIRKSN, AutoIRKSNClassifier, PermutationTest, permutation_test


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a covariate"])
def test_p_values_of_noise_are_uniform(beside):
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.standard_exponential((25, 8))
        y = 3.0 * X[:, 0] * beside + rng.standard_t(3, 25)
        model = AutoIRKSN(unpenalized=[0] if beside else None, random_state=seed)
        found.append(permutation_test(model, X, y, n_permutations=39).p_value)
    assert kstest(found, "uniform").pvalue > 0.01
    assert np.mean(np.array(found) <= 0.05) <= 0.12


def test_it_is_that_of_a_fit(rng):
    X = rng.standard_normal((40, 10))
    y = X[:, 2] + rng.standard_normal(40)
    model = AutoIRKSN(random_state=3)
    assert permutation_test(model, X, y, n_permutations=99).p_value == model.fit(X, y).p_value_


def test_blocks_of_permutations_change_nothing(rng, monkeypatch):
    X, y = rng.standard_normal((30, 12)), rng.standard_normal(30)
    whole = permutation_test(AutoIRKSN(), X, y, n_permutations=60)
    monkeypatch.setattr("ksupport.posterior.global_test.AT_ONCE", 7)
    assert permutation_test(AutoIRKSN(), X, y, n_permutations=60) == whole


def test_groups_of_rows_are_permuted_as_groups(rng):
    groups = np.repeat(np.arange(12), 5)
    X = np.repeat(rng.standard_normal((12, 30)), 5, axis=0) + 0.1 * rng.standard_normal((60, 30))
    y = np.repeat(rng.standard_normal(12), 5) + 0.1 * rng.standard_normal(60)
    assert permutation_test(AutoIRKSN(), X, y, n_permutations=99).p_value < 0.05
    assert permutation_test(AutoIRKSN(), X, y, n_permutations=99, groups=groups).p_value > 0.05


def test_classes_are_tested_too(rng):
    X = rng.standard_normal((60, 10))
    y = np.where(X[:, 4] + 0.3 * rng.standard_normal(60) > 0, "yes", "no")
    assert permutation_test(AutoIRKSNClassifier(), X, y, n_permutations=99).p_value <= 0.03


def test_the_error_is_that_of_a_share():
    found = PermutationTest(0.2, 99)
    assert found.standard_error == pytest.approx(0.04)
    assert found.words == (
        "Of 99 permutations of the rows of the response, 19 were explained as well as the response "
        "itself: p-value 0.200 ± 0.040."
    )


def test_what_cannot_be_tested_is_said(rng):
    X, y = rng.standard_normal((20, 5)), rng.standard_normal(20)
    with pytest.raises(TypeError, match="estimator must be AutoIRKSN"):
        permutation_test(IRKSNCV(), X, y)
    with pytest.raises(ValueError, match="n_permutations must be an integer between 1 and"):
        permutation_test(AutoIRKSN(), X, y, n_permutations=0)
