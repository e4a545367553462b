"""Losses: derivatives against differences, refits against other libraries, rows against sums."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, LogisticRegression, PoissonRegressor
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

from ksupport.losses import Cox, Huber, Logistic, Multinomial, Poisson, Squared, loss_of

N = 60
RNG = np.random.default_rng(0)
SURVIVAL = np.column_stack(
    [np.round(RNG.exponential(5, N)), RNG.random(N) < 0.6, RNG.integers(0, 3, N)]
)  # ties and strata
CASES = {
    "squared": (Squared(), RNG.standard_normal(N)),
    "huber": (Huber(1.0), 2 * RNG.standard_normal(N)),
    "logistic": (Logistic(), (RNG.random(N) < 0.4) * 1.0),
    "poisson": (Poisson(), RNG.poisson(2.0, N) * 1.0),
    "cox-efron": (Cox("efron"), SURVIVAL[:, :2]),
    "cox-breslow": (Cox("breslow"), SURVIVAL[:, :2]),
    "cox-efron-strata": (Cox("efron"), SURVIVAL),
    "cox-breslow-strata": (Cox("breslow"), SURVIVAL),
}
ETA = RNG.standard_normal(N)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
COLUMNS = RNG.standard_normal((4, N))
STEP = 1e-6

every_loss = pytest.mark.parametrize("case", CASES)
separable = pytest.mark.parametrize("case", ["squared", "huber", "logistic", "poisson"])


def total(loss, eta, y, weights=WEIGHTS):
    return float(loss.value(eta, y, weights) @ weights)


@pytest.mark.parametrize("case", [*CASES, "multinomial"])
def test_memory_with_gaps_or_backwards_changes_no_bit(case):
    """NumPy's exponential has a second way for such memory, which rounds otherwise."""
    several = (Multinomial(3), np.resize([0.0, 1.0, 2.0], N))
    loss, y = CASES.get(case, several)
    for seed in range(50):
        shape = (N, 3) if case == "multinomial" else N
        eta = np.random.default_rng(seed).standard_normal(shape)
        for f in (loss.value, loss.gradient, loss.mean):
            rest = () if f == loss.mean else (y, WEIGHTS)
            backwards, gaps = np.flip(np.flip(eta).copy()), np.repeat(eta, 2, axis=0)[::2]
            np.testing.assert_array_equal(f(backwards, *rest), f(eta, *rest))
            np.testing.assert_array_equal(f(gaps, *rest), f(eta, *rest))


# -- derivatives ---------------------------------------------------------------------------


@every_loss
def test_the_gradient_is_that_of_the_sum_of_values(case):
    loss, y = CASES[case]
    moves = STEP * np.eye(N)
    differences = [(total(loss, ETA + e, y) - total(loss, ETA - e, y)) / (2 * STEP) for e in moves]
    np.testing.assert_allclose(loss.gradient(ETA, y, WEIGHTS), differences, atol=1e-7)


@every_loss
def test_second_derivatives_are_those_of_the_gradient(case):
    loss, y = CASES[case]

    def slope(move):
        return (loss.gradient(ETA + move, y, WEIGHTS) - loss.gradient(ETA - move, y, WEIGHTS)) / 2

    diagonal = [slope(e)[i] / STEP for i, e in enumerate(STEP * np.eye(N))]
    np.testing.assert_allclose(loss.curvature(ETA, y, WEIGHTS), diagonal, atol=1e-7)
    products = np.array([slope(STEP * column) / STEP for column in COLUMNS])
    hessian = loss.hessian(COLUMNS, ETA, y, WEIGHTS)
    np.testing.assert_allclose(hessian, COLUMNS @ products.T, atol=1e-6)


@every_loss
def test_the_smoothness_bound_holds(case):
    loss, y = CASES[case]
    if loss.smoothness is None:
        far = loss.curvature(40 * np.abs(ETA), y) if case == "poisson" else np.array([np.inf])
        assert far.max() > 1e3  # there is none
    else:
        assert loss.curvature(10 * ETA, y).max() <= loss.smoothness + 1e-12


