"""``ksupport bench``: what is compared, and in which words."""

import json

import pytest


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
    assert "below 1 ksupport is faster" in " ".join(done.stdout.split())
