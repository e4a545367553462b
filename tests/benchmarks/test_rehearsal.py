"""What rehearsals foretell is compared with what comes, over problems that have both."""

import numpy as np
import pytest

from benchmarks import rehearsal


def row(kind, foretold, came):
    shares = {name: value for name in rehearsal.SHARES for value in [foretold]}
    told = {f"foretold_{name}": value for name, value in shares.items()}
    return {
        "kind": kind, "seed": 0, **told, **{f"came_{name}": came for name in shares},
        "foretold_true": 4.0, "came_true": 5.0,
    }  # fmt: skip


def test_means_are_over_problems_where_both_are_known():
    rows = [row("a", 0.5, 0.7), row("a", 0.9, 0.6), row("b", None, 0.2)]
    table = {(line["share"], line["kind"]): line for line in rehearsal.lines(rows)}
    both = table["power", "all"]
    assert (both["problems"], both["of"]) == (2, 3)
    assert (both["foretold"], both["came"], both["difference"]) == ("0.700", "0.650", "+0.050")
    assert both["by_problem"] == "0.250"
    assert table["coverage", "b"]["difference"] == "+nan"


def test_seeds_of_development_are_others(monkeypatch):
    judged = {(cell["kind"], cell["seed"]) for cell in rehearsal.cells("fair", False)}
    assert len(judged) == 60
    monkeypatch.setenv("KSUPPORT_DEVELOPMENT", "1")
    other = {(cell["kind"], cell["seed"]) for cell in rehearsal.cells("fair", False)}
    assert not judged & other


def test_what_is_foretold_and_what_comes_are_counted_alike(monkeypatch):
    monkeypatch.setattr(rehearsal, "DRAWS", 2)
    monkeypatch.setattr(rehearsal, "COME", 1)
    (found,) = rehearsal.compute("small", 1001)
    assert found["came_true"] == 5.0
    for name in rehearsal.SHARES:
        assert 0.0 <= found[f"foretold_{name}"] <= 1.0
    assert found["came_power"] * 5 == pytest.approx(np.round(found["came_power"] * 5))