@every_loss
def test_many_models_at_once_are_one_after_the_other(case):
    loss, y = CASES[case]
    E = RNG.standard_normal((2, 3, N))
    for what in (loss.value, loss.deviance, loss.gradient, loss.curvature):
        together = what(E, y, WEIGHTS)
        assert together.shape == E.shape
        np.testing.assert_array_equal(together[1, 2], what(E[1, 2], y, WEIGHTS))


# -- rows ----------------------------------------------------------------------------------


@separable
def test_deviances_are_no_less_than_those_of_a_perfect_fit(case):
    loss, y = CASES[case]
    perfect = {"poisson": np.log(np.maximum(y, 1e-12)), "logistic": 60.0 * (y - 0.5)}.get(case, y)
    np.testing.assert_allclose(loss.deviance(perfect, y), 0.0, atol=1e-10)
    assert loss.deviance(ETA, y).min() >= 0


@pytest.mark.parametrize("case", [name for name in CASES if name.startswith("cox")])
def test_the_deviance_of_survival_times_tends_to_zero_for_a_perfect_order(case):
    loss, y = CASES[case]
    assert total(loss, ETA, y) > 0
    # Whoever fails is by far the most at risk then; who is censored at that time is not.
    order = -2.0 * y[:, 0] - (1 - y[:, 1])
    values = [total(loss, scale * order, y, np.ones(N)) for scale in (0.0, 1.0, 5.0, 12.0)]
    assert values == sorted(values, reverse=True)
    assert 0 <= values[-1] + 1e-9 < 1e-3


@every_loss
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_constant_is_the_best_one(case, weights):
    loss, y = CASES[case]
    if not loss.has_constant:
        shifted = loss.value(ETA + 3.0, y)
        np.testing.assert_allclose(shifted, loss.value(ETA, y), atol=1e-12)
        return
    best, each = loss.constant(y, weights), np.ones(N) if weights is None else weights
    assert abs(loss.gradient(np.full(N, best), y, each).sum()) < 1e-9
    np.testing.assert_allclose(
        loss.on(y, weights, np.ones((1, N))).unpenalized_coef(np.zeros(N)), [best]
    )


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 300.0, 3000.0])
@pytest.mark.parametrize("shift", [0.0, 5.0, -400.0])
def test_an_intercept_is_optimal_where_the_slopes_sum_to_zero(scale, shift):
    """By one exponential a row or by many, near or far: compared with bisection."""
    loss, y = CASES["logistic"]
    response = loss.on(y, WEIGHTS, np.ones((1, N)))
    eta = scale * ETA + shift
    (found,) = response.unpenalized_coef(eta * response.roots)

    def slope(c):
        return loss.gradient(eta + c, y, WEIGHTS).sum()

    low, high = -1e4, 1e4
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    assert abs(slope(found)) < 1e-8
    if scale <= 1.0:  # else it is flat there
        assert found == pytest.approx(low, abs=1e-9)


@every_loss
def test_a_row_of_weight_two_is_two_rows(case):
    if case == "cox-efron" or case == "cox-efron-strata":
        pytest.skip("Efron's correction averages weights among ties, as elsewhere")
    loss, y = CASES[case]
    twice = np.repeat(np.arange(N), np.where(np.arange(N) < 10, 2, 1))
    weights = np.where(np.arange(N) < 10, 2.0, 1.0)
    np.testing.assert_allclose(
        total(loss, ETA, y, weights), total(loss, ETA[twice], y[twice], np.ones(len(twice)))
    )


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_a_new_survival_time_costs_what_the_likelihood_loses_by_it(ties):
    loss = Cox(ties)
    y = SURVIVAL.copy()
    y[:, 0] += RNG.random(N)  # without ties both are the same
    old, new = np.arange(50), np.arange(50, N)
    seen = loss.on(y[old], WEIGHTS[old])
    found = loss.deviance_of_new(seen, ETA[None, old], ETA[None, new], y[new])[0]
    before = loss.value(ETA[old], y[old], WEIGHTS[old]) @ WEIGHTS[old]
    for at, j in enumerate(new):
        rows, weights = np.append(old, j), np.append(WEIGHTS[old], 1.0)
        after = loss.value(ETA[rows], y[rows], weights) @ weights
        np.testing.assert_allclose(found[at], 2 * (after - before), atol=1e-9)


# -- refits --------------------------------------------------------------------------------


