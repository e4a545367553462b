"""The plain words: what they say follows from what was found."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ksupport
from ksupport import IRKSN, IRKSNIC, AutoIRKSN, FeatureSet, NoSignalWarning
from ksupport.explain.cross_validation import (
    AUC,
    BASELINE,
    Concordance,
    CrossValidation,
    MethodScore,
    RSquared,
)
from ksupport.explain.features import feature_rows
from ksupport.explain.findings import Findings, findings_of
from ksupport.explain.models import Covariate, chosen_by
from ksupport.explain.paper import methods
from ksupport.explain.report import build_report
from ksupport.explain.univariate import detectable_effect

RNG = np.random.default_rng(1)
X = RNG.standard_normal((80, 30))
X[:, 7] = X[:, 3] + 0.05 * RNG.standard_normal(80)  # a near-copy
Y = 2 * X[:, 3] - X[:, 5] + 0.5 * RNG.standard_normal(80)
ESTIMATORS = [
    getattr(ksupport, name)
    for name in ksupport.__all__
    if isinstance(getattr(ksupport, name), type) and hasattr(getattr(ksupport, name), "fit")
]


@pytest.fixture(scope="module")
def model():
    return AutoIRKSN().fit(X, Y)


@pytest.fixture(scope="module")
def empty():
    with pytest.warns(NoSignalWarning):
        return AutoIRKSN().fit(X, np.random.default_rng(3).standard_normal(80))


def validation(*scores):
    """Of ours and of others, with these scores and small errors of them."""
    base = np.ones(200)
    made = [
        MethodScore(name, 1 - score + np.tile([0.01, -0.01], 100), 3, base)
        for name, score in zip(("this model", "Lasso", "ridge"), scores, strict=False)
    ]
    rows, nothing = np.arange(200), MethodScore(BASELINE, base, 0, base)
    return CrossValidation(
        RSquared(), rows, rows % 5, base, base, made[0], tuple(made[1:]), nothing
    )


def findings(model, **options):
    chosen = chosen_by(model)
    given = {"names": [f"g{j}" for j in range(30)], "target": "y", "n": 80, "candidates": 30}
    return Findings(
        estimator=type(model).__name__, chosen=chosen, effects=chosen.coef, **given | options
    )


def test_stand_ins_stand_beneath_and_certainty_decides_the_order(model):
    found = feature_rows(chosen_by(model))
    assert {each.feature for each in found if each.chosen} == set(np.flatnonzero(model.support_))
    leads = [each.probability or 0.0 for each in found if each.stands_in_for is None]
    assert leads == sorted(leads, reverse=True)
    (other,) = [each for each in found if each.stands_in_for is not None]
    assert {other.feature, other.stands_in_for} == {3, 7}
    above = found[found.index(other) - 1]
    assert above.feature == other.stands_in_for
    assert above.set == other.set


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_every_estimator_gives_a_tidy_table(estimator, as_asked):
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(30)])
    model = estimator(max_iter=60)
    model.fit(frame, as_asked(model, Y))
    table = model.to_frame()
    head = ["feature", "name", "coefficient", "probability", "set", "stands_in_for"]
    head += ["mean", "sd", "lower", "upper"] * hasattr(model, "posterior_")
    assert list(table)[: len(head)] == head
    by_ratio = model._loss.name in ("logistic", "cox") and hasattr(model, "posterior_")
    assert list(table)[len(head) :] == ["ratio", "ratio_lower", "ratio_upper"] * by_ratio
    inside = table[table["coefficient"] != 0]
    assert set(inside["feature"]) == set(np.flatnonzero(model.support_))
    np.testing.assert_array_equal(table["coefficient"], np.ravel(model.coef_)[table["feature"]])
    assert list(table["name"]) == [f"g{j}" for j in table["feature"]]
    if hasattr(model, "probability_"):
        np.testing.assert_array_equal(table["probability"], model.probability_[table["feature"]])
    else:
        assert table["probability"].isna().all()


def test_many_targets_are_told_apart_in_the_table():
    model = IRKSN(k=3, max_iter=50).fit(X, np.c_[Y, -Y])
    table = model.to_frame()
    assert list(table) == ["target", "feature", "name", "coefficient"]
    assert len(table) == np.count_nonzero(model.coef_)
    np.testing.assert_array_equal(
        table["coefficient"], model.coef_[table["target"], table["feature"]]
    )


def test_the_headline_is_the_same_whatever_was_held_out(model, empty):
    told = findings(model)
    right, size = told.expected_right, told.chosen.size
    assert right is not None
    assert f"{size} features selected to explain y" in told.title
    for score in (0.8, 0.01, -0.1):
        other = findings(model, validation=validation(score))
        assert (other.title, other.sign) == (told.title, "yes")
        assert "explains -" not in other.verdict
    good = findings(model, validation=validation(0.8)).verdict
    assert "explains 80% of the variance of y (R² 0.80 ± 0.00 standard error)" in good
    assert "no better than the baseline" in findings(model, validation=validation(-0.1)).verdict
    assert findings(empty, validation=validation(0.0)).sign == "no"
    assert findings(empty).title.startswith("No signal: no feature can be distinguished")
    silent = IRKSN(k=2, max_iter=5).fit(X, np.ones(80))
    assert findings(silent).title.startswith("No model")
    chosen = findings(IRKSN(k=2).fit(X, Y), validation=validation(-0.5))
    assert chosen.sign == "perhaps"
    assert "how many are right is not known" in chosen.title


def test_candidates_and_findings_add_up_to_what_is_named(model):
    told = findings(model)
    weak = sum(map(told.is_candidate, told.found))
    strong = told.chosen.size - weak
    assert f"{strong} finding{'s' * (strong != 1)} (probability at least 50%)" in told.verdict
    assert ("candidate" in told.verdict) is (weak > 0)


def test_no_signal_says_what_is_known(empty):
    y = np.random.default_rng(3).standard_normal(80)
    told = findings_of(empty, X, y, [f"g{j}" for j in range(30)], target="y")
    p = np.array([stats.pearsonr(column, y).pvalue for column in X.T])
    assert told.no_signal is not None
    assert told.no_signal.best == int(p.argmin())
    assert told.no_signal.p_value == pytest.approx(p.min())
    assert f"The best single feature is g{p.argmin()}" in told.verdict
    assert "a power of 80%" in told.verdict
    assert "another method" not in " ".join(told.next_steps)


@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
def test_detectable_effects_are_detected_in_four_of_five_studies(kind):
    rng, n, d, found = np.random.default_rng(0), 90, 50, 0
    labels = np.repeat(np.arange(2 if kind == "two" else 3), n // (2 if kind == "two" else 3))
    y = rng.standard_normal(n) if kind == "numbers" else labels
    effect, _ = detectable_effect(y, "numbers" if kind == "numbers" else "classes", d)
    assert effect is not None
    for _ in range(400):
        noise = rng.standard_normal(n)
        if kind == "numbers":
            x = rng.standard_normal(n)
            p = stats.pearsonr(x, effect * x + np.sqrt(1 - effect**2) * noise).pvalue
        elif kind == "two":
            p = stats.ttest_ind(noise[y == 1] + effect, noise[y == 0]).pvalue
        else:
            means = np.array([-1.0, 0.0, 1.0]) * np.sqrt(1.5 * effect / (1 - effect))
            x = noise + means[y]
            p = stats.f_oneway(*(x[y == each] for each in range(3))).pvalue
        found += p < 0.05 / d
    assert 0.7 < found / 400 < 0.9


def test_a_covariate_that_separates_is_flagged(model):
    stage = Covariate("stage", (-32.86,), 16.4)
    told = findings(model, kind="classes", classes=["a", "b"], covariates=[stage])
    (words,) = told.warnings
    assert "stage separates the classes almost perfectly (coefficient -32.86)" in words
    assert not findings(model, covariates=[stage]).warnings


def test_others_that_do_better_are_named(model):
    better = findings(model, validation=validation(0.5, 0.9, 0.8))
    assert "The Lasso and the ridge predict clearly better" in better.baseline_comparison
    assert "If only prediction matters, use the Lasso" in better.next_steps[0]
    worse = findings(model, validation=validation(0.9, 0.5, -0.2))
    assert "Neither predicts better" in worse.baseline_comparison
    assert (
        "a ridge is no better than chance (R² -0.20 ± 0.00) with 3 features"
        in worse.baseline_comparison
    )
    assert not any("only prediction" in each for each in worse.next_steps)
    assert findings(model).baseline_comparison == ""


def of_pairs(metric, *scores):
    """Of ours and of others, with these shares of pairs told apart."""
    base = np.full(200, 0.5)
    made = [
        MethodScore(name, 1 - score + np.tile([0.01, -0.01], 100), 3, base, 0.5)
        for name, score in zip(("this model", "Lasso", "ridge"), scores, strict=False)
    ]
    rows, alone = np.arange(200), MethodScore("a model of age alone", 0.8 * base, 0, base, 0.5)
    return CrossValidation(metric, rows, rows % 5, base, base, made[0], tuple(made[1:]), alone)


@pytest.mark.parametrize(
    ("kind", "metric", "which"),
    [
        ("classes", AUC(), "one ill and one well row correctly"),
        ("survival", Concordance(), "rows correctly by who has the event first"),
    ],
)
def test_pairs_are_told_in_words(model, kind, metric, which):
    given = {"kind": kind, "classes": ["well", "ill"] if kind == "classes" else []}
    told = findings(model, validation=of_pairs(metric, 0.9, 0.95, 0.5), **given)
    assert told.sign == "yes"
    assert f"ranks 90% of pairs of {which}" in told.verdict
    assert f"({told.wording.symbol} 0.90 ± 0.00 standard error)" in told.verdict
    assert (
        f"a Lasso ranks 95% of pairs correctly ({told.wording.symbol} 0.95"
        in told.baseline_comparison
    )
    assert "a ridge is no better than chance" in told.baseline_comparison
    assert "The Lasso predicts clearly better" in told.baseline_comparison
    worse = findings(model, validation=of_pairs(metric, 0.55), **given)  # age alone is better
    assert worse.title == told.title
    assert "no better than those of a model of age alone" in worse.verdict
    text, references = methods(told, {})
    assert f"{told.wording.score} on held-out rows was 0.90" in text
    assert any("Cox DR" in each for each in references) is (kind == "survival")


def test_no_signal_is_told_for_every_kind(empty):
    words = {
        "numbers": "y is predicted by its mean",
        "classes": "ill is predicted by its share of the rows",
        "survival": "the risk is the same for all rows",
    }
    for kind, each in words.items():
        assert each in findings(empty, kind=kind, classes=["well", "ill"]).verdict


def test_what_cannot_be_told_apart_is_said(model):
    (said,) = [each for each in findings(model).next_steps if "cannot show which" in each]
    assert "g3" in said
    assert "g7" in said


def test_sets_that_act_together_are_told_apart_from_those_of_which_one_matters(model):
    chosen = chosen_by(model)
    sets = FeatureSet((3, 7), 0.99, together=0.1), FeatureSet((5, 9), 0.98, together=0.9)
    coef = chosen.coef.copy()
    coef[[3, 5, 7, 9]] = 1.0
    assert chosen.judgement is not None
    judgement = replace(chosen.judgement, sets=sets)
    told = replace(findings(model), chosen=replace(chosen, coef=coef, judgement=judgement))
    prefixes = {each.feature: each.prefix for each in told.found}
    assert {prefixes[3], prefixes[7]} == {"", "or "}
    assert {prefixes[5], prefixes[9]} == {"", "with "}
    together, apart = told.next_steps[:2]
    assert "act together: some of g5, g9 (98%)" in together
    assert "cannot show which of several correlated features matters: one of g3, g7 (99%)" in apart
    assert "1 of them could be replaced" in methods(told, None)[0]


def test_a_methods_paragraph_cites_what_it_names(model, empty):
    told = findings(model, validation=validation(0.5, 0.4, 0.3))
    text, references = methods(told, {"ksupport": "1.2"})
    assert "AutoIRKSN of ksupport 1.2" in text
    assert "80 samples" in text
    assert "0.50 (standard error" in text
    for number, reference in enumerate(references, start=1):
        assert reference
        assert any(str(number) in each for each in text.split("[")[1:])
    assert len(references) == len(set(references)) == 5
    text, _ = methods(findings(empty), None)
    assert "none was selected" in text


def test_names_cannot_steer_a_terminal(model):
    nasty = findings(model, names=[f"\x1b[31m{j}" for j in range(30)], target="\x1b[2J")
    texts = [
        nasty.title,
        nasty.verdict,
        nasty.baseline_comparison,
        *nasty.next_steps,
        methods(nasty, {})[0],
    ]
    assert not any("\x1b" in each for each in texts)


def test_pandas_missing_is_said_in_words(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'ksupport\[data\]'"):
        model.to_frame()


def test_names_with_braces_are_told_as_they_are(model):
    told = findings(model, validation=of_pairs(AUC(), 0.9), kind="classes",
                   classes=["{a}", "{}"])  # fmt: skip
    assert "90% of pairs of one {} and one {a} row" in told.verdict


def test_one_feature_is_told_of_in_the_singular():
    y = 3 * X[:, 5] + 0.3 * np.random.default_rng(0).standard_normal(80)
    one = IRKSNIC().fit(X, y)
    told = findings(one, validation=validation(0.8, 0.7)).verdict
    assert told.startswith("1 of 30 features was selected by IRKSNIC.")
    told = findings(one).verdict
    assert told.startswith("1 of 30 features was selected by IRKSNIC. How well new rows")


def test_effects_have_as_many_decimals_each(model):
    told = findings(model).effect_texts.values()
    assert len({len(each.partition(".")[2]) for each in told}) == 1
    assert {each[0] for each in told} <= {"+", "-"}


@pytest.mark.parametrize(
    ("lasso", "words"),
    [(0.803, "by 0.01 or more"), (0.84, "The Lasso predicts"), (0.7, "than this model.")],
)
def test_a_difference_that_rounds_to_nothing_is_none(model, lasso, words):
    assert words in findings(model, validation=validation(0.8, lasso)).baseline_comparison


def test_the_decision_on_one_feature_is_in_the_singular():
    y = 3 * X[:, 5] + 0.3 * np.random.default_rng(0).standard_normal(80)
    model = AutoIRKSN().fit(X, y)
    count = int(model.support_.sum())
    assert model.decision_.startswith(f"{count} feature{'s' * (count > 1)} selected, ")


def test_effects_of_one_sign_are_told_so():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    y = -2 * X[:, 3] + rng.standard_normal(60)
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSN(positive=True).fit(X, y)
    findings = Findings(
        estimator="AutoIRKSN", chosen=model._selection, effects=np.zeros(40),
        names=[f"x{j}" for j in range(40)], target="y", n=60, candidates=40,
    )  # fmt: skip
    assert findings.title.startswith("No signal: no positive effect can be")
    text, _ = methods(findings, {})
    assert "constrained to be non-negative" in text
    assert "No positive effect could be distinguished from noise" in text
    page = build_report(model, X, y)
    assert "no positive effect" in page
