"""Stability selection: complementary halves, frequencies, and the bound of Shah and Samworth."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import BaseEstimator
from sklearn.linear_model import Lasso
from sklearn.neighbors import KNeighborsRegressor

from ksupport import IHT, IRKSN, IRKSNIC, stability_selection
from ksupport.choosing import stability


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 40))
    return X, X[:, :3] @ [3.0, -3.0, 3.0] + rng.standard_normal(80)


class Remembers(BaseEstimator):
    """Chooses the features below ``size`` at random, and keeps the rows it was shown."""

    seen = []  # noqa: RUF012 - shared by clones on purpose

    def __init__(self, size=2, random_state=None):
        self.size = size
        self.random_state = random_state

    def fit(self, X, y):
        self.seen.append((np.asarray(y).tolist(), self.random_state))
        self.coef_ = np.zeros(X.shape[1])
        chosen = np.random.RandomState(self.random_state).choice(X.shape[1], self.size, False)
        self.coef_[chosen] = 1.0
        return self


@pytest.mark.parametrize("n", [20, 21])
def test_pairs_are_complementary_halves(n):
    Remembers.seen = []
    stability_selection(Remembers(), np.zeros((n, 5)), np.arange(n), n_pairs=7, random_state=0)
    halves = [set(rows) for rows, _ in Remembers.seen]
    assert len(halves) == 14
    for one, other in zip(halves[::2], halves[1::2], strict=True):
        assert len(one) == len(other) == n // 2
        assert not one & other
    assert len({tuple(sorted(half)) for half in halves}) == 14
    assert len({seed for _, seed in Remembers.seen}) == 14  # every fit has a seed of its own


def test_a_seed_that_was_given_is_kept():
    Remembers.seen = []
    stability_selection(Remembers(random_state=3), np.zeros((8, 5)), np.arange(8), n_pairs=2)
    assert {seed for _, seed in Remembers.seen} == {3}


def test_frequencies_sizes_and_the_bound_are_what_they_say(data):
    X, y = data
    result = stability_selection(IHT(k=4), X, y, n_pairs=10, threshold=0.8, random_state=1)
    by_hand = np.zeros(40)
    rng = np.random.RandomState(1)
    for _ in range(10):
        order = rng.permutation(80)
        for rows in (np.sort(order[:40]), np.sort(order[40:])):
            by_hand += IHT(k=4).fit(X[rows], y[rows]).support_ / 20
    np.testing.assert_allclose(result.frequency, by_hand)
    np.testing.assert_array_equal(result.support, by_hand >= 0.8 - 1e-9)
    assert result.average_size == pytest.approx(by_hand.sum()) == 4
    assert result.error_bound == pytest.approx(4**2 / ((2 * 0.8 - 1) * 40))


def test_the_bound_holds_for_a_choice_at_random(rng):
    """Every feature is chosen with probability q/d: all are unlikely, none should be stable."""
    errors, bounds = [], []
    for seed in range(30):
        result = stability_selection(
            Remembers(6), np.zeros((10, 20)), np.zeros(10), n_pairs=5, threshold=0.6,
            random_state=seed,
        )  # fmt: skip
        errors.append(result.support.sum())
        bounds.append(result.error_bound)
    assert np.mean(errors) <= np.mean(bounds)


def test_jobs_and_kinds_of_x_change_nothing(data):
    X, y = data
    settings = {"n_pairs": 4, "random_state": 0}
    expected = stability_selection(IRKSN(k=3, max_iter=50), X, y, **settings)
    for kind in (pd.DataFrame, sp.csr_array, np.ndarray.tolist):
        given = np.asarray(kind(X)) if kind is np.ndarray.tolist else kind(X)
        result = stability_selection(IRKSN(k=3, max_iter=50), given, y, n_jobs=2, **settings)
        np.testing.assert_array_equal(result.frequency, expected.frequency)


def test_any_estimator_with_coefficients_will_do(data):
    X, y = data
    result = stability_selection(Lasso(alpha=0.8), X, y, n_pairs=5, random_state=0)
    assert result.support[:3].all()


def test_features_of_a_selecting_class_are_found(data):
    X, y = data
    result = stability_selection(IRKSNIC(max_iter=200), X, y, n_pairs=10, random_state=0)
    np.testing.assert_array_equal(np.flatnonzero(result.support), [0, 1, 2])


def test_the_result_reads_well(data):
    X, y = data
    names = [f"<gene {j}>" for j in range(40)]
    result = stability_selection(
        IHT(k=3), pd.DataFrame(X, columns=names), y, n_pairs=5, random_state=0
    )
    text = str(result)
    count = result.support.sum()
    assert text.startswith(
        f"{count} of 40 features were selected on at least 75% of 10 half-samples; at most 0.45 "
    )
    assert "<gene 0>" in text
    never = [name for name, share in zip(names, result.frequency, strict=True) if share == 0]
    assert never
    assert not any(name in text for name in never)
    html = result._repr_html_()
    assert "&lt;gene 0&gt;" in html
    assert "<gene" not in html
    assert "x0" in str(stability_selection(IHT(k=3), X, y, n_pairs=2, random_state=0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.threshold = 0.9  # type: ignore[misc]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_pairs": 0}, "n_pairs must be an integer between 1 and 100000, got 0"),
        ({"n_pairs": 2.5}, "n_pairs .* got 2.5"),
        ({"threshold": 0.5}, r"threshold must be in \(0.5, 1\], got 0.5"),
        ({"threshold": 1.1}, "threshold .* got 1.1"),
        ({"threshold": "a"}, "threshold .* got 'a'"),
        ({"n_jobs": 0}, "n_jobs must be None, an integer of at least 1, .* got 0"),
    ],
)
def test_bad_parameters_are_named(data, params, message):
    with pytest.raises(ValueError, match=message):
        stability_selection(IHT(k=2), *data, **params)


def test_no_more_threads_are_asked_for_than_there_are_fits(data, monkeypatch):
    asked = []
    parallel = stability.Parallel  # type: ignore[attr-defined]

    def counting(n_jobs, **options):
        asked.append(n_jobs)
        return parallel(n_jobs=n_jobs, **options)

    monkeypatch.setattr(stability, "Parallel", counting)
    stability_selection(IHT(k=2), *data, n_pairs=2, n_jobs=100_000)
    assert asked == [4]


def test_more_pairs_than_anyone_waits_for_are_refused(data):
    with pytest.raises(ValueError, match="n_pairs must be an integer between 1 and 100000, got"):
        stability_selection(IHT(k=2), *data, n_pairs=10**20)


def test_what_chooses_no_features_is_refused(data):
    with pytest.raises(TypeError, match=r"estimator must have get_support\(\) or coef_ after fit"):
        stability_selection(KNeighborsRegressor(), *data, n_pairs=1)


@pytest.mark.parametrize("X", [None, 3.0, [1.0] * 60], ids=repr)
def test_what_has_no_rows_and_columns_is_refused(data, X):
    with pytest.raises(ValueError, match="X must have rows and columns"):
        stability_selection(IHT(k=2), X, data[1], n_pairs=1)


def test_too_few_samples_are_named(data):
    X, y = data
    with pytest.raises(ValueError, match=r"at least 4 samples, got n_samples=3"):
        stability_selection(IHT(k=2), X[:3], y[:3])
    assert stability_selection(IHT(k=1), X[:4], y[:4], n_pairs=1).n_pairs == 1
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        stability_selection(IHT(k=2), X, y[:-1])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_half_samples_and_what_is_done_on_each_are_heard(data, n_jobs, heard):
    X, y = data
    stability_selection(IHT(k=2, max_iter=5), X, y, n_pairs=3, n_jobs=n_jobs, random_state=0)
    assert heard.shares("half-samples") == [1.0]
    assert len(heard.shares("IHT")) == len(heard.shares("walking a path")) == 6


class Pressed(IHT):
    """Feels Ctrl-C in the middle of its third fit."""

    fits = []  # noqa: RUF012 - shared by clones on purpose

    def _metrics(self, problem, target):
        self.fits.append(1)
        if len(self.fits) != 3:
            return {}
        blocks = []

        def metric(block):
            blocks.append(1)
            if len(blocks) == 2:
                raise KeyboardInterrupt
            return np.zeros(len(block.t))

        return {"zero": metric}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_ctrl_c_is_no_half_sample(data, n_jobs):
    Pressed.fits = []
    with pytest.raises(KeyboardInterrupt):
        stability_selection(Pressed(k=3), *data, n_pairs=20, n_jobs=n_jobs, random_state=0)
    assert len(Pressed.fits) < 20


def as_arrow(X, names):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: column for name, column in zip(names, X.T, strict=True)})


def as_xarray(X, names):
    xarray = pytest.importorskip("xarray")
    return xarray.DataArray(X, dims=("row", "columns"), coords={"columns": names})


KINDS = {
    "lists": (lambda X, names: X.tolist(), False),
    "pandas": (lambda X, names: pd.DataFrame(X, columns=names), True),
    "polars": (lambda X, names: pytest.importorskip("polars").DataFrame(X, names), True),
    "pyarrow": (as_arrow, True),
    "xarray": (as_xarray, False),
    "COO": (lambda X, names: sp.coo_array(X), False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_x_whose_rows_can_be_taken(data, kind):
    X, y = data
    make, named = KINDS[kind]
    names = [f"g{j}" for j in range(40)]
    expected = stability_selection(IHT(k=3), X, y, n_pairs=3, random_state=0)
    result = stability_selection(IHT(k=3), make(X, names), y.tolist(), n_pairs=3, random_state=0)
    np.testing.assert_array_equal(result.frequency, expected.frequency)
    assert result.feature_names == (tuple(names) if named else expected.feature_names)


def test_an_operator_has_no_rows_to_take(data):
    X, y = data
    with pytest.raises(TypeError, match=r"rows of X, which a LinearOperator does not support"):
        stability_selection(IHT(k=3), aslinearoperator(X), y)


def test_the_bound_for_unimodal_shares_is_that_of_the_paper(data):
    X, y = data
    result = stability_selection(IRKSN(k=4, max_iter=20), X, y, n_pairs=50, random_state=0)
    q, d = result.average_size, 40
    assert result.unimodal_bound(0.7) == pytest.approx(q**2 / d / (2 * (0.4 - 0.01)))
    assert result.unimodal_bound(0.9) == pytest.approx(4 * 0.11 / 1.02 * q**2 / d)
    assert result.unimodal_bound(0.9) < q**2 / (0.8 * d)  # Theorem 1
    assert np.isinf(result.unimodal_bound(0.5 + q**2 / d**2 / 2))


def test_features_at_a_rate_are_the_most_whose_bound_allows_it(data):
    X, y = data
    result = stability_selection(IRKSN(k=4, max_iter=20), X, y, n_pairs=20, random_state=0)
    some, more = (result.select(fdr) for fdr in (0.1, 0.5))
    assert some[:3].all()
    assert not some[~more].any()
    for chosen, fdr in ((some, 0.1), (more, 0.5)):
        lowest = result.frequency[chosen].min()
        assert result.unimodal_bound(lowest) <= fdr * chosen.sum()
    with pytest.raises(ValueError, match="fdr"):
        result.select(0.0)


def test_of_sets_of_features_one_counts(data):
    X, y = data
    twin = np.hstack([X, X[:, :1] + 0.01 * np.random.default_rng(1).standard_normal((80, 1))])
    sets = np.append(np.arange(40), 0)  # the last column belongs to the first
    result = stability_selection(
        IRKSN(k=3, max_iter=20), twin, y, n_pairs=10, feature_sets=sets, random_state=0
    )
    assert result.n_sets == 40
    assert result.frequency[0] == result.frequency[40] == 1.0
    assert result.error_bound == pytest.approx(result.average_size**2 / (0.5 * 40))
    assert "of 40 sets of features" in result.words
    with pytest.raises(ValueError, match="feature_sets must have one integer"):
        stability_selection(IRKSN(k=3), X, y, n_pairs=1, feature_sets=sets)
