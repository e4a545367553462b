"""From the options of a command to an estimator and its folds."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import limits
from ..._common.errors import InputError
from ...algorithms import METHODS
from ...choosing.folds import folds_of_rows
from ...design import Floats, Ints
from ...estimators import (
    IRKSNCV,
    IRKSNIC,
    AutoIRKSN,
    AutoIRKSNClassifier,
    AutoIRKSNSurvival,
    PathCV,
)
from ...estimators.auto import PREDICT_BY, AutoModel
from ...reading import Data

AUTO, CV, IC = "auto", "irksn-cv", "irksn-ic"
CHOICES = (AUTO, CV, IC, *(name for name in METHODS if name != "irksn"))
OPTIONAL_PARAMETERS = {  # not every class has them
    "--adjust-for": "unpenalized", "--positive": "positive", "--beta": "beta",
    "--predict-by": "predict_by",
}  # fmt: skip


@dataclass(frozen=True)
class FitOptions:
    """The options of a fit; None leaves the choice to the data."""

    method: str = AUTO
    k: int | None = None
    alpha: float | None = None
    cv: int = 5
    standardize: bool = True
    seed: int = 0
    positive: bool = False
    beta: float | None = None
    predict_by: str | None = None
    fdr: float | None = None
    permutations: int | None = None
    compare: bool = True  # whether to predict rows held out, beside a Lasso and a ridge
    stability: int | None = None  # pairs of half-samples on which to repeat the choice
    rows: str | None = None  # what rows and features are called; None: guessed
    features: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The parameters of a method that are not left to the data."""
        asked = {"k": self.k, "alpha": self.alpha}
        return {name: value for name, value in asked.items() if value is not None}

    def check_options(self) -> None:
        """Refuse what no data set can bear, before one is read."""
        k, alpha, beta, fdr = self.k, self.alpha, self.beta, self.fdr
        largest = f"{limits.LARGEST_BETA:g}"
        rules = (
            ("method", self.method in CHOICES, f"be one of {', '.join(CHOICES)}"),
            ("k", k is None or k >= 1, "be at least 1 and at most the number of features"),
            ("alpha", alpha is None or 0 < alpha < 1, "lie between 0 and 1"),
            ("beta", beta is None or 0 < beta <= limits.LARGEST_BETA,
             f"be a positive number up to {largest}, 1 by default"),
            ("predict_by", self.predict_by in (None, *PREDICT_BY),
             f"be one of {', '.join(PREDICT_BY)}"),
            ("fdr", fdr is None or 0 < fdr < 1, "lie between 0 and 1, such as 0.1 for a tenth"),
            ("cv", self.cv >= 2, "be at least 2"),
        )  # fmt: skip
        for name, holds, words in rules:
            if not holds:
                value = getattr(self, name)
                got = f"{value:g}" if isinstance(value, float) else repr(value)
                raise InputError(f"--{name.replace('_', '-')} must {words}; got {got}")


def estimator_for(options: FitOptions, data: Data) -> Any:
    """The estimator that the options stand for, on these data."""
    (n, d), k = data.shape, options.k
    if k is not None and k > data.n_features:
        raise InputError(f"--k must be at most the number of features, {data.n_features}; got {k}")
    if n < 3:
        raise InputError(f"at least 3 rows are needed for a fit; got {n}")
    if options.positive and len(data.classes) > 2:
        raise InputError(
            "--positive is for a target of numbers, two classes or survival times, and this has "
            f"{len(data.classes)} classes: leave it out"
        )
    common: dict[str, Any] = {"standardize": options.standardize}
    if data.covariates:
        common["unpenalized"] = data.unpenalized.tolist()
    asked = {"beta": options.beta, "predict_by": options.predict_by}
    asked["positive"] = options.positive or None
    common |= {name: value for name, value in asked.items() if value is not None}
    if options.method == IC:
        if data.groups is not None:
            raise InputError(f"--groups does not apply to --method {IC}, which holds out no rows")
    else:
        _check_groups(data.groups)
        common |= {"cv": options.cv, "random_state": options.seed}
    if data.kind in ("classes", "survival"):
        if options.method != AUTO or options.given:
            instead = "; or give --regression if classes are coded as numbers"
            raise InputError(
                f"--method, --k and --alpha need a target of numbers, and this is one of "
                f"{data.kind}: leave them out{instead if data.kind == 'classes' else ''}"
            )
        own = AutoIRKSNClassifier if data.kind == "classes" else AutoIRKSNSurvival
        return _made(own, common)
    if options.method == IC:
        return _made(IRKSNIC, options.given | common)
    if options.method == AUTO and not options.given:
        return _made(AutoIRKSN, common)
    if options.method in (AUTO, CV):
        return _made(IRKSNCV, options.given | common)
    method = METHODS[options.method]
    known = method.describe().parameters
    for name in options.given:
        if name not in known:
            raise InputError(f"--{name} does not apply to --method {options.method}")
    grid = {"method": options.method, "grid": method.grid(n, d) | options.given}
    return _made(PathCV, grid | common)


def check_sampled(options: FitOptions, estimator: Any) -> None:
    """Refuse options about sampled models, of an estimator that samples none."""
    asked = {"--fdr": options.fdr, "--permutations": options.permutations}
    for option, value in asked.items():
        if value is not None and not isinstance(estimator, AutoModel):
            raise InputError(
                f"{option} does not apply to {type(estimator).__name__}, the estimator of this "
                f"--method: leave out --method, --k and --alpha, or leave out {option}"
            )


def _made(estimator: Any, given: dict[str, Any]) -> Any:
    """An estimator with these parameters, of which it must know those that options stand for."""
    known = inspect.signature(estimator).parameters
    for option, name in OPTIONAL_PARAMETERS.items():
        if name in given and name not in known:
            raise InputError(
                f"{option} does not apply to {estimator.__name__}, which this --method stands for: "
                "try another method, or leave it out"
            )
    return estimator(**given)


def inner_folds(count: int, groups: Any, seed: int, sorts: Any, train: Ints) -> Any:
    """Folds of the rows that are trained on: a number, or splits that keep groups together."""
    if groups is None:
        return count
    _check_groups(groups[train])
    own = None if sorts is None else sorts[train]
    return folds_of_rows(len(train), count, seed, groups[train], own)


def outer_folds(
    count: int, groups: Any, y: Floats, seed: int, sorts: Floats | None = None
) -> list[tuple[Ints, Ints]]:
    """Rows to train on and rows to predict: a share of each sort, and groups together."""
    _check_groups(groups)
    return folds_of_rows(len(y), count, seed, groups, sorts)


def _check_groups(groups: Any) -> None:
    if groups is not None and len(np.unique(groups)) < 2:
        raise InputError("--groups needs at least two different labels")
