"""Shapes of all that a fit leaves: every estimator, response and kind of unpenalised column."""

import warnings
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from ksupport import (
    IHT,
    IRCR,
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    IROSR,
    KSN,
    SRDI,
    AutoIRKSN,
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    IRKSNClassifier,
    IRKSNCVClassifier,
    IRKSNICClassifier,
    NoSignalWarning,
    PathCV,
    PathIC,
    estimators,
)

pd = pytest.importorskip("pandas")

N = 90
RNG = np.random.default_rng(0)
MEASURED = RNG.standard_normal((N, 6))
SEX = RNG.choice(["f", "m", "x"], N)
AGE = RNG.uniform(20, 60, N)
ETA = 2 * MEASURED[:, 0] - 2 * MEASURED[:, 3] + (SEX == "m") - 0.5 * (SEX == "x") + AGE / 40
NUMBERS = ETA + 0.3 * RNG.standard_normal(N)
SECOND = MEASURED[:, 0] + MEASURED[:, 3] + 0.3 * RNG.standard_normal(N)
NOISY = ETA + 2 * RNG.logistic(size=N)
DIED = RNG.exponential(np.exp(-ETA))
FRAME = pd.DataFrame(MEASURED, columns=list("abcdef")).assign(age=AGE, sex=SEX)

RESPONSES = {
    "numbers": NUMBERS,
    "one column": NUMBERS[:, None],
    "two columns": np.column_stack([NUMBERS, SECOND]),
    "counts": RNG.poisson(np.exp(0.4 * ETA)) * 1.0,
    "two classes": np.where(np.median(NOISY) < NOISY, "yes", "no"),
    "three classes": np.digitize(NOISY, np.quantile(NOISY, [0.3, 0.7])),
    "survival": np.column_stack([DIED, RNG.random(N) < 0.7]),
}
ROWS = {"one column": 1, "two columns": 2, "two classes": 1, "three classes": 3}  # of coef_

UNPENALIZED = {
    "none": (),
    "a number": ("age",),
    "text": ("sex",),
    "both": ("age", "sex"),
}
LEVELS = {"sex=m": SEX == "m", "sex=x": SEX == "x"}

PATHS = (IRKSN, KSN, IRCR, IROSR, SRDI, IHT)
STRUCTURED = (IRKSN, IRKSNIC, IRKSNCV, AutoIRKSN)
OF_CLASSES = (IRKSNClassifier, IRKSNICClassifier, IRKSNCVClassifier, AutoIRKSNClassifier)
OF_MANY = (IRKSNClassifier, AutoIRKSNClassifier)
CASES = [
    *((kind(max_iter=20), y) for kind in PATHS for y in ("numbers", "one column", "two columns")),
    *((PathIC(method), "numbers") for method in ("irksn", "lasso")),
    (PathCV(max_iter=50), "numbers"),
    (PathCV("omp", refit="ridge"), "numbers"),
    *((kind(), "numbers") for kind in (IRKSNIC, IRKSNCV, AutoIRKSN)),
    *((kind(shared_support=True), y) for kind in STRUCTURED for y in ("one column", "two columns")),
    *((kind(positive=True), "numbers") for kind in STRUCTURED),
    *((kind(loss="huber"), "numbers") for kind in STRUCTURED),
    (IRKSN(loss="huber"), "two columns"),
    *((kind(loss="poisson"), "counts") for kind in STRUCTURED),
    *((kind(), "two classes") for kind in OF_CLASSES),
    *((kind(positive=True), "two classes") for kind in OF_MANY),
    *((kind(), "three classes") for kind in OF_MANY),
    (AutoIRKSNSurvival(), "survival"),
]


for model, _ in CASES:
    if "predict_by" in model.get_params():  # what is written out here
        model.set_params(predict_by="support")


@dataclass(frozen=True)
class Fitted:
    """A model, the response that it was fitted to and the columns that it is adjusted for."""

    model: Any
    response: str
    adjusted: tuple[str, ...]

    @property
    def frame(self) -> Any:
        left_out = [name for name in ("age", "sex") if name not in self.adjusted]
        return FRAME.drop(columns=left_out)

    @property
    def d(self) -> int:
        return self.frame.shape[1]

    @property
    def targets(self) -> tuple[int, ...]:
        """The leading axes of coefficients."""
        return (ROWS[self.response],) if self.response in ROWS else ()

    @property
    def columns(self) -> tuple[int, ...]:
        """The trailing axes of predictions: two classes have one number a row."""
        return () if self.response == "two classes" else self.targets

    def linear(self) -> Any:
        """X w, what levels of categories add, and the intercept, written out."""
        X = self.frame.assign(sex=0.0) if "sex" in self.adjusted else self.frame
        eta = X.to_numpy(float) @ self.model.coef_.T + self.model.intercept_
        for name, column in LEVELS.items() if "sex" in self.adjusted else ():
            eta = eta + np.multiply.outer(
                column, np.reshape(self.model.adjustment_[name], self.targets)
            )
        return eta.reshape(N, *self.columns)

    @property
    def walks(self) -> tuple[int, ...]:
        """Of each target one of its own, unless they share their support."""
        return () if self.model.shared_support or self.response == "three classes" else self.columns

    @property
    def adjustments(self) -> dict[str, tuple[int, ...]]:
        names = [name for name in self.adjusted if name != "sex"]
        names += list(LEVELS) if "sex" in self.adjusted else []
        return dict.fromkeys(names, self.columns)


