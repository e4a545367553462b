"""The report: one self-contained HTML file that explains a model."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import confusion_matrix

from ..._common.names import names_seen
from ...choosing.stability import StabilitySelection
from ...design import Floats, Problem
from ...theory.report import RecoveryReport
from ..cross_validation import CrossValidation, metric_for
from ..figures import Predictions, heat_of
from ..findings import findings_of
from ..models import Model, chosen_by
from ..wording import Nouns
from . import drawn
from .details import details
from .text import Contents, label, sections


def build_report(
    model: Model,
    X: Any,
    y: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    target: str = "y",
    stability: StabilitySelection | None = None,
    certificate: RecoveryReport | None = None,
    validation: CrossValidation | None = None,
    made: Mapping[str, Any] | None = None,
    remarks: Sequence[str] = (),
    nouns: Nouns | None = None,
) -> str:
    """Explain a fitted model in one HTML page that needs nothing else.

    Parameters
    ----------
    model : estimator of ksupport
        A fitted model of one target.
    X : array, data frame or sparse matrix of shape (n, d)
        The measurements of the fit.
    y : array of shape (n,)
        The response of the fit.
    feature_names : sequence of str, optional
        Names of the columns; any text is escaped.  None: the names seen in the fit.
    target : str
        Name of the response.
    stability : StabilitySelection, optional
        How often features are chosen on half-samples.
    certificate : RecoveryReport, optional
        What ``model.certify(X, y)`` says.
    validation : CrossValidation, optional
        How well this method and others predict held-out rows.
    made : mapping, optional
        How the model was made: ``command``, ``seed``, ``versions``, ``data``.
    remarks : sequence of str
        Sentences to add to the summary.
    nouns : Nouns, optional
        What rows and features are called; None: guessed from the names of columns.

    Returns
    -------
    str
        The page; it holds the drawn numbers only, not the data.

    Examples
    --------
    >>> from ksupport import AutoIRKSN
    >>> from ksupport.datasets import make_correlated_data
    >>> from ksupport.explain.report import build_report
    >>> X, y, w = make_correlated_data(60, 100, rho=0.5, density=0.03, random_state=0)
    >>> page = build_report(AutoIRKSN().fit(X, y), X, y)
    >>> page.startswith("<!doctype html>"), len(page) < 5_000_000
    (True, True)
    """
    model, y, several = _of_one_target(model, y)
    problem = model._problem_again(X, y, None)
    eta = model._eta(X)
    eta = eta if several else np.ravel(eta)
    fitted = _fitted(problem, eta)
    X, _ = model._validated(X, y, multi_output=False, reset=False)
    names = _names(model, feature_names, X.shape[1])
    if stability is not None and stability.frequency.size != len(names):
        raise ValueError(
            f"stability must have a frequency for each of the {len(names)} features of X, got "
            f"{stability.frequency.size}: compute it on the same X"
        )
    findings = findings_of(model, X, y, names, target=target, validation=validation, nouns=nouns)
    order = findings.order
    none: tuple[Floats, list[tuple[int, int, float]]] = np.empty((0, 0)), []
    correlation, near_copies = drawn.correlations_of(X, order) if order else none
    contents = Contents(
        findings=findings, model=model, stability=stability, certificate=certificate,
        near_copies=near_copies, made=dict(made or {}), remarks=[*findings.warnings, *remarks],
    )  # fmt: skip
    by = eta.max(axis=1) if several else eta
    heat = heat_of(model._loss, X, fitted.observed, by, findings.effects, order) if order else None
    pictures = _pictures(model, problem, fitted, contents) | {
        "heat": drawn.heat_cells(heat, names),
        "correlation": {
            "names": [label(names[j], 28) for j in order[: len(correlation)]],
            "r": [drawn.rounded(row) for row in correlation],
        },
    }
    return _page(contents, pictures)


def _of_one_target(model: Model, y: ArrayLike) -> tuple[Model, ArrayLike, bool]:
    """A model of one target, its response, and whether that has more than two classes."""
    chosen = chosen_by(model)
    several = len(getattr(model, "classes_", ())) > 2
    if chosen.flat or several:
        return model, y, several
    if len(chosen.coef) == 1:
        return model._of_one_column(), np.ravel(y), False
    raise ValueError(
        f"a report needs a model of one target, got {len(model.coef_)}: fit and report the columns "
        "of y one at a time"
    )


def _names(model: Model, given: Sequence[str] | None, d: int) -> list[str]:
    """Names of the columns: those given, those that the model has seen, or numbers."""
    known = names_seen(model) if given is None else given
    names = [f"x{j}" for j in range(d)] if known is None else [str(name) for name in known]
    if len(names) != d:
        raise ValueError(f"feature_names must have {d} names to match X, got {len(names)}")
    return names


def _fitted(problem: Problem, eta: Floats) -> Predictions:
    """Predictions of the rows of the fit."""
    loss = problem.losses[0]
    y = loss.one_by_one(problem.Y)[0]
    every, same = np.arange(len(y)), np.zeros(len(y), np.intp)
    return Predictions(metric_for(loss).kind, every, y, loss.mean(eta), same, held_out=False)


def _pictures(
    model: Model, problem: Problem, fitted: Predictions, contents: Contents
) -> dict[str, Any]:
    """All that the script draws."""
    findings = contents.findings
    names, order = findings.names, findings.order
    walks, at, record = drawn.walks_of(findings.chosen, model.max_iter, problem)
    features, entered = drawn.drawn_features(walks, np.asarray(order, np.intp))
    contents.n_drawn, contents.n_entered = len(features), entered
    inside = set(order)
    predictions = fitted if findings.validation is None else Predictions.of(findings.validation)
    if predictions.predicted.ndim == 2:
        classes = predictions.predicted.argmax(axis=1)
        every = np.arange(predictions.predicted.shape[1])
        contents.confusion = confusion_matrix(predictions.observed, classes, labels=every).tolist()
    contents.predicted = drawn.predicted_of(predictions)
    residuals = None
    if findings.kind == "numbers":
        residuals = drawn.residuals_of(fitted.observed, fitted.predicted)
    return {
        "target": label(findings.target, 40),
        "affected": label(findings.wording.affected, 40),
        "found": drawn.found_of(findings, model, contents.stability),
        "features": findings.nouns.features,
        "rows": findings.nouns.rows,
        "row": findings.nouns.row,
        "probability": findings.chosen.probability is not None,
        "names": [label(names[j]) for j in features],
        "chosen": [int(j in inside) for j in features],
        "unit": "standardised coefficient" if model.standardize else "coefficient",
        "paths": [drawn.lines_of(walk, features) for walk in walks],
        "at": [at, record],
        "surface": drawn.surface_of(findings.chosen),
        "scores": drawn.scores_of(findings.chosen),
        "classes": [label(each, 28) for each in findings.classes],
        "predicted": contents.predicted,
        "residuals": residuals,
    }


def _page(contents: Contents, pictures: dict[str, Any]) -> str:
    assets = files("ksupport.explain.report") / "assets"
    template, style, script = (
        (assets / name).read_text(encoding="utf-8")
        for name in ("report.html", "report.css", "report.js")
    )
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src blob: data:; base-uri 'none'; form-action 'none'"
    )
    return Template(template).substitute(
        sections(contents) | details(contents),
        policy=escape(policy),
        style=style,
        script=script,
        data=_inert(pictures),
        criterion_hidden="hidden" if pictures["surface"] is pictures["scores"] is None else "",
        found_hidden="" if pictures["found"] else "hidden",
        residuals_hidden="hidden" if pictures["residuals"] is None else "",
        stability_hidden="hidden" if contents.stability is None else "",
        certificate_hidden="hidden" if contents.certificate is None else "",
    )


def _digest(text: str) -> str:
    """The hash of an inline script or style in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inert(value: Any) -> str:
    """JSON that is safe inside of a script element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&]", lambda match: f"\\u{ord(match[0]):04x}", text)
