"""Generators: equal to benchopt's draw for draw, with the promised covariances and noise."""

import numpy as np
import pytest
from scipy import sparse

from ksupport.datasets import make_block_data, make_correlated_data

SETTINGS = [
    {},
    {"n_samples": 30, "n_features": 50, "rho": 0.5, "snr": 1.0},
    {"n_samples": 7, "n_features": 23, "rho": 0.0, "snr": 0.1, "density": 0.5},
    {"n_samples": 20, "n_features": 10, "rho": 0.9, "snr": np.inf, "density": 1.0},
    {"n_samples": 20, "n_features": 10, "rho": 0.3, "snr": 0},
    {"n_samples": 15, "n_features": 40, "rho": 0.7, "snr": 2.0, "n_tasks": 3},
    {"n_samples": 15, "n_features": 12, "snr": 2.0, "w_true": np.arange(12.0)},
    {"n_samples": 25, "n_features": 30, "rho": 0.6, "snr": 3.0, "X_density": 0.4},
    {"n_samples": 9, "n_features": 4, "rho": 0.5, "snr": 1.0},  # int(.2 * 4): no true feature
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 42])
def test_it_is_benchopts_draw_number_for_number(setting, seed):
    reference = pytest.importorskip("benchopt.datasets").make_correlated_data
    ours = make_correlated_data(**setting, random_state=np.random.RandomState(seed))
    theirs = reference(**setting, random_state=np.random.RandomState(seed))
    assert type(ours[0]) is type(theirs[0])
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(*(x.toarray() if sparse.issparse(x) else x for x in (a, b)))


def test_the_random_state_is_left_where_benchopt_leaves_it():
    reference = pytest.importorskip("benchopt.datasets").make_correlated_data
    ours, theirs = np.random.RandomState(3), np.random.RandomState(3)
    for _ in range(2):  # the second draw starts where the first one ended
        X, *_ = make_correlated_data(5, 6, random_state=ours)
        X_ref, *_ = reference(5, 6, random_state=theirs)
        np.testing.assert_array_equal(X, X_ref)
    assert ours.randint(10**9) == theirs.randint(10**9)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_the_covariance_is_that_of_an_autoregression(rho):
    n, d = 40_000, 8
    X, _, _ = make_correlated_data(n, d, rho=rho, random_state=0)
    expected = float(rho) ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    # An entry of the sample covariance has a standard error of at most sqrt(2/n).
    assert np.abs(X.T @ X / n - expected).max() < 5 * np.sqrt(2 / n)


