"""The identities that the paper derives for its two examples hold for what we draw."""

from fractions import Fraction

import numpy as np
import pytest

from ksupport.datasets import make_example1, make_fmri_process


def conditions(X, w):
    """Sizes of <X_S^+ x_l, w_S>, of which IRKSN asks that those in S exceed the others."""
    S = w != 0
    certificate = np.linalg.pinv(X[:, S], rcond=1e-10).T @ w[S]
    return np.abs(X[:, S].T @ certificate), np.abs(X[:, ~S].T @ certificate)


@pytest.mark.parametrize("seed", [0, 1, 2, 7])
def test_example1_is_noiseless_and_of_rank_three(seed):
    X, y, w = make_example1(np.random.RandomState(seed))
    assert X.shape == (4, 5)
    assert np.linalg.matrix_rank(X) == np.linalg.matrix_rank(X[:, :3]) == 3
    np.testing.assert_allclose(X @ w, y, rtol=1e-13)
    np.testing.assert_array_equal(w, [1, 1, -4, 0, 0])


def test_example1_uses_the_draws_feature_by_feature():
    rng = np.random.RandomState(2)
    x0, x1, x2 = rng.normal(size=4), rng.normal(size=4), rng.normal(size=4)
    X, y, _ = make_example1()
    np.testing.assert_allclose(X[:, :3], np.column_stack([x0, x1, x2]) / 4, rtol=1e-15)
    np.testing.assert_allclose(y, (x0 + x1 - 4 * x2) / 4, rtol=1e-13)
    np.testing.assert_allclose(X[:, 3], (9 * x0 + 6 * x1 + 2 * x2) / 44, rtol=1e-13)
    np.testing.assert_allclose(X[:, 4], (x0 / 3 + 14 * x1 / 15 + 2 * x2 / 15) / 4, rtol=1e-13)


@pytest.mark.parametrize("seed", [0, 2])
def test_example1_meets_the_condition_of_irksn_but_not_that_of_l1(seed):
    X, _, w = make_example1(seed)
    generators = np.linalg.pinv(X[:, :3]) @ X[:, 3:]  # the paper's w3 and w4
    np.testing.assert_allclose(np.linalg.norm(generators, axis=0), 1.0, rtol=1e-10)
    with_signs = np.abs(np.sign(w[:3]) @ generators)
    expected = [float(Fraction(13, 11)), float(Fraction(17, 15))]
    np.testing.assert_allclose(with_signs, expected, rtol=1e-10)
    assert with_signs.max() > 1  # the l1 condition asks for less than 1
    _, off = conditions(X, w)
    np.testing.assert_allclose(off, [7 / 11, 11 / 15], rtol=1e-10)
    assert off.max() < np.abs(w[:3]).min()  # the condition of IRKSN


@pytest.mark.parametrize("target", ["gaussian", "labels"])
@pytest.mark.parametrize("seed", [0, 5])
def test_example2_has_the_unit_model_as_least_norm_solution_on_its_support(target, seed):
    X, y, w = make_fmri_process(80, 300, target=target, random_state=seed)
    S = w != 0
    assert np.linalg.norm(w) == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(X @ w, y, atol=1e-13)
    np.testing.assert_allclose(np.linalg.pinv(X[:, S], rcond=1e-10) @ y, w[S], rtol=1e-10)


def test_example2_is_not_injective_on_its_support():
    X, y, w = make_fmri_process(80, 300, random_state=0)
    X_S = X[:, w != 0]
    assert np.linalg.matrix_rank(X_S) == 1
    np.testing.assert_allclose(X_S, np.outer(y, w[w != 0]), rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_example2_meets_the_condition_of_irksn(seed):
    X, _, w = make_fmri_process(400, 300, random_state=seed)
    on, off = conditions(X, w)
    np.testing.assert_allclose(on, np.abs(w[w != 0]), rtol=1e-10)  # as the paper finds
    assert off.max() < on.min()


def test_other_regions_of_example2_are_disjoint_and_of_rank_one():
    size, others = 7, 4
    X, _, w = make_fmri_process(
        50, 60, region_size=size, n_other_regions=others, background=0.0, random_state=1
    )
    active = np.any(X != 0, axis=0)
    assert np.count_nonzero(w) == size
    assert np.count_nonzero(active) == size * (1 + others)
    assert np.linalg.matrix_rank(X) == 1 + others
    S = np.flatnonzero(w)
    np.testing.assert_array_equal(S, np.arange(S[0], S[0] + size))


def test_regions_of_example2_may_fill_the_whole_line():
    X, _, _ = make_fmri_process(
        10, 12, region_size=4, n_other_regions=2, background=0.0, random_state=0
    )
    assert np.all(np.any(X != 0, axis=0))


def test_example2_is_independent_of_its_stimulus_off_the_support():
    n = 20_000
    X, y, w = make_fmri_process(n, 40, region_size=5, n_other_regions=2, random_state=0)
    scale = X.std(axis=0)[w == 0]
    correlations = (y @ X[:, w == 0]) / n / scale
    assert np.abs(correlations).max() < 5 / np.sqrt(n)


def test_labels_of_example2_are_balanced():
    _, y, _ = make_fmri_process(30, 200, target="labels", random_state=0)
    assert set(y) == {-1.0, 1.0}
    assert y.sum() == 0


def test_noise_of_example2_has_the_ratio_asked_for():
    X, y, w = make_fmri_process(30, 200, snr=2.5, random_state=0)
    assert np.linalg.norm(X @ w) / np.linalg.norm(y - X @ w) == pytest.approx(2.5, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"region_size": 126}, "region_size must be an integer between 1 and 125, got 126"),
        ({"background": -0.1}, r"background must be in \[0, inf\), got -0.1"),
        ({"target": "labelled"}, "target must be one of .*, got 'labelled'"),
        ({"n_other_regions": -1}, "n_other_regions must be an integer of at least 0, got -1"),
    ],
)
def test_errors_name_argument_and_value(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_fmri_process(**arguments)