def test_a_logistic_refit_is_that_of_scikit_learn():
    loss, y = CASES["logistic"]
    known = LogisticRegression(C=1e12, tol=1e-12, max_iter=10_000)
    known.fit(COLUMNS.T, y, sample_weight=WEIGHTS)
    found = loss.refit(COLUMNS, y, WEIGHTS, unpenalized=np.ones((1, N)))
    np.testing.assert_allclose(found.coef, known.coef_[0], atol=1e-6)
    np.testing.assert_allclose(found.unpenalized, known.intercept_, atol=1e-6)
    ridge = LogisticRegression(C=0.1, tol=1e-12, max_iter=10_000)
    ridge.fit(COLUMNS.T, y, sample_weight=WEIGHTS)
    found = loss.refit(COLUMNS, y, WEIGHTS, 10.0, np.ones((1, N)))
    np.testing.assert_allclose(found.coef, ridge.coef_[0], atol=1e-6)


def test_a_poisson_refit_is_that_of_scikit_learn():
    loss, y = CASES["poisson"]
    known = PoissonRegressor(alpha=0.0, tol=1e-12, max_iter=10_000)
    known.fit(COLUMNS.T, y, sample_weight=WEIGHTS)
    found = loss.refit(COLUMNS, y, WEIGHTS, unpenalized=np.ones((1, N)))
    np.testing.assert_allclose(found.coef, known.coef_, atol=1e-6)
    np.testing.assert_allclose(found.unpenalized, known.intercept_, atol=1e-6)


def test_a_refit_by_squares_is_least_squares():
    loss, y = CASES["squared"]
    found = loss.refit(COLUMNS, y, unpenalized=np.ones((1, N)))
    known = np.linalg.lstsq(np.vstack([np.ones(N), COLUMNS]).T, y)[0]
    np.testing.assert_allclose(np.append(found.unpenalized, found.coef), known, atol=1e-9)


def test_a_huber_refit_is_that_of_scikit_learn():
    y = CASES["huber"][1]
    known = HuberRegressor(epsilon=1.2, alpha=0.0, tol=1e-12, max_iter=10_000).fit(COLUMNS.T, y)
    loss = Huber(1.2 * known.scale_)
    found = loss.refit(COLUMNS, y, unpenalized=np.ones((1, N)))
    np.testing.assert_allclose(found.coef, known.coef_, atol=1e-5)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_a_cox_refit_is_that_of_scikit_survival(ties):
    y = SURVIVAL[:, :2]
    known = CoxPHSurvivalAnalysis(ties=ties, tol=1e-12, n_iter=1000)
    known.fit(COLUMNS.T, Surv.from_arrays(y[:, 1] > 0, y[:, 0]))
    np.testing.assert_allclose(Cox(ties).refit(COLUMNS, y).coef, known.coef_, atol=1e-6)


@every_loss
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_a_refit_is_where_the_gradient_vanishes(case, ridge):
    loss, y = CASES[case]
    Q = np.ones((1 if loss.has_constant else 0, N))
    found = loss.refit(COLUMNS, y, WEIGHTS, ridge, Q)
    eta = found.coef @ COLUMNS + found.unpenalized @ Q
    g = loss.gradient(eta, y, WEIGHTS)
    np.testing.assert_allclose(COLUMNS @ g + ridge * found.coef, 0.0, atol=1e-6)
    np.testing.assert_allclose(Q @ g, 0.0, atol=1e-6)
    assert found.ridge == ridge
    np.testing.assert_allclose(found.deviance, 2 * total(loss, eta, y))


@every_loss
def test_refits_of_many_models_are_those_of_one_by_one(case):
    loss, y = CASES[case]
    response = loss.on(y, WEIGHTS, np.ones((1 if loss.has_constant else 0, N)))
    models, ridges = [(2, 0), (), (1,), (0, 1, 2, 3)], [1.0, 2.0, 0.5, 3.0]
    columns = COLUMNS * response.roots
    for model, ridge, found in zip(
        models, ridges, response.refits(columns, ridges, models), strict=True
    ):
        alone = loss.refit(COLUMNS[list(model)], y, WEIGHTS, ridge, response.unpenalized)
        np.testing.assert_allclose(found.coef, alone.coef, atol=1e-12)
        np.testing.assert_allclose(found.eta, alone.eta, atol=1e-12)
        assert found.deviance == pytest.approx(alone.deviance)
        eigenvalues = np.linalg.eigvalsh(loss.hessian(COLUMNS[list(model)], found.eta, y, WEIGHTS))
        assert found.volume == pytest.approx(np.log1p(eigenvalues / ridge).sum())
        assert found.freedom == pytest.approx((eigenvalues / (eigenvalues + ridge)).sum())


