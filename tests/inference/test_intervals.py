"""Intervals after selection: votes, estimates on the other half, and coverage."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import linregress

from ksupport import AutoIRKSN, AutoIRKSNClassifier, intervals
from ksupport.inference import intervals as module
from ksupport.inference.intervals import majority
from ksupport.losses import Cox, Logistic, Squared


def estimated(loss, X, y):
    found = module._estimated(loss, X, y, True)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(20))
def test_values_in_most_intervals_are_in_the_merged_one(seed):
    rng = np.random.default_rng(seed)
    middle = rng.standard_normal(7)
    lower, upper = middle - rng.uniform(0.5, 2, 7), middle + rng.uniform(0.5, 2, 7)
    grid = np.linspace(-6, 6, 4001)
    inside = ((lower <= grid[:, None]) & (grid[:, None] <= upper)).mean(axis=1) > 0.5
    low, high = majority(lower, upper)
    if inside.any():
        assert low == pytest.approx(grid[inside].min(), abs=0.004)
        assert high == pytest.approx(grid[inside].max(), abs=0.004)


def test_most_intervals_of_any_value_leave_all_open():
    ends = majority(np.array([-np.inf, -np.inf, 0.0]), np.array([np.inf, np.inf, 1.0]))
    assert ends == (-np.inf, np.inf)
    assert np.isnan(majority(np.array([0.0, 2.0, 4.0]), np.array([1.0, 3.0, 5.0]))).all()


def test_estimates_are_those_of_the_usual_regressions(rng):
    X = rng.standard_normal((50, 1))
    y = 0.7 * X[:, 0] + rng.standard_normal(50)
    b, se, freedom = estimated(Squared(), X, y)
    known = linregress(X[:, 0], y)
    assert (b[0], se[0], freedom) == (
        pytest.approx(known.slope), pytest.approx(known.stderr), 48
    )  # fmt: skip
    labels = (rng.random(50) < expit(y)).astype(float)
    b, se, _ = estimated(Logistic(), X, labels)
    # At the largest likelihood the score is zero, and the curvature is the inverse covariance.
    A = np.column_stack([np.ones(50), X])

    def score(w):
        return A.T @ (labels - expit(A @ w))

    constants = np.linspace(-3, 3, 60001)
    c = constants[np.argmin([abs(score([c, b[0]])[0]) for c in constants[::10]]) * 10]
    assert np.abs(score([c, b[0]])).max() < 0.02
    p = expit(A @ [c, b[0]])
    assert se[0] == pytest.approx(
        np.linalg.inv((A * (p * (1 - p))[:, None]).T @ A)[1, 1] ** 0.5, 1e-3
    )


def test_hazards_are_estimated_without_an_intercept(rng):
    X = rng.standard_normal((200, 1))
    times = rng.exponential(np.exp(-0.8 * X[:, 0]))
    b, se, freedom = estimated(Cox(), X, np.column_stack([times, np.ones(200)]))
    assert abs(b[0] - 0.8) < 3 * se[0]
    assert 0.05 < se[0] < 0.15
    assert freedom is None


def test_too_few_rows_say_nothing(rng):
    assert module._estimated(Squared(), rng.standard_normal((5, 5)), np.zeros(5), True) is None


def test_intervals_of_a_known_choice_cover(monkeypatch):
    """Features are chosen by size of correlation, so that only the splits matter here."""

    class Chooser:
        levels_, unpenalized_, fit_intercept = {}, np.zeros(0, int), True
        _loss, n_features_in_ = Squared(), 10

        def __init__(self, X, y):
            self.chosen = np.sort(np.argsort(-np.abs(X.T @ (y - y.mean())))[:2])

        def get_support(self, indices):
            return self.chosen

        def _validated(self, X, y, reset):
            return X, y

    monkeypatch.setattr(module, "fitted_again", lambda estimator, X, y: Chooser(X, y))
    covered = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 10))
        y = 0.8 * X[:, 4] + rng.standard_normal(60)
        found = intervals(AutoIRKSN(), X, y, n_splits=7, level=0.8, random_state=seed)
        for j, low, high in zip(found.features, found.lower, found.upper, strict=True):
            covered.append(low <= 0.8 * (j == 4) <= high)
    assert len(covered) > 140
    assert np.mean(covered) >= 0.8


def test_a_fit_names_what_is_chosen_on_most_halves(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.standard_normal((60, 6)), columns=list("abcdef"))
    y = 2 * X["c"].to_numpy() + 0.5 * rng.standard_normal(60)
    found = intervals(AutoIRKSN(), X, y, n_splits=2)
    assert found.feature_names[0] == "c"
    assert found.frequency[0] == 1.0
    assert found.lower[0] < 2 < found.upper[0]
    assert found.to_frame()["name"][0] == "c"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 1.0}, r"level must be in \(0, 1\), got 1.0"),
        ({"n_splits": 0}, "n_splits must be an integer of at least 1"),
        ({"method": "halves"}, "method must be one of .*, got 'halves'"),
        ({"noise": 0.0}, r"noise must be in \(0, inf\), got 0.0"),
    ],
)
def test_wrong_arguments_of_splits_are_named(options, words, rng):
    with pytest.raises(ValueError, match=words):
        intervals(AutoIRKSN(), rng.standard_normal((20, 3)), np.zeros(20), **options)


def test_parts_of_a_fission_are_independent_and_as_noisy(rng):
    y = rng.normal(0, 2, 20_000)
    parts = module._fissions(None, y, rng, 2.0)
    (_, first), (_, second) = next(parts), next(parts)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02
    np.testing.assert_allclose([first.var(), second.var()], 8.0, rtol=0.05)
    np.testing.assert_allclose(first + second, 2 * y)


def test_noise_is_that_of_the_fit(rng):
    X = rng.standard_normal((200, 6))
    y = X[:, 2] + 0.5 * rng.standard_normal(200)
    assert module._noise_variance(AutoIRKSN(), X, y) == pytest.approx(0.25, rel=0.25)
    assert module._noise_variance(AutoIRKSN(), X, y - X[:, 2]) == pytest.approx(0.25, rel=0.25)


def test_fission_covers_what_is_chosen():
    covered = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 20))
        y = X[:, 4] - X[:, 9] + rng.standard_normal(60)
        found = intervals(AutoIRKSN(), X, y, method="fission", n_splits=5, noise=1.0)
        w = np.zeros(20)
        w[4], w[9] = 1.0, -1.0
        covered += (
            (found.lower <= w[found.features]) & (w[found.features] <= found.upper)
        ).tolist()
    assert len(covered) > 12
    assert np.mean(covered) > 0.9


def test_fission_is_for_squares(rng):
    X = rng.standard_normal((40, 3))
    with pytest.raises(ValueError, match="use method='splitting'"):
        intervals(AutoIRKSNClassifier(), X, X[:, 0] > 0, method="fission", n_splits=1)
