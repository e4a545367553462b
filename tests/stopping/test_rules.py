"""Stopping rules are what a person would do reading the history record by record."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from ksupport import IRKSN, path, stopping
from ksupport.design.view import Design
from ksupport.stopping import (
    APriori,
    Balancing,
    Discrepancy,
    HeldOut,
    NoChange,
    ResidualRatio,
    Rule,
    StoppingCallback,
    rule_of,
)
from ksupport.stopping.rules import NAMED, sketch
from ksupport.theory import error_bound, stopping_time
from ksupport.walking import Block, History, Verdict

errors_lists = st.lists(
    st.one_of(st.integers(0, 4).map(float), st.floats(0, 10)), min_size=1, max_size=60
)


def held_out_by_hand(errors, patience):
    best, waited = 0, 0
    for record, error in enumerate(errors):
        moved = any(other != errors[0] for other in errors[: record + 1])
        waited = waited + 1 if moved else 0
        if error < errors[best]:
            best, waited = record, 0
        if waited >= patience:
            return Verdict(best, record)
    return Verdict(best)


@given(errors_lists, st.integers(1, 10))
def test_held_out_stops_where_patience_ends_and_keeps_the_best(errors, patience):
    history = History({"t": np.arange(len(errors)), "validation": errors})
    assert HeldOut(patience=patience)(history) == held_out_by_hand(errors, patience)


@given(errors_lists, st.floats(0, 10), st.floats(1, 3))
def test_discrepancy_stops_at_the_first_residual_as_small_as_the_noise(residuals, delta, tau):
    expected = Verdict(len(residuals) - 1)
    for record, residual in enumerate(residuals):
        if residual <= tau * delta:
            expected = Verdict(record, record)
            break
    history = History({"t": np.arange(len(residuals)), "residual": residuals})
    assert Discrepancy(delta, tau)(history) == expected


@given(st.lists(st.floats(0, 10), min_size=1, max_size=60), st.floats(1, 3))
def test_discrepancy_without_delta_reads_the_noise_column(residuals, tau):
    history = {"residual": residuals, "noise": np.full(len(residuals), 2.5)}
    assert Discrepancy(tau=tau)(History(history)) == Discrepancy(2.5, tau)(History(history))


@given(st.integers(1, 7), st.integers(1, 60), st.floats(1e-4, 1), st.floats(0.1, 10))
def test_a_priori_stops_at_the_first_record_from_the_theorem_s_step_on(every, count, delta, c):
    steps = every * np.arange(count)
    step = np.ceil(c / np.sqrt(delta))  # both rounded correctly, unlike powers
    late = [record for record in range(count) if steps[record] >= step]
    expected = Verdict(late[0], late[0]) if late else Verdict(count - 1)
    assert APriori(delta, c)(History({"t": steps})) == expected
    assert stopping_time(delta, c) == step


def no_change_by_hand(support, residual, patience, tol):
    for now in range(patience, len(support)):
        window = range(now - patience, now + 1)
        same = all(support[r] == support[now] for r in window) and support[now] != 0
        if same and abs(residual[now] - residual[now - patience]) <= tol * residual[now - patience]:
            return Verdict(now, now)
    return Verdict(len(support) - 1)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([1.0, 1.0005, 1.1])), min_size=1,
             max_size=50),
    st.integers(1, 6),
)  # fmt: skip
def test_no_change_stops_where_nothing_has_changed(records, patience):
    support, residual = (np.array(column) for column in zip(*records, strict=True))
    history = History({"support": support, "residual": residual})
    assert NoChange(patience, 1e-3)(history) == no_change_by_hand(support, residual, patience, 1e-3)


def ratio_by_hand(residual, tol, patience):
    least = []
    for record, value in enumerate(residual):
        least.append(min([value, *least[-1:]]))
        if least[-1] == 0:
            return Verdict(record, record)
        begun = least[-1] < residual[0]
        if record >= patience and begun and least[-1] > (1 - tol) * least[record - patience]:
            return Verdict(record, record)
    return Verdict(len(residual) - 1)


@given(errors_lists, st.sampled_from([0.01, 0.1, 0.5]), st.integers(1, 8))
def test_residual_ratio_stops_where_the_residual_stalls(residuals, tol, patience):
    history = History({"residual": residuals})
    assert ResidualRatio(tol, patience)(history) == ratio_by_hand(residuals, tol, patience)


def balancing_by_hand(error, points, factor):
    error = [factor * e for e in error]
    stop, largest = None, []
    for record, point in enumerate(points):
        largest.append(max([np.linalg.norm(point), *largest]))
        grown = largest[record] <= 1.01 * largest[record // 2]
        if stop is None and grown and error[record] >= largest[record] > 0:
            stop = record
    end = len(points) if stop is None else stop + 1
    for r in range(end):
        if all(
            np.linalg.norm(points[r] - points[s]) <= 2 * (error[r] + error[s])
            for s in range(r + 1, end)
        ):
            return Verdict(r, stop)
    raise AssertionError("the last record contradicts nothing")


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=30),
    st.floats(0, 0.5),
    st.floats(0.1, 3),
)
def test_balancing_keeps_the_first_iterate_that_no_later_one_contradicts(points, slope, factor):
    points, error = np.array(points), slope * np.arange(len(points))
    history = History({"noise_error": error, "sketch": points})
    assert Balancing(1.0, factor)(history) == balancing_by_hand(error, points, factor)


@given(st.integers(2, 60), st.floats(0.01, 0.2))
def test_balancing_is_within_three_times_the_bound_at_the_balance(balance, slope):
    """Errors as large as the bound allows: e(t) + b/t, up to the record where e(t) = b/t."""
    t = np.arange(1, 200)
    e, b = slope * t, slope * balance**2
    rng = np.random.default_rng(balance)
    error = (e + b / t) * rng.uniform(-1, 1, t.size)
    verdict = Balancing(1.0, 1.0)(History({"noise_error": e, "sketch": 100.0 + error[:, None]}))
    assert t[verdict.keep] <= balance
    assert abs(error[verdict.keep]) <= 3 * 2 * slope * balance * (1 + 1e-9)


@given(errors_lists, st.integers(1, 10), st.integers(0, 60))
def test_a_longer_history_does_not_change_where_it_stopped(errors, patience, more):
    """So block sizes do not matter: what comes after the stop is not looked at."""
    rule = HeldOut(patience=patience)
    verdict = rule(History({"t": np.arange(len(errors)), "validation": errors}))
    if verdict.stop is not None:
        longer = errors + [-1.0] * more
        assert rule(History({"t": np.arange(len(longer)), "validation": longer})) == verdict


@pytest.mark.parametrize(
    "rule",
    [Discrepancy(0.5), APriori(0.01, 2.0), NoChange(3), ResidualRatio(0.2, 4), Balancing(1.0, 1.0)],
)
def test_no_rule_looks_beyond_its_stop(rule, rng):
    count = 200
    residual = np.r_[np.geomspace(3, 0.4, 30), np.full(count - 30, 0.4)]
    points = np.repeat(residual[:, None], 3, axis=1)
    history = History({
        "t": np.arange(count), "residual": residual, "support": np.minimum(np.arange(count), 9),
        "noise_error": 0.1 * np.arange(count), "sketch": points,
    })  # fmt: skip
    verdict = rule(history)
    assert verdict.stop is not None
    assert rule(history.head(verdict.stop + 1)) == verdict
    assert rule(history.head(verdict.stop)).stop is None


def test_every_rule_is_tested_here_and_has_a_repr_that_makes_it_again():
    rules = [
        each for _, each in inspect.getmembers(stopping, inspect.isclass)
        if issubclass(each, Rule) and each is not Rule
    ]  # fmt: skip
    assert {rule.__name__ for rule in rules} == {
        "APriori", "Balancing", "Discrepancy", "HeldOut", "ResidualRatio", "NoChange",
    }  # fmt: skip
    for rule in rules:
        one = rule(0.1) if rule is not NoChange else NoChange(3)  # type: ignore[call-arg]
        assert eval(repr(one), vars(stopping)) == one


def test_names_stand_for_rules_with_their_defaults():
    assert {name: rule_of(name) for name in NAMED} == {
        "held_out": HeldOut(), "discrepancy": Discrepancy(), "no_change": NoChange(),
        "residual_ratio": ResidualRatio(),
    }  # fmt: skip
    assert rule_of(None) is None
    for wrong in ("soon", 3, HeldOut):
        with pytest.raises(ValueError, match=r"stopping must be None, 'held_out', .* got "):
            rule_of(wrong)


# -- with estimators ----------------------------------------------------------------------


@pytest.fixture
def noisy(rng):
    X = rng.standard_normal((60, 90))
    y = X[:, :3] @ [3.0, -2.0, 2.0] + rng.standard_normal(60)
    return X, y


EVERY_RULE = [
    "held_out", "discrepancy", "residual_ratio", APriori(0.001, 2.0),
    Balancing(8.0, 0.05), Balancing(None, 0.1), Discrepancy(tau=1.2), NoChange(5, 0.1),
]  # fmt: skip


@pytest.mark.parametrize("rule", EVERY_RULE, ids=str)
def test_an_estimator_stops_where_the_rule_says(rule, noisy):
    model = IRKSN(k=3, alpha=0.1, stopping=rule, random_state=0, max_iter=3000).fit(*noisy)
    verdict = rule_of(rule)(model.history_)  # type: ignore[misc]
    assert model.stop_reason_ == "stopped"
    assert verdict.stop == model.history_.n_records - 1
    assert model.n_iter_ == model.history_["t"][verdict.keep]
    if rule != "held_out":
        again = IRKSN(k=3, alpha=0.1, max_iter=max(model.n_iter_, 1)).fit(*noisy)
        np.testing.assert_allclose(model.coef_, again.coef_ * (model.n_iter_ > 0), atol=1e-10)


@pytest.mark.parametrize("rule", [NoChange(5), Discrepancy(), Balancing(None, 0.1)], ids=str)
@pytest.mark.parametrize("name", ["irksn", "ircr", "iht"])
def test_the_path_function_measures_what_a_rule_asks_for(rule, name, noisy):
    result = path(name, *noisy, max_iter=2000, every=5, stopping=rule, keep="last")
    assert result.iterates is None
    assert set(rule.metrics(Design.of(noisy[0]), noisy[1])) <= set(result.history)
    verdict = rule(result.history)
    assert result.n_iter == result.history["t"][verdict.keep]


def test_several_targets_have_noise_levels_of_their_own(noisy):
    X, y = noisy
    Y = np.column_stack([y, 10 * y])
    model = IRKSN(k=3, alpha=0.1, stopping="discrepancy").fit(X, Y)
    one, other = (history["noise"][0] for history in model.history_)
    np.testing.assert_allclose(other, 10 * one)


def test_the_sketch_keeps_distances(rng):
    for d in (40, 5000):
        rows = rng.standard_normal((6, 30))
        features = rng.choice(d, 30, replace=False)
        design = Design.of(np.ones((1, d)))
        points = sketch(d)(Block(np.arange(6), rows, design, features))
        dense = sketch(d)(Block(np.arange(6), Block(np.arange(6), rows, design, features).dense(d),
                                design))  # fmt: skip
        np.testing.assert_allclose(points, dense)
        exact = np.linalg.norm(rows[:, None] - rows, axis=-1)
        found = np.linalg.norm(points[:, None] - points, axis=-1)
        np.testing.assert_allclose(found, exact, rtol=1e-12 if d == 40 else 0.15)


def test_the_noise_error_is_the_theorem_s(noisy):
    X, y = noisy
    block = Block(np.arange(5), np.zeros((5, 90)), Design.of(X))
    e = Balancing(0.3).metrics(Design.of(X), y)["noise_error"](block)
    bound = error_bound(np.eye(90)[:60], np.eye(90)[0], 0.1, 0.3)
    np.testing.assert_allclose(e, bound.a / 2 * bound.norm / np.linalg.norm(X, 2) * 0.3 * block.t)


# -- as callbacks -------------------------------------------------------------------------


@pytest.fixture
def callbacks():
    return pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")


@pytest.mark.parametrize(
    "rule", [Discrepancy(), APriori(0.001, 2.0), NoChange(5, 0.1), ResidualRatio(), Balancing(8.0)],
    ids=str,
)  # fmt: skip
def test_a_callback_ends_the_walk_at_the_end_of_the_block(callbacks, rule, noisy):
    params = {"k": 3, "alpha": 0.1, "max_iter": 10**6}
    model = IRKSN(**params).set_callbacks(StoppingCallback(rule)).fit(*noisy)
    exact = IRKSN(**params, stopping=rule).fit(*noisy)
    stop = exact.history_["t"][-1]
    assert model.stop_reason_ == "stopped"
    assert stop <= model.n_iter_ < 2 * stop + 200
    assert model.n_iter_ == model.history_["t"][-1]
    np.testing.assert_allclose(
        model.history_["residual"][: exact.history_.n_records], exact.history_["residual"]
    )


def test_a_callback_cannot_hold_out_rows():
    with pytest.raises(ValueError, match=r"rule must not hold out rows, got HeldOut.*stopping="):
        StoppingCallback(HeldOut())


@pytest.mark.parametrize("rule", [
    "held_out", HeldOut(0.3, 4), Discrepancy(7.0), "discrepancy", NoChange(4), "residual_ratio",
    APriori(1e-3), Balancing(7.0, 0.02),
])  # fmt: skip
def test_listening_changes_nothing(rule, rng, monkeypatch, request):
    X = rng.standard_normal((60, 30))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(60)
    monkeypatch.setattr("ksupport.limits.FIRST_STEPS", 4)  # many small blocks
    fits = []
    for listens in (False, True):
        heard = request.getfixturevalue("heard") if listens else None
        fits.append(IRKSN(k=2, alpha=0.1, max_iter=1000, stopping=rule, random_state=0).fit(X, y))
    silent, telling = fits
    assert heard.shares("walking a path") == [1.0]  # what has stopped has nothing left to do
    assert silent.stop_reason_ == telling.stop_reason_ == "stopped"
    assert silent.n_iter_ == telling.n_iter_ < 1000
    np.testing.assert_array_equal(silent.coef_, telling.coef_)


def test_held_out_keeps_the_iterate_of_least_error_on_the_rows_held_out(rng):
    X = rng.standard_normal((80, 40))
    y = X[:, :3].sum(axis=1) + 2 * rng.standard_normal(80) + 5
    model = IRKSN(k=3, alpha=0.1, stopping=HeldOut(0.25, 15), random_state=3, every=2).fit(X, y)
    history = model.history_
    best = int(np.argmin(history["validation"]))
    assert model.n_iter_ == history["t"][best]
    assert len(history["t"]) == best + 15 + 1
    # Which rows were held out: 20 of them, those on which this is the error.
    order = np.random.RandomState(3).permutation(80)
    rows = order[:20]
    error = np.mean((model.predict(X[rows]) - y[rows]) ** 2)
    np.testing.assert_allclose(history["validation"][best], error)
    refit = IRKSN(k=3, alpha=0.1, max_iter=model.n_iter_).fit(X[order[20:]], y[order[20:]])
    np.testing.assert_allclose(refit.coef_, model.coef_, atol=1e-10)
    np.testing.assert_allclose(refit.intercept_, model.intercept_, atol=1e-10)


def test_discrepancy_stops_at_the_noise_level(rng):
    X = rng.standard_normal((50, 20))
    noise = rng.standard_normal(50)
    y = X[:, 0] * 3 + noise
    delta = float(np.linalg.norm(noise))
    model = IRKSN(k=2, alpha=0.1, stopping=Discrepancy(delta), every=1, fit_intercept=False).fit(
        X, y
    )
    assert model.stop_reason_ == "stopped"
    assert np.linalg.norm(X @ model.coef_ - y) <= delta
    residual = model.history_["residual"]
    assert (residual[:-1] > delta).all()
    np.testing.assert_allclose(residual[-1], np.linalg.norm(X @ model.coef_ - y))


def test_a_rule_that_is_never_met_walks_to_the_end(rng):
    X = rng.standard_normal((30, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IRKSN(k=2, stopping=Discrepancy(0.0), max_iter=70).fit(X, rng.standard_normal(30))
    assert (model.stop_reason_, model.n_iter_) == ("max_iter", 70)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HeldOut(fraction=0.0), r"fraction must be in \(0, 1\), got 0.0"),
        (lambda: HeldOut(fraction=1.5), "fraction .* got 1.5"),
        (lambda: HeldOut(patience=0), "patience must be an integer of at least 1, got 0"),
        (lambda: Discrepancy(-1.0), r"delta must be in \[0, inf\], got -1.0"),
        (lambda: Discrepancy(float("nan")), "delta .* got nan"),
        (lambda: Discrepancy(1.0, tau=0.5), r"tau must be in \[1, inf\], got 0.5"),
        (lambda: APriori(0.0), "delta must be positive, got 0; without noise"),
        (lambda: APriori(1.0, -1.0), r"c must be in \(0, inf\), got -1.0"),
        (lambda: Balancing(-1.0), r"delta must be in \[0, inf\], got -1.0"),
        (lambda: Balancing(1.0, 0.0), r"factor must be in \(0, inf\), got 0.0"),
        (lambda: ResidualRatio(0.0), r"tol must be in \(0, 1\), got 0.0"),
        (lambda: ResidualRatio(patience=0), "patience must be an integer of at least 1, got 0"),
        (lambda: NoChange(patience=0), "patience must be an integer of at least 1, got 0"),
        (lambda: NoChange(tol=-1.0), r"tol must be in \[0, inf\], got -1.0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("value", [None, "a", [1], 1j, np.ones(2), float("nan")], ids=repr)
def test_what_is_no_number_is_refused_by_name(value):
    for rule in (HeldOut, ResidualRatio, NoChange):
        with pytest.raises(ValueError, match="patience must be an integer of at least 1, got"):
            rule(patience=value)
    for rule, name in ((HeldOut, "fraction"), (NoChange, "tol"), (Discrepancy, "tau")):
        with pytest.raises(ValueError, match=f"{name} must be in "):
            rule(**{name: value})
    for rule in (Discrepancy, Balancing) if value is not None else ():
        with pytest.raises(ValueError, match=r"delta must be in \[0, inf\], got"):
            rule(value)


@pytest.mark.parametrize("rule", [HeldOut, ResidualRatio, NoChange])
def test_patience_may_be_longer_than_any_walk(rule, rng):
    X = rng.standard_normal((30, 10))
    model = IRKSN(k=2, max_iter=40, stopping=rule(patience=10**30)).fit(X, X[:, 0])
    assert model.stop_reason_ == "max_iter"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, r"stopping must answer with a ksupport.stopping.Verdict\(keep, stop\), got None"),
        (True, "stopping must answer with .* got True"),
        (Verdict(10**6), "stopping: the record to keep must be an integer between 0 and"),
        (Verdict(-1), "the record to keep .* got -1"),
        (Verdict(0.5), "the record to keep .* got 0.5"),
        (Verdict(0, 10**6), "stopping: the record to stop at must be an integer between 0 and"),
    ],
)
def test_functions_that_answer_with_no_verdict_are_told_so(answer, message, rng):
    with pytest.raises((TypeError, ValueError), match=message):
        IRKSN(k=2, stopping=lambda history: answer).fit(
            rng.standard_normal((20, 8)), rng.standard_normal(20)
        )


@pytest.mark.parametrize("rule", [None, 3, HeldOut, "held_out", "nonsense"])
def test_callbacks_take_rules_only(rule):
    with pytest.raises(ValueError, match=r"(rule|stopping) must"):
        StoppingCallback(rule)


def test_a_verdict_beyond_the_stop_is_an_error():
    with pytest.raises(ValueError, match=r"must keep a record up to .* got keep=4, stop=3"):
        Verdict(keep=4, stop=3)


def test_a_noise_level_that_is_not_reached_is_warned_of():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 60))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(30)
    model = IRKSN(k=3, stopping=Discrepancy(1e-6), max_iter=5)
    with pytest.warns(ConvergenceWarning, match="did not reach the noise level 1e-06: after 5"):
        model.fit(X, y)
    assert model.stop_reason_ == "max_iter"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reached = IRKSN(k=3, stopping=Discrepancy(10.0), max_iter=50).fit(X, y)
        IRKSN(k=3, stopping="discrepancy", max_iter=2).fit(X, y)  # an estimate is no promise
    assert reached.stop_reason_ == "stopped"
