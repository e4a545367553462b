"""A fit as plain data, as tables, as a model file and as a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._common.render import plain
from ...design import Genotypes, Incomplete
from ...estimators.averaging import Averaging
from ...explain.cross_validation import CrossValidation
from ...explain.features import feature_table, kind_of, ranked_list
from ...explain.findings import Findings
from ...explain.models import speaks_for
from ...explain.paper import methods
from ...explain.report import build_report
from ...explain.univariate import univariate
from .fitted import Fitted
from .model_file import Model

SCORE = ("name", "score", "standard_error", "features")


def selected_at_fdr(fitted: Fitted, fdr: float) -> dict[str, Any]:
    """What is named at a false discovery rate, as plain data."""
    posterior, names = fitted.model.posterior_, fitted.data.feature_names
    order = np.flatnonzero(posterior.select(fdr))
    order = order[np.argsort(-posterior.inclusion[order], kind="stable")]
    return {
        "rate": fdr,
        "features": [names[j] for j in order.tolist()],
        "sets": [
            {"features": [names[j] for j in each.features], "probability": each.probability}
            for each in posterior.select_sets(fdr)
        ],
    }


def alternatives(fitted: Fitted) -> list[dict[str, Any]]:
    """Supports nearly as good, as what goes out and what comes in."""
    names = fitted.data.feature_names
    return [
        {
            "in": [names[j] for j in swap.into],
            "out": [names[j] for j in swap.out],
            "worse": swap.worse,
        }
        for swap in fitted.chosen.swaps()
    ]


def features(fitted: Fitted, findings: Findings) -> list[dict[str, Any]]:
    """The features as plain data, most certain first, then what can stand in for them."""
    names, shares = fitted.data.feature_names, fitted.stability
    lower, upper = fitted.intervals or (None, None)
    return [
        {
            "name": names[each.feature],
            "chosen": each.chosen,
            "probability": each.probability,
            "coefficient": float(fitted.coef[each.feature]),
            "lower": None if lower is None else float(lower[each.feature]),
            "upper": None if upper is None else float(upper[each.feature]),
            "speaks_for": speaks_for(fitted.model, each.feature),
            "effect": float(fitted.effects[each.feature]),
            "frequency": None if shares is None else float(shares.frequency[each.feature]),
            "stands_in_for": None if each.stands_in_for is None else names[each.stands_in_for],
        }
        for each in findings.found
    ]


def as_data(fitted: Fitted, target: str, made: dict[str, Any]) -> dict[str, Any]:
    """All that `print_summary` prints, for programs."""
    findings = fitted.findings(target)
    stability, certificate = fitted.stability, fitted.certificate
    fdr, test = fitted.options.fdr, fitted.test
    tested = None if test is None else vars(test) | {"standard_error": test.standard_error}
    told = features(fitted, findings)
    text, references = methods(findings, made.get("versions"))
    value = {
        "target": target,
        "title": findings.title,
        "signal": findings.sign,
        "verdict": findings.verdict,
        "intercept": fitted.intercept[0] if len(fitted.intercept) == 1 else fitted.intercept,
        "features": [each for each in told if each["chosen"]],
        "stand_ins": [each for each in told if not each["chosen"]],
        "adjusted_for": fitted.adjustment,
        "held_out": None if fitted.validation is None else _held_out(fitted.validation, findings),
        "beside": findings.baseline_comparison,
        "next": findings.next_steps,
        "methods": {"text": text, "references": references},
        "judgement": _judgement(fitted),
        "decision": fitted.chosen.words,
        "false_discovery_rate": None if fdr is None else selected_at_fdr(fitted, fdr),
        "permutation_test": tested,
        "remarks": fitted.remarks,
        "stability": _fields(stability, "words", "n_pairs", "threshold", "error_bound"),
        "certificate": None if certificate is None else certificate.to_dict(),
        "alternatives": alternatives(fitted),
        "seconds": round(fitted.seconds, 3),
        "passes": fitted.model.n_passes_,
        "made": made,
    }
    return dict(plain(value))


def _fields(thing: Any, *names: str) -> dict[str, Any] | None:
    return None if thing is None else {name: getattr(thing, name) for name in names}


def _held_out(validation: CrossValidation, findings: Findings) -> dict[str, Any]:
    return {
        "folds": validation.folds,
        "score": findings.wording.score,
        "baseline": _fields(validation.baseline, *SCORE),
        "ours": _fields(validation.ours, *SCORE),
        "others": [_fields(each, *SCORE) for each in validation.others],
        "clearly_better": [each.name for each in validation.clearly_better],
    }


def _judgement(fitted: Fitted) -> dict[str, Any] | None:
    """What the choice itself believes, where it gives probabilities."""
    judged = fitted.chosen.judgement
    if judged is None:
        return None
    names = fitted.data.feature_names
    return {
        "signal": judged.signal,
        "expected_f1": judged.expected_f1,
        "p_value": None if np.isnan(judged.p_value) else judged.p_value,
        "max_chain_difference": judged.posterior.max_chain_difference,
        "sets": [
            {
                "features": [names[j] for j in each.features],
                "probability": each.probability,
                "together": each.together,
            }
            for each in judged.sets
        ],
        "performance": _fields(judged.performance, "score", "standard_error"),
    }


def features_table(fitted: Fitted, target: str) -> list[list[Any]]:
    """The features as a table for spreadsheets: names of columns, then a row for each feature."""
    several = ["speaks_for"] * (len(fitted.intercept) > 1)
    numbers = ("probability", "coefficient", "lower", "upper", "effect", "frequency")
    head = ["name", *numbers, "stands_in_for", *several]
    rows = [[each[name] for name in head] for each in features(fitted, fitted.findings(target))]
    return [["feature", *(name.replace("_", " ") for name in head[1:])], *rows]


def all_features(fitted: Fitted) -> list[list[Any]]:
    """Names of columns, then a row for each feature, the best first; None where a cell is empty."""
    data = fitted.data
    frame = feature_table(fitted.model, data.X, data.y, data.feature_names).drop(columns="feature")
    head = [str(name).replace("_", " ") for name in frame.columns]
    frame["chosen"] = frame["chosen"].astype(int)
    cells = frame.astype(object).where(frame.notna(), None)
    return [head, *cells.to_numpy().tolist()]


def ranked_features(fitted: Fitted) -> str:
    """The features that the model chose from, with signed scores, as a ``.rnk`` file."""
    data = fitted.data
    alone = univariate(data.X, data.y, kind_of(fitted.model))
    alone.p_value[data.unpenalized] = np.nan  # no candidates
    return ranked_list(data.feature_names, alone)


def report_text(fitted: Fitted, target: str, made: dict[str, Any]) -> str:
    assert fitted.data.y is not None
    return build_report(
        fitted.model, fitted.data.X, fitted.data.y,
        feature_names=fitted.data.feature_names, target=target, stability=fitted.stability,
        certificate=fitted.certificate, validation=fitted.validation, made=made,
        remarks=fitted.remarks, nouns=fitted.nouns,
    )  # fmt: skip


def model_of(fitted: Fitted, target: str, ids: str | None, made: dict[str, Any]) -> Model:
    """The model file of a fit; columns to adjust for are in it as features are."""
    findings, probability = fitted.findings(target), fitted.chosen.probability
    chosen = {
        "estimator": type(fitted.model).__name__,
        "method": fitted.options.method,
        "standardize": fitted.options.standardize,
        "positive": fitted.options.positive,
        "beta": fitted.options.beta,
        "signal": findings.sign,
        "verdict": findings.verdict,
        "decision": fitted.chosen.words,
    }
    data = fitted.data
    order = findings.order
    average: Averaging | None = getattr(fitted.model, "_averaging", None)
    beside: list[int] = []  # features of the average, which the model has not
    if average is not None:
        known = {*order, *data.unpenalized.tolist()}
        beside = [j for j in average.linear.features.tolist() if j not in known]
    used = [*order, *beside, *data.unpenalized.tolist()]
    fill = None  # means of columns that new rows may lack, if rows of the fit did
    if isinstance(data.X, Genotypes | Incomplete):
        fill = np.asarray(data.X[:, np.array(used, np.intp)].mean(axis=0))
    return Model(
        target=target,
        names=tuple(data.feature_names[j] for j in used),
        coef=np.atleast_2d(fitted.model.coef_)[:, used],
        intercept=np.atleast_1d(fitted.model.intercept_).astype(np.float64),
        chosen=chosen,
        made=made,
        kind=data.kind or "numbers",
        classes=data.classes,
        adjusting=len(data.covariates),
        codings=data.codings,
        ids=ids,
        fill=fill,
        probability=None if probability is None else probability[order],
        average=None if average is None else average.of_columns(used),
        averaged=len(beside),
        duplicates=data.duplicates,
    )
