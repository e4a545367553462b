"""Rows held out of a fit: what stands in the way is said, and does not cost the fit."""

from pathlib import Path

import numpy as np
import pytest

from ksupport.choosing import folds
from ksupport.commands.fitting import fitted as holding_out
from ksupport.commands.fitting.fitted import fit_data
from ksupport.commands.fitting.options import FitOptions
from ksupport.reading import Data

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 10))
ETA = 3 * X[:, 2] - 2 * X[:, 5]
NAMES = tuple(f"g{j}" for j in range(10))
SURVIVAL = np.array(
    list(zip(RNG.uniform(size=80) < 0.8, RNG.exponential(np.exp(-ETA)), strict=True)),
    [("event", bool), ("time", float)],
)


def fitted(y, kind, **more):
    return fit_data(Data(Path("d.csv"), NAMES, X, y, kind=kind, **more), FitOptions(stability=0))


class Failing:
    def fit(self, X, y):
        raise ArithmeticError("overflow")


@pytest.mark.parametrize("kind", ["numbers", "survival"])
def test_others_that_fail_cost_only_the_comparison(monkeypatch, kind):
    monkeypatch.setattr(
        holding_out, "lasso_and_ridge", lambda X, inner, kind: {"Lasso": lambda rows: Failing()}
    )
    found = fitted(ETA if kind == "numbers" else SURVIVAL, kind)
    assert "A Lasso and a ridge were not compared: overflow" in found.remarks
    assert found.validation.others == ()
    assert found.validation.ours.score > found.validation.baseline.score
    findings = found.findings("y")
    assert findings.baseline_comparison == ""
    assert findings.sign == "yes"


def test_without_scikit_survival_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("ksupport.explain.standard_methods.find_spec", lambda name: None)
    found = fitted(SURVIVAL, "survival")
    assert any("pip install 'ksupport[survival]'" in each for each in found.remarks)
    assert found.validation.ours.score > 0.7
    assert "scikit-survival" not in " ".join(found.findings("t").next_steps)


def test_few_rows_of_a_class_are_said():
    rare = np.where(np.argsort(np.argsort(ETA)) >= 74, "ill", "well")
    found = fitted(rare, "classes")
    assert found.validation is None
    assert any("Too few rows of one class to hold some out (6)" in each for each in found.remarks)


def test_one_censored_row_keeps_no_rows_from_being_held_out():
    times = SURVIVAL.copy()
    times["event"] = np.arange(80) != 3
    assert fitted(times, "survival").validation is not None


def test_few_events_are_said():
    times = SURVIVAL.copy()
    times["event"] = np.arange(80) < 6
    found = fitted(times, "survival")
    assert any("Too few rows with an event to hold some out (6)" in each for each in found.remarks)


def test_groups_are_held_out_together_by_folds_of_the_estimator_itself(monkeypatch):
    seen = []
    split = folds.splits_of

    def noting(*args, **options):
        seen.extend(found := split(*args, **options))
        return found

    monkeypatch.setattr(folds, "splits_of", noting)
    groups = np.array([f"family {at % 20}" for at in range(80)])
    found = fit_data(
        Data(Path("d.csv"), NAMES, X, ETA, groups=groups),
        FitOptions(cv=4, compare=False, stability=0),
    )
    assert found.model.get_params()["cv"] == 4
    assert seen
    assert all(not set(groups[train]) & set(groups[test]) for train, test in seen)


def test_groups_without_one_of_the_classes_are_told_and_the_fit_stays():
    labels = np.where(ETA > 0, "ill", "well")
    groups = np.where(ETA > 0, RNG.integers(0, 3, 80), RNG.integers(3, 5, 80))  # two are well
    found = fitted(labels, "classes", groups=groups)
    assert found.validation is None
    assert any(each.startswith("No rows could be held out") for each in found.remarks)
    assert found.model.effective_rows_ < 20  # five groups of one class each tell little
