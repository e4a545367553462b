"""The board of kept promises counts what it says, and judges what was promised."""

import numpy as np
import pytest

from benchmarks import promises
from benchmarks.promises_methods import Answer, Intervals, by_probability, least_squares
from benchmarks.promises_table import lines, renewed

TRUTH = np.array([1.0, 0.0, -2.0, 0.0])


def mask(*features):
    return np.isin(np.arange(4), features)


def row(promise, kind="genes", method="one", **values):
    same = {"level": 0.1, "count": 0, "kept": 0, "of": 2, "found": 0, "seconds": 1.0, "seed": 0}
    return {"promise": promise, "kind": kind, "method": method} | same | values


def test_each_promise_of_an_answer_is_counted():
    intervals = Intervals(np.array([0, 2]), np.array([0.5, -1.0]), np.array([1.5, 0.0]))
    answer = Answer(
        {0.1: mask(0, 1)}, [[0, 1], [1, 3]], {0.2: [[2]]}, np.array([0.9, 0.1, 0.95, 0.0]),
        {"posterior": intervals}, True,
    )  # fmt: skip
    found = {each["promise"]: each for each in promises.judged(answer, TRUTH)}
    counts = {name: (each["count"], each["kept"], each["found"]) for name, each in found.items()}
    assert counts["features"] == (2, 1, 1)
    assert counts["sets"] == (2, 1, 1)
    assert counts["sets at a rate"] == (1, 1, 1)
    assert counts["intervals, posterior"] == (2, 1, 0)
    assert found["intervals, posterior"]["length"] == 2.0
    assert counts["probability"][:2] == (2, 2)  # the last bin
    assert found["probability"]["claimed"] == pytest.approx(1.85)


def test_a_rate_is_a_mean_over_draws_and_may_be_missed():
    rows = [row("features", count=2, kept=1, found=1), row("features", seed=1)]
    (line,) = lines(rows)
    assert (line["share"], line["hits"], line["count"], line["power"]) == ("0.250", 1, 2, "0.250")
    assert line["met"] == "no"
    assert lines([row("features", count=10, kept=9)])[0]["met"] == "yes"
    assert lines([row("features", level=None, count=10)])[0]["met"] == ""


def test_what_was_not_measured_again_is_kept():
    def line(promise, kind, method, share):
        return {"promise": promise, "level": "0.1", "kind": kind, "method": method, "share": share}

    before = [line("features", "a", "one", 1), line("features", "b", "one", 2)]
    now = [line("features", "b", "one", 3), line("sets", "b", "one", 4)]
    table = renewed([*before, line("alarms", "b", "one", 5)], now, ["b", "a"], ["one"])
    assert [each["share"] for each in table] == [3, 1, 4]


def test_what_is_named_in_noise_is_an_alarm():
    rows = [row("features", "noise, genes", count=count, of=0, seed=count) for count in (0, 0, 3)]
    (line,) = lines(rows)
    assert (line["promise"], line["hits"], line["count"], line["met"]) == ("alarms", 1, 3, "no")


@pytest.mark.parametrize(
    ("promise", "kept", "met"),
    [
        ("sets", 93, "yes"), ("sets", 92, "no"), ("intervals, posterior", 99, "no"),
        ("intervals, splits", 99, "yes"), ("intervals, posterior", 95, "yes"),
    ],
)  # fmt: skip
def test_coverage_is_judged(promise, kept, met):
    assert lines([row(promise, level=0.95, count=100, kept=kept)])[0]["met"] == met


def test_probabilities_are_judged_where_there_are_enough():
    sure = {"level": 0.9, "claimed": 90.0, "count": 100}
    assert lines([row("probability", kept=85, **sure)])[0]["met"] == "yes"
    assert lines([row("probability", kept=70, **sure)])[0]["met"] == "no"
    few = row("probability", level=0.9, claimed=9.0, count=10, kept=1)
    assert lines([few])[0]["met"] == ""


def test_every_kind_is_drawn_alike_for_all_methods():
    X, y, w = promises.KINDS["AR(1) 0.9, SNR 2"](seed=promises.FIRST)
    assert X.shape == (300, 1000)
    assert np.count_nonzero(w) == 10
    assert np.var(X @ w) / np.var(y - X @ w) == pytest.approx(2.0, rel=0.1)
    draws = {}
    for cell in promises.cells("fair", True):
        draws.setdefault((cell["kind"], cell["seed"]), set()).add(cell["method"])
    assert all("AutoIRKSN" in methods for methods in draws.values())
    assert min(seed for _, seed in draws) >= promises.FIRST


def test_features_by_probability_and_naive_intervals(rng):
    assert by_probability(np.array([0.99, 0.5, 0.9]), 0.1).tolist() == [True, False, True]
    X = rng.standard_normal((50, 3))
    X = X - X.mean(axis=0)
    y = 2 * X[:, 1] + 0.1 * rng.standard_normal(50)
    found = least_squares(X, y - y.mean(), np.array([1]))
    assert found.lower[0] < 2 < found.upper[0] < 2.2
    assert least_squares(X, y, np.zeros(0, np.intp)).features.size == 0
