"""``ksupport bench``: what is compared, and that the naive side computes the same."""

import json

import numpy as np
import pytest

from ksupport import prox_ksupport
from ksupport.commands.naive import prox_by_sorting
from ksupport.commands.timing import Clock, Timing, take_turns, with_unit


@pytest.mark.parametrize("lam", [0.1, 1.0, 30.0])
def test_the_naive_prox_is_ours(lam, rng):
    for k in (1, 3, 19, 20):
        q = rng.standard_normal(20)
        np.testing.assert_allclose(prox_by_sorting(q, lam, k), prox_ksupport(q, lam, k), atol=1e-12)


def test_json_has_a_ratio_for_every_time(run, tmp_path):
    done = run("bench", "--quick", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert set(told["machine"]) == {"cpu", "cores", "load", "versions"}
    assert [row["against"] for row in told["rows"]] == [
        "NumPy, sorting", "np.abs(q).sum()", "X.T @ z", "LassoCV", "LassoCV",
    ]  # fmt: skip
    for row in told["rows"]:
        assert row["ratio"] == pytest.approx(row["ours"] / row["other"])
        assert 0 < row["ours_min"] <= row["ours"]
    assert list(tmp_path.iterdir()) == []


def test_the_table_says_what_a_ratio_is(run, tmp_path):
    done = run("bench", "--quick", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("AutoIRKSN") == 2
    assert "below 1 ours is faster" in " ".join(done.stdout.split())


def test_calls_take_turns_and_medians_are_taken(monkeypatch):
    """A clock that a call moves by hand."""
    now, order = [0.0], []
    monkeypatch.setattr(Clock, "now", classmethod(lambda cls: now[0]))

    def call(name, seconds):
        durations = iter(seconds)

        def run():
            order.append(name)
            now[0] += next(durations)

        return run

    timings = take_turns(call("a", [9, 1, 5, 2]), call("b", [9, 4, 4, 4]), repeats=3)
    assert timings == [Timing(2, 1, 3), Timing(4, 4, 3)]  # the first round is a warm-up
    assert "".join(order) == "abababab"
    assert [with_unit(v, "s") for v in (2.0, 3e-3, 4e-6, 5e-9)] == ["2 s", "3 ms", "4 µs", "5 ns"]