@pytest.mark.parametrize("case", ["logistic", "poisson", "huber", "multinomial"])
def test_a_refit_on_more_columns_than_rows_is_where_the_gradient_vanishes(case):
    wide, Q = np.random.default_rng(1).standard_normal((2 * N, N)), np.ones((1, N))
    loss, y = CASES.get(case, (Multinomial(3), np.resize([0.0, 1.0, 2.0], N)))
    found = loss.refit(wide, y, WEIGHTS, 5.0, Q)
    g = loss.gradient(found.eta, y, WEIGHTS).T
    np.testing.assert_allclose(g @ wide.T + 5.0 * found.coef, 0.0, atol=1e-7)
    eta = found.coef @ wide + found.unpenalized @ Q
    np.testing.assert_allclose(found.eta.T, eta, atol=1e-8)
    assert found.freedom < N * (2 if case == "multinomial" else 1)


def test_classes_that_separate_get_a_small_ridge():
    y = (COLUMNS[0] > 0) * 1.0
    found = Logistic().refit(COLUMNS[:2], y, unpenalized=np.ones((1, N)))
    assert found.ridge > 0
    assert np.isfinite(found.coef).all()
    assert 0 < found.deviance < 0.1 * Logistic().deviance(np.zeros(N), y).sum()
    assert abs(found.coef[0]) > 10 * abs(found.coef[1])


def test_dependent_columns_can_be_refitted():
    loss, y = CASES["logistic"]
    once = loss.refit(COLUMNS[:2], y, unpenalized=np.ones((1, N)))
    twice = loss.refit(COLUMNS[[0, 1, 0]], y, unpenalized=np.ones((1, N)))
    np.testing.assert_allclose(twice.coef[[0, 1]] + [twice.coef[2], 0.0], once.coef, atol=1e-6)
    assert twice.coef[0] == pytest.approx(twice.coef[2])  # the shortest of all such models


# -- several classes -----------------------------------------------------------------------

CLASSES = RNG.integers(0, 3, N) * 1.0
ETAS = RNG.standard_normal((N, 3))


def test_derivatives_of_several_classes_are_those_of_the_sum_of_values():
    loss, y = Multinomial(3), CLASSES
    found, at = np.empty((N, 3)), STEP * np.eye(N * 3).reshape(-1, N, 3)
    found = [(total(loss, ETAS + e, y) - total(loss, ETAS - e, y)) / (2 * STEP) for e in at]
    np.testing.assert_allclose(loss.gradient(ETAS, y, WEIGHTS).ravel(), found, atol=1e-7)
    hessian = loss.hessian(COLUMNS, ETAS, y, WEIGHTS)
    for a in range(3):
        for j, moved in enumerate(COLUMNS):
            move = STEP * np.outer(moved, np.arange(3) == a)
            up, down = (loss.gradient(ETAS + s * move, y, WEIGHTS) for s in (1, -1))
            along = ((up - down) / (2 * STEP)).T @ COLUMNS.T
            np.testing.assert_allclose(hessian[a * 4 + j], along.ravel(), atol=1e-6)


def test_two_classes_are_the_logistic_loss():
    y, two = CASES["logistic"][1], ETAS[:, :2]
    difference = two[:, 1] - two[:, 0]
    loss = Multinomial(2)
    np.testing.assert_allclose(loss.value(two, y), Logistic().value(difference, y), atol=1e-12)
    slope = loss.gradient(two, y, WEIGHTS)
    np.testing.assert_allclose(slope[:, 1], Logistic().gradient(difference, y, WEIGHTS))
    np.testing.assert_allclose(slope.sum(axis=1), 0.0, atol=1e-12)
    shift = loss.constant(y, WEIGHTS)
    np.testing.assert_allclose(shift[1] - shift[0], Logistic().constant(y, WEIGHTS))
    many = loss.refit(COLUMNS, y, WEIGHTS, unpenalized=np.ones((1, N)))
    once = Logistic().refit(COLUMNS, y, WEIGHTS, unpenalized=np.ones((1, N)))
    np.testing.assert_allclose(many.coef[1] - many.coef[0], once.coef, atol=1e-6)
    np.testing.assert_allclose(many.unpenalized[1] - many.unpenalized[0], once.unpenalized)
    np.testing.assert_allclose(many.deviance, once.deviance)


