"""A Lasso and a ridge for each kind of response, tuned on the rows that they are fitted on."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._common.checks import dense
from ..design import Floats, Ints
from ..losses import Cox, Loss
from ..metrics import concordance
from .cross_validation import Kind, Make

Inner = Callable[[Ints], Any]  # folds of some rows: a number, or splits of them
RIDGE_PENALTIES = np.logspace(-2, 6, 25)  # of a ridge, on columns of unit variance
FEWER_RIDGE_PENALTIES = RIDGE_PENALTIES[6::3]  # where each takes an iteration
LASSO_PENALTIES = np.logspace(-2, 2, 9)  # of a Lasso of classes: what the loss is multiplied by


def scaled(model: Any, centred: bool = True) -> Any:
    """A model after a StandardScaler."""
    return make_pipeline(StandardScaler(with_mean=centred), model)


def rotated(model: Any, centred: bool = True) -> Any:
    """A ridge on principal axes: the same predictions, with as many coefficients as rows."""
    if not centred:
        return scaled(model, centred)
    return make_pipeline(StandardScaler(), PCA(svd_solver="full"), model)


def lasso_and_ridge(X: Any, inner: Inner, kind: Kind = "numbers") -> dict[str, Make]:
    """A Lasso and a ridge, each tuned on its training rows; empty if a package is missing."""
    centred = not sp.issparse(X)
    if kind == "survival":
        if find_spec("sksurv") is None:
            return {}
        return {
            "Lasso": lambda train: CoxLasso(inner(train)),
            "ridge": lambda train: CoxRidge(inner(train)),
        }
    if kind == "classes":
        return {
            "Lasso": lambda train: scaled(_lasso_of_classes(inner(train)), centred),
            "ridge": lambda train: rotated(_ridge_of_classes(inner(train)), centred),
        }
    return {
        "Lasso": lambda train: scaled(LassoCV(cv=inner(train)), centred),
        "ridge": lambda train: scaled(RidgeCV(alphas=RIDGE_PENALTIES), centred),
    }


def estimator_names(kind: Kind) -> tuple[str, str]:
    """The estimators behind the Lasso and the ridge."""
    return {
        "numbers": ("scikit-learn's LassoCV", "scikit-learn's RidgeCV"),
        "classes": ("scikit-learn's LogisticRegressionCV with an l1 penalty",
                    "scikit-learn's LogisticRegressionCV"),
        "survival": ("scikit-survival's CoxnetSurvivalAnalysis",
                     "scikit-survival's CoxPHSurvivalAnalysis with a ridge penalty"),
    }[kind]  # fmt: skip


class OneAgainstOthers(ClassifierMixin, BaseEstimator):
    """One-against-rest: a model for each class; one model for two classes."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any, sample_weight: Floats | None = None) -> Self:
        """Fit them one by one."""
        self.classes_ = np.unique(y)
        asked = self.classes_ if self.classes_.size > 2 else self.classes_[1:]
        self.models_ = [clone(self.model).fit(X, y == each, sample_weight) for each in asked]
        self.coef_ = np.vstack([each.coef_ for each in self.models_])
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities; of more than two classes those of all models, normalised."""
        p = np.column_stack([each.predict_proba(X)[:, 1] for each in self.models_])
        return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p / p.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """The most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _lasso_of_classes(cv: Any) -> Any:
    # The intercept is penalised as a coefficient of its column, so that column is large.
    return OneAgainstOthers(
        LogisticRegressionCV(
            Cs=LASSO_PENALTIES, cv=cv, solver="liblinear", scoring="neg_log_loss", random_state=0,
            intercept_scaling=10.0, **_penalised(1.0),
        )
    )  # fmt: skip


def _ridge_of_classes(cv: Any) -> Any:
    return LogisticRegressionCV(
        Cs=1.0 / FEWER_RIDGE_PENALTIES[::-1], cv=cv, solver="newton-cholesky",
        scoring="neg_log_loss", **_penalised(0.0),
    )  # fmt: skip


def _penalised(l1_ratio: float) -> dict[str, Any]:
    """By l1 or by l2, by the parameters of this version of scikit-learn."""
    if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8):
        return {"l1_ratios": (l1_ratio,), "use_legacy_attributes": False}
    return {"penalty": "l1" if l1_ratio else "l2"}


