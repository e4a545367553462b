"""The sentences of a recovery report, most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import RecoveryReport

EVIDENCE = (
    "These conditions are sufficient, not necessary, and were evaluated at the given w: evidence, "
    "not proof. With noise even good models rarely meet them; the error on held-out rows and the "
    "stability of the selected features over half-samples are more informative."
)
ROUNDING = 1e-10  # a share of the residual that is no noise
SHOWN = 10  # near-duplicate pairs, and tight features, listed in full


def findings(report: RecoveryReport) -> tuple[str, ...]:
    """What the numbers of a report mean."""
    words = [*_verdict(report), _methods(report), f"For methods based on l1: {report.l1.why}."]
    if report.n_duplicates:
        words.append(
            f"Near-duplicates, one feature on the support and one outside ({report.n_duplicates} "
            "pairs), make the support ambiguous: the data can hardly distinguish them."
        )
    if report.noise_share is not None:
        words.append(f"The residual is {report.noise_share:.1%} of y in norm. {_error(report)}")
    return (*words, *report.remarks, EVIDENCE)


def _verdict(report: RecoveryReport) -> list[str]:
    irksn, name = report.irksn, report.feature_names
    recovers = irksn.alpha_sharp > 0
    verdict = "recovers it" if recovers else "may or may not recover it"
    words = [f"If this vector is the truth, IRKSN with k={irksn.k} {verdict}: {irksn.why}."]
    if recovers:
        paper = f" (the paper asks for less than {irksn.alpha_max:.3g})" if irksn.holds else ""
        words.append(f"Any alpha below {irksn.alpha_sharp:.3g} is small enough{paper}.")
    if irksn.tight_out:
        rivals = ", ".join(name[i] for i in irksn.tight_out[:SHOWN])
        weakest = ", ".join(name[j] for j in irksn.tight_in[:SHOWN])
        words.append(f"The tight features are {rivals} outside the support and {weakest} on it.")
    return words


def _methods(report: RecoveryReport) -> str:
    met = [row.method for row in report.methods if row.status == "met"]
    if met:
        return f"Sufficient conditions are met for: {', '.join(met)}."
    return (
        "No method of Table 1 has its sufficient condition met here, which is no evidence "
        "against the support."
    )


def _error(report: RecoveryReport) -> str:
    bound = report.bound
    if report.noise_share is not None and report.noise_share >= 1:
        return (
            "So w explains nothing of this y: check that X and y are those of the fit, in the same "
            "order, centred and scaled alike."
        )
    if bound is None:
        limit = report.irksn.alpha_sharp
        if limit > 0:
            return f"There is no error bound at alpha={report.alpha:.3g}, only below {limit:.3g}."
        return "There is no error bound, because the condition fails."
    if report.noise_share is None or report.noise_share < ROUNDING:
        return "Without noise the iterates converge to w."
    relative = bound.best / report.w_norm
    size = "less than w itself" if relative < 1 else "more than w itself, so it says little"
    return (
        "Taken as the noise, it bounds the error of a path stopped at the best moment "
        f"by {bound.best:.3g}: {relative:.3g} times the norm of w, {size}."
    )