@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_a_refit_of_several_classes_is_that_of_scikit_learn(ridge):
    C = 1 / ridge if ridge else 1e12
    known = LogisticRegression(C=C, tol=1e-12, max_iter=10_000)
    known.fit(COLUMNS.T, CLASSES, sample_weight=WEIGHTS)
    found = Multinomial().refit(COLUMNS, CLASSES, WEIGHTS, ridge, np.ones((1, N)))
    np.testing.assert_allclose(found.coef, known.coef_, atol=1e-6)
    shift = known.intercept_ - known.intercept_.mean()
    np.testing.assert_allclose(found.unpenalized[:, 0], shift, atol=1e-6)


def test_many_models_of_several_classes_at_once():
    E = RNG.standard_normal((2, N, 3))
    np.testing.assert_allclose(
        Multinomial(3).deviance(E, CLASSES)[1], Multinomial(3).deviance(E[1], CLASSES)
    )
    h = Multinomial(3).curvature(E, CLASSES, WEIGHTS)
    assert h.shape == E.shape
    assert h.max() <= Multinomial.smoothness * WEIGHTS.max()
    with pytest.raises(ValueError, match=r"number the classes from 0 on, got 0\.5"):
        Multinomial().checked([0, 0.5])


# -- unpenalised columns ------------------------------------------------------------------


@every_loss
@pytest.mark.parametrize("q", [0, 1, 3])
def test_unpenalised_coefficients_are_optimal_for_each_model(case, q):
    loss, y = CASES[case]
    Q = np.vstack([np.ones(N), COLUMNS])[:q] if loss.has_constant else COLUMNS[:q]
    response = loss.on(y, WEIGHTS, Q)
    fitted = 3 * RNG.standard_normal((5, N)) * np.sqrt(WEIGHTS)
    c = response.unpenalized_coef(fitted)
    g = loss.gradient(fitted / np.sqrt(WEIGHTS) + c @ Q, y, WEIGHTS)
    np.testing.assert_allclose(g @ Q.T, np.zeros((5, q)), atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_settling_converges_from_afar(scale):
    for case in ("huber", "logistic", "poisson"):
        loss, y = CASES[case]
        response = loss.on(y, None, np.ones((1, N)))
        fitted = scale * ETA[None]
        eta = fitted + response.unpenalized_coef(fitted)
        slope = loss.gradient(eta, y)[0]
        assert abs(slope.sum()) < 1e-8 * max(np.abs(slope).sum(), 1.0)


def test_the_scale_of_huber_follows_y_and_not_its_outliers():
    y = RNG.standard_normal(400)
    delta = Huber().fixed(y).delta
    assert 0.17 < delta < 0.23
    outliers = np.where(np.arange(400) < 40, y + 10, y)
    assert Huber().fixed(outliers).delta < 1.3 * delta
    np.testing.assert_allclose(Huber().fixed(7 * y).delta, 7 * delta)
    assert Huber(2.0).fixed(y).delta == 2.0
    assert Huber().fixed(np.append(np.zeros(9), 1.0)).delta > 0


# -- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (Logistic(), [0, 1, 2], "y must be 0 or 1 for the logistic loss, got 2"),
        (Poisson(), [0, -1], "counts, 0 or more, for the Poisson loss, got -1"),
        (Cox(), [[-1, 1], [2, 0]], "survival times must not be negative, got -1"),
        (Cox(), [[1, 3], [2, 0]], r"0 \(censored\) or 1 \(event\), got 3"),
        (Cox(), [1.0, 2.0], "columns time and event"),
        (Squared(), [1.0, np.nan], "NaN or infinity"),
        (Squared(), [[1.0], [2.0]], r"y must have shape \(n,\)"),
    ],
)
def test_a_response_that_does_not_fit_is_named(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.checked(y)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (Logistic(), np.ones(4), "one class only on the 4 rows"),
        (Poisson(), np.zeros(4), "zero on all 4 rows"),
        (Cox(), np.column_stack([np.ones(4), np.zeros(4)]), "all 4 survival times .* censored"),
    ],
)
def test_rows_from_which_nothing_can_be_learnt_are_named(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.check_rows(loss.checked(y))


def test_structured_responses_of_scikit_survival_are_read():
    y = Surv.from_arrays([True, False], [3.0, 5.0])
    np.testing.assert_array_equal(Cox().checked(y), [[3.0, 1.0], [5.0, 0.0]])


def test_losses_go_by_name():
    assert loss_of("poisson") == Poisson()
    assert loss_of(Huber(2.0)) == Huber(2.0)
    with pytest.raises(ValueError, match=r"loss must be one of 'squared', 'huber', .* got 'hinge'"):
        loss_of("hinge")
    with pytest.raises(ValueError, match="delta must be in"):
        Huber(-1.0)
    with pytest.raises(ValueError, match="ties must be one of"):
        Cox("exact")


# -- what is not penalised, and units ------------------------------------------------------


@pytest.mark.parametrize("case", ["logistic", "multinomial"])
def test_classes_that_an_unpenalized_column_separates_leave_nothing_to_explain(case):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 80))
    cuts = [0.0] if case == "logistic" else [-0.5, 0.5]
    loss, y = Logistic() if case == "logistic" else Multinomial(3), np.digitize(X[0], cuts) * 1.0
    for ridge in (0.0, 1e-4, 1.0):
        for columns in (X[1:1], X[1:6]):
            fit = loss.refit(columns, y, None, ridge, np.vstack([np.ones(80), X[0]]))
            assert fit.deviance < 1e-6
            np.testing.assert_allclose(fit.coef, 0.0, atol=1e-6)


