"""A paragraph for the methods section of a paper, with its references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._common.names import shown
from ..algorithms import METHODS
from .cross_validation import CrossValidation
from .features import act_together, shared_sets
from .findings import Findings
from .wording import probability_text, two_decimals

REFERENCES = {
    "irksn": "de Vazelhes W, Mukhoty B, Yuan X-T, Gu B. Iterative Regularization with k-support "
    "Norm: An Important Complement to Sparse Recovery. Proceedings of the AAAI Conference on "
    "Artificial Intelligence 38, 2024. doi:10.1609/aaai.v38i10.29057",
    "gibbs": "George EI, McCulloch RE. Variable Selection via Gibbs Sampling. Journal of the "
    "American Statistical Association 88, 1993.",
    "lasso": "Tibshirani R. Regression Shrinkage and Selection via the Lasso. Journal of the "
    "Royal Statistical Society B 58, 1996.",
    "ridge": "Hoerl AE, Kennard RW. Ridge Regression: Biased Estimation for Nonorthogonal "
    "Problems. Technometrics 12, 1970.",
    "sklearn": "Pedregosa F et al. Scikit-learn: Machine Learning in Python. Journal of Machine "
    "Learning Research 12, 2011.",
    "cox": "Cox DR. Regression Models and Life-Tables. Journal of the Royal Statistical Society B "
    "34, 1972.",
    "sksurv": "Pölsterl S. scikit-survival: A Library for Time-to-Event Analysis Built on Top of "
    "scikit-learn. Journal of Machine Learning Research 21, 2020.",
}
MODELS = {
    "numbers": "linear models",
    "classes": "logistic models",
    "survival": "Cox models",
}


def methods(findings: Findings, versions: Any) -> tuple[str, list[str]]:
    """A paragraph for the methods section, and the references that it cites by number."""
    cited: list[str] = []

    def cite(*keys: str) -> str:
        numbers = []
        for key in keys:
            if key not in cited:
                cited.append(key)
            numbers.append(cited.index(key) + 1)
        return f"[{', '.join(map(str, sorted(numbers)))}]"

    text = " ".join(_sentences(findings, dict(versions or {}), cite))
    return text, [REFERENCES[key] for key in cited]


def methods_text(findings: Findings, versions: Any) -> str:
    """That paragraph and its references as plain text."""
    text, references = methods(findings, versions)
    lines = [f"[{number}] {each}" for number, each in enumerate(references, start=1)]
    return "\n".join([text, "", *lines, ""])


def _sentences(findings: Findings, versions: dict[str, str], cite: Any) -> Iterator[str]:
    number = f" {versions['ksupport']}" if "ksupport" in versions else ""
    title = METHODS[findings.chosen.method].title
    n, d = findings.n, findings.candidates
    by = f"{findings.estimator} ({title}) of ksupport{number}"
    if findings.chosen.method == "irksn":
        by = f"{findings.estimator} of ksupport{number}, which uses regularisation paths of {title}"
    yield (
        f"Features associated with {shown(findings.target)} were selected among {d} in {n} samples "
        f"with {by} {cite('irksn')}."
    )
    if findings.chosen.judgement is not None:
        cox = f" {cite('cox')}" if findings.kind == "survival" else ""
        laplace = "" if findings.kind == "numbers" else " and Laplace approximations"
        p = findings.chosen.judgement.p_value
        tested = f" A permutation test of the global null hypothesis gave p = {p:.2f}." * (p == p)
        yield (
            "The posterior inclusion probability of each feature was estimated by Gibbs sampling "
            f"{cite('gibbs')} of sparse {MODELS[findings.kind]}{cox}, with normal priors for the "
            f"coefficients{laplace}.{tested} The features with the largest expected "
            f"F{findings.chosen.judgement.beta:g} score were selected, and their coefficients "
            f"estimated with a ridge penalty {cite('ridge')}."
        )
    if findings.chosen.positive:
        yield "Coefficients were constrained to be non-negative."
    if findings.imputed:
        yield (
            "Missing values were replaced by the mean of the feature, in cross-validation by its "
            "mean over the training rows."
        )
    if findings.adjusted is not None:
        yield f"The model was {findings.adjusted[0].lower()}{findings.adjusted[1:]}"
    yield _result(findings)
    if findings.validation is not None:
        yield _held_out(findings, findings.validation, cite)


def _held_out(findings: Findings, validation: CrossValidation, cite: Any) -> str:
    """How well held-out rows are predicted."""
    ours, baseline = validation.ours, validation.baseline
    without = baseline.name.removesuffix(" (baseline)")
    words = (
        f"In {validation.folds}-fold cross-validation of the whole procedure the "
        f"{findings.wording.score} on held-out rows was {two_decimals(ours.score)} (standard error "
        f"{ours.standard_error:.2f}; {without}: {two_decimals(baseline.score)})"
    )
    if not validation.others:
        return f"{words}."
    scores = " and ".join(
        f"{two_decimals(each.score)} for a {each.name}" for each in validation.others
    )
    cited = cite("lasso", "ridge", "sksurv" if findings.kind == "survival" else "sklearn")
    return f"{words}, {scores}, each tuned within the training rows {cited}."


def _result(findings: Findings) -> str:
    size = findings.chosen.size
    if size == 0:
        what = "positive effect" if findings.chosen.positive else "feature"
        return f"No {what} could be distinguished from noise, and none was selected."
    sets = shared_sets(findings.chosen)
    text = "One feature was selected" if size == 1 else f"{size} features were selected"
    if findings.chosen.probability is not None:
        p = findings.chosen.probability[findings.chosen.support]
        low, high = probability_text(float(p.min())), probability_text(float(p.max()))
        if size == 1:
            text += f", with a posterior inclusion probability of {high}"
        elif low == high:
            text += f", each with a posterior inclusion probability of {high}"
        else:
            text += f", with posterior inclusion probabilities from {low} to {high}"
    inside = findings.chosen.support
    several = [
        each for each in sets if inside[list(each.features)].any() and not act_together(each)
    ]
    if several:
        text += f"; {len(several)} of them could be replaced by correlated features"
    return text + "."