class _CoxModel(BaseEstimator):
    """A model of scikit-survival on columns of unit variance, tuned by concordance in folds."""

    def __init__(self, cv: Any = 5) -> None:
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Tune, and fit; y has columns time and event, or fields of these names."""
        self.scaler_ = StandardScaler()
        self.coef_ = self._tuned(self.scaler_.fit_transform(dense(X)), Cox().checked(y))
        return self

    def _tuned(self, Z: Floats, y: Floats) -> Floats:
        raise NotImplementedError

    def predict(self, X: Any) -> Floats:
        """Logarithms of risks."""
        return np.asarray(self.scaler_.transform(dense(X)) @ self.coef_)


class CoxLasso(_CoxModel):
    """The l1 path."""

    def _tuned(self, Z: Floats, y: Floats) -> Floats:
        whole = self._path().fit(Z, structured(y))
        scores = np.zeros(len(whole.alphas_))
        for train, test in _by_event(self.cv, y):
            part = self._path(alphas=whole.alphas_).fit(Z[train], structured(y[train]))
            scores += [_ordered(y[test], Z[test] @ w) for w in part.coef_.T]
        return np.asarray(whole.coef_[:, int(np.argmax(scores))])

    def _path(self, **how: Any) -> Any:
        from sksurv.linear_model import CoxnetSurvivalAnalysis

        return CoxnetSurvivalAnalysis(l1_ratio=1.0, alpha_min_ratio=0.05, n_alphas=40, **how)


class CoxRidge(_CoxModel):
    """A ridge, on principal axes, of which there are few."""

    def _tuned(self, Z: Floats, y: Floats) -> Floats:
        from sksurv.linear_model import CoxPHSurvivalAnalysis

        axes, folds = PCA(svd_solver="full").fit(Z), _by_event(self.cv, y)
        search = GridSearchCV(CoxPHSurvivalAnalysis(), {"alpha": FEWER_RIDGE_PENALTIES}, cv=folds)
        search.fit(axes.transform(Z), structured(y))
        return np.asarray(search.best_estimator_.coef_ @ axes.components_)


def _by_event(cv: Any, y: Floats) -> list[tuple[Ints, Ints]]:
    """Splits, with a share of the events each."""
    return list(check_cv(cv, y[:, 1], classifier=True).split(y, y[:, 1]))


def _ordered(y: Floats, risk: Floats) -> float:
    """The concordance; 0.5 where no rows can be compared."""
    try:
        return concordance(y, risk)
    except ValueError:
        return 0.5


def structured(y: Floats) -> Any:
    """Columns time and event as scikit-survival wants them."""
    return np.array([(bool(e), t) for t, e in y], [("event", bool), ("time", float)])


class CovariatesOnly(BaseEstimator):
    """A model of some columns alone: those to adjust for, or none."""

    def __init__(self, loss: Loss, columns: Ints) -> None:
        self.loss = loss
        self.columns = columns

    def fit(self, X: Any, y: Floats, sample_weight: Floats | None = None) -> Self:
        """Fit them, by the loss."""
        known, ones = self._known(X), np.ones((int(self.loss.has_constant), len(y)))
        found = self.loss.refit(known, y, sample_weight, unpenalized=ones)
        of_columns = np.atleast_2d(found.coef)  # a row for each class, of more than two
        coef = np.zeros((len(of_columns), X.shape[1]))
        coef[:, self.columns] = of_columns
        self.coef_, self.intercept_ = coef, found.unpenalized.reshape(len(coef), -1).sum(axis=1)
        return self

    def _known(self, X: Any) -> Floats:
        """The columns, as rows."""
        return np.ascontiguousarray(dense(X[:, self.columns]).T, np.float64)

    def predict(self, X: Any) -> Floats:
        """Predicted means."""
        eta = (self.coef_[:, self.columns] @ self._known(X)).T + self.intercept_
        return np.asarray(self.loss.mean(eta if len(self.coef_) > 1 else eta[:, 0]))

    def predict_proba(self, X: Any) -> Floats:
        """Of classes."""
        p = self.predict(X)
        return p if p.ndim == 2 else np.column_stack([1.0 - p, p])