@every_loss
def test_a_row_with_a_column_of_its_own_is_left_alone(case):
    """However far its coefficient goes, others are what they are without the row."""
    loss, y = CASES[case]
    own = np.arange(N) == np.argmax(y if y.ndim == 1 else y[:, 0] * (1 - y[:, 1]))  # censored
    ones = np.ones((int(loss.has_constant), N))
    fit = loss.refit(COLUMNS, y, WEIGHTS, 0.5, np.vstack([ones, 1.0 * own]))
    alone = loss.refit(COLUMNS[:, ~own], y[~own], WEIGHTS[~own], 0.5, ones[:, ~own])
    np.testing.assert_allclose(fit.coef, alone.coef, rtol=1e-6)


@pytest.mark.parametrize("case", ["huber", "logistic", "poisson", "cox-efron"])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_an_unpenalized_column_change_nothing(case, unit):
    loss, y = CASES[case]
    ones = np.ones((int(loss.has_constant), N))
    fits = [
        loss.refit(COLUMNS[1:], y, WEIGHTS, 0.5, np.vstack([ones, scale * COLUMNS[0]]))
        for scale in (1.0, unit)
    ]
    np.testing.assert_allclose(fits[1].coef, fits[0].coef, rtol=1e-6)
    np.testing.assert_allclose(fits[1].unpenalized[-1] * unit, fits[0].unpenalized[-1], rtol=1e-6)


def test_rows_far_off_in_all_of_a_column_still_have_a_gradient():
    """Huber's loss is not curved there, and is steep."""
    rng = np.random.default_rng(0)
    x, few = rng.standard_normal(30), 1.0 * (np.arange(30) < 3)
    y = 3 * x + rng.standard_normal(30)
    Q, loss = np.vstack([np.ones(30), few]), Huber(0.01)
    fit = loss.refit(x[None], y, None, 0.01, Q)
    slope = np.vstack([Q, x]) @ loss.gradient(fit.eta, y, np.ones(30))
    np.testing.assert_allclose(slope, [0.0, 0.0, -0.01 * fit.coef[0]], atol=1e-9)


def test_no_feature_has_no_volume_even_where_the_loss_is_not_curved():
    """The only event is the last one: nobody is left to compare it with."""
    y = np.column_stack([np.arange(5.0), np.arange(5) == 4])
    fit = Cox("efron").refit(np.zeros((0, 5)), y)
    assert (fit.volume, fit.freedom) == (0.0, 0.0)