@pytest.mark.parametrize("snr", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("n_tasks", [1, 2])
def test_the_signal_to_noise_ratio_is_exact(snr, n_tasks):
    X, y, w = make_correlated_data(20, 30, rho=0.5, snr=snr, n_tasks=n_tasks, random_state=1)
    signal = X @ w
    assert np.linalg.norm(signal) / np.linalg.norm(y - signal) == pytest.approx(snr, rel=1e-10)


def test_without_noise_the_response_is_the_signal():
    X, y, w = make_correlated_data(20, 30, snr=np.inf, random_state=1)
    np.testing.assert_array_equal(y, X @ w)


def test_tasks_share_one_support():
    _, _, w = make_correlated_data(10, 50, n_tasks=4, random_state=0)
    assert w.shape == (50, 4)
    assert set(np.count_nonzero(w, axis=1)) == {0, 4}


@pytest.mark.parametrize("to_kind", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_a_given_design_is_used_as_it_is(to_kind):
    design = np.random.default_rng(0).normal(size=(12, 9))
    given = to_kind(design)
    X, y, w = make_correlated_data(X=given, snr=2.0, density=0.5, random_state=0)
    assert X is given
    assert np.count_nonzero(w) == 4
    assert np.linalg.norm(design @ w) / np.linalg.norm(y - design @ w) == pytest.approx(2.0)


def test_a_given_model_is_not_written_to():
    w_true = np.ones(5)
    _, _, w = make_correlated_data(6, 5, w_true=w_true, random_state=0)
    w[0] = 7.0
    assert w_true[0] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rho": 1.0}, r"rho must be in \[0, 1\), got 1.0"),
        ({"snr": -1.0}, r"snr must be in \[0, inf\], got -1.0"),
        ({"density": 0.0}, r"density must be in \(0, 1\], got 0.0"),
        ({"X_density": 1.5}, r"X_density must be in \(0, 1\], got 1.5"),
        ({"n_samples": 0}, "n_samples must be an integer of at least 1, got 0"),
        ({"n_features": 2.5}, "n_features must be an integer of at least 1, got 2.5"),
        ({"w_true": np.ones(3)}, r"w_true must have shape \(50, 1\).* got \(3,\)"),
        ({"X": np.ones((4, 3)), "n_features": 5}, "n_features must .* own 3, got 5"),
        ({"X": np.ones((4, 3)), "rho": 0.5}, "cannot change the given X, got rho=0.5"),
        ({"X": np.ones(3)}, "Expected 2D array, got 1D array instead"),
        ({"X": np.ones((0, 3))}, r"0 sample\(s\) .* while a minimum of 1 is required"),
        ({"X": np.full((4, 3), np.nan)}, "Input X contains NaN"),
        ({"w_true": ["a"] * 50}, "w_true must be an array of numbers"),
        ({"w_true": [np.nan] * 50}, "w_true must be real and finite"),
        ({"w_true": [1j] * 50}, "w_true must be real and finite"),
        ({"snr": 1e-320}, "snr must leave the noise finite, got 1e-320; 0 gives noise alone"),
    ],
)
def test_errors_name_argument_and_value(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_correlated_data(**arguments)


def test_a_given_design_may_be_a_data_frame(rng):
    pd = pytest.importorskip("pandas")
    X = rng.standard_normal((6, 4))
    for mine, other in zip(
        make_correlated_data(X=pd.DataFrame(X), random_state=0),
        make_correlated_data(X=X, random_state=0),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_blocks_are_equicorrelated_and_independent(rho):
    n, d, size = 40_000, 12, 4
    X, _, _ = make_block_data(
        n, d, block_size=size, n_active_blocks=1, rho=rho, snr=np.inf, random_state=0
    )
    block = np.arange(d) // size
    expected = np.where(block[:, None] == block, rho, 0.0)
    np.fill_diagonal(expected, 1.0)
    assert np.abs(X.T @ X / n - expected).max() < 5 * np.sqrt(2 / n)


def test_features_of_a_block_of_correlation_one_are_copies():
    X, _, _ = make_block_data(10, 6, block_size=3, n_active_blocks=1, rho=1.0, random_state=0)
    assert np.linalg.matrix_rank(X) == 2
    np.testing.assert_array_equal(X[:, 0], X[:, 2])


@pytest.mark.parametrize("coef", ["equal", "gaussian"])
def test_blocks_are_active_as_a_whole_or_not_at_all(coef):
    _, _, w = make_block_data(5, 60, block_size=6, n_active_blocks=4, coef=coef, random_state=3)
    sizes = np.count_nonzero(w.reshape(10, 6), axis=1)
    assert sorted(sizes) == [0] * 6 + [6] * 4
    assert (np.unique(w[w != 0]).size == 1) == (coef == "equal")


def test_the_signal_to_noise_ratio_of_blocks_is_exact():
    X, y, w = make_block_data(30, 40, snr=0.7, random_state=0)
    assert np.linalg.norm(X @ w) / np.linalg.norm(y - X @ w) == pytest.approx(0.7, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"block_size": 7}, "block_size must divide n_features=200, got 7, which leaves 4"),
        ({"n_active_blocks": 21}, "n_active_blocks must be an integer between 1 and 20, got 21"),
        ({"coef": "ones"}, "coef must be one of .*, got 'ones'"),
        ({"rho": 1.1}, r"rho must be in \[0, 1\], got 1.1"),
    ],
)
def test_errors_of_blocks_name_argument_and_value(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_block_data(**arguments)