def lengths(values: Any) -> set[int]:
    return {len(each) for each in values}


# What each attribute must look like, given the case; None: one number, text or object.
CHECKS = {
    "coef_": lambda case, it: it.shape == (*case.targets, case.d),
    "intercept_": lambda case, it: np.shape(it) == case.targets,
    "support_": lambda case, it: it.shape == (case.d,) and it.dtype == bool,
    "adjustment_": lambda case, it: {k: np.shape(v) for k, v in it.items()} == case.adjustments,
    "unpenalized_": lambda case, it: it.shape == (len(case.adjusted),),
    "levels_": lambda case, it: it == ({"sex": ["f", "m", "x"]} if "sex" in case.adjusted else {}),
    "n_features_in_": lambda case, it: it == case.d,
    "feature_names_in_": lambda case, it: it.tolist() == list(case.frame),
    "classes_": lambda case, it: it.shape == ({"two classes": 2}.get(case.response, 3),),
    "n_iter_": lambda case, it: np.shape(it) == case.walks,
    "stop_reason_": lambda case, it: np.shape(it) == case.walks,
    "history_": lambda case, it: ((len(it),) if isinstance(it, list) else ()) == case.walks,
    "held_out_": lambda case, it: it is None,
    "probability_": lambda case, it: it.shape == (case.d,),
    "path_": lambda case, it: len(lengths(it.values())) == 1,
    "alternatives_": lambda case, it: all(np.ndim(score) == 0 for _, score in it),
    "sets_": lambda case, it: all(set(each.features) <= set(range(case.d)) for each in it),
    "outliers_": lambda case, it: it.ndim == 1 and it.size < N,
    "unique_times_": lambda case, it: it.shape == (len(np.unique(DIED)),),
    "baseline_survival_": lambda case, it: len(it.x) == len(it.y) == len(np.unique(DIED)),
    "cum_baseline_hazard_": lambda case, it: len(it.x) == len(it.y) == len(np.unique(DIED)),
    "params_": lambda case, it: isinstance(it, dict),
}  # fmt: skip
SINGLE = {
    "n_passes_", "k_", "alpha_", "score_", "refit_", "signal_", "p_value_", "posterior_",
    "effective_rows_", "expected_f1_", "decision_", "performance_",
}  # fmt: skip


def all_cases(*kinds):
    for (model, response), kind in product(CASES, kinds):
        adjusted = UNPENALIZED[kind]
        if "Auto" in type(model).__name__ and kind in ("a number", "text"):
            continue  # both at once, for the sake of time
        fresh = clone(model).set_params(unpenalized=list(adjusted) or None)
        if "cv" in fresh.get_params():
            fresh.set_params(cv=3)
        yield pytest.param(
            Fitted(fresh, response, adjusted), id=f"{model}-{response}-{kind}".replace("'", "")
        )


@pytest.fixture(scope="module", params=list(all_cases(*UNPENALIZED)))
def case(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoSignalWarning)
        request.param.model.fit(request.param.frame, RESPONSES[request.param.response])
    return request.param


def test_every_fitted_attribute_has_the_shape_of_its_case(case):
    found = {name: value for name, value in vars(case.model).items() if name.endswith("_")}
    assert {"coef_", "intercept_", "support_", "adjustment_", "n_iter_"} <= set(found)
    for name, value in found.items():
        if name in SINGLE:
            assert np.ndim(value) == 0, name
        else:
            assert CHECKS[name](case, value), (name, value)


def test_predictions_are_the_model_written_out(case):
    model, eta = case.model, case.linear()
    link = {"counts": np.exp}.get(case.response, lambda eta: eta)
    if "classes" in case.response:
        assert_allclose(model.decision_function(case.frame), eta, atol=1e-10)
        assert model.predict_proba(case.frame).shape == (N, len(model.classes_))
        best = eta > 0 if eta.ndim == 1 else eta.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(case.frame), model.classes_[best.astype(int)])
    else:
        assert_allclose(model.predict(case.frame), link(eta), rtol=1e-9, atol=1e-10)
    if case.response == "survival":
        for each in (model.predict_survival_function, model.predict_cumulative_hazard_function):
            assert each(case.frame, return_array=True).shape == (N, len(model.unique_times_))
    assert model.transform(case.frame).shape == (N, model.support_.sum())


@pytest.mark.parametrize("case", list(all_cases("both")), indirect=True)
def test_a_category_is_its_levels_as_columns_of_zeros_and_ones(case):
    spelled = case.frame.drop(columns="sex").assign(**{k: 1.0 * v for k, v in LEVELS.items()})
    other = clone(case.model).set_params(unpenalized=["age", *LEVELS])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoSignalWarning)
        other.fit(spelled, RESPONSES[case.response])
    assert other.adjustment_.keys() == case.model.adjustment_.keys()
    for name, value in other.adjustment_.items():
        assert_allclose(value, case.model.adjustment_[name], rtol=1e-5, atol=1e-6)
    asked = "decision_function" if "classes" in case.response else "predict"
    one, two = getattr(other, asked)(spelled), getattr(case.model, asked)(case.frame)
    assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def test_every_estimator_is_here():
    assert {type(model).__name__ for model, _ in CASES} == set(estimators.__all__)
