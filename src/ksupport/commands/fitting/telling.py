"""What a fit found, as text and as plain data: the answers in the order of the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from rich.console import Console

from ..._common.names import shown
from ..._common.render import plain
from ...explain.account import Account, certainty
from ...explain.found import Found
from ...explain.paper import methods
from ...explain.trials import Trial, Trials
from ..terminal.printing import heading, paragraph, table
from .fitted import Fitted

MOST = 40  # features listed on a terminal
BENEATH = 3  # of them that stand in for the same one
MOST_ALTERNATIVES = 5


def tell(out: Console, fitted: Fitted, target: str) -> None:
    """The answers, most important first; the certificate last, as it tells least."""
    account = fitted.account(target)
    n, d = fitted.data.shape[0], fitted.data.n_features
    heading(out, f"{account.title} ({n} rows, {d} features)")
    tested = [] if fitted.test is None else [fitted.test.words]
    _answer(out, "Is there anything here?", [account.verdict, *tested])
    if account.order:
        heading(out, "\nWhich features?")
        _tell_features(out, fitted, account)
    if fitted.wish.fdr is not None:
        _tell_at_rate(out, fitted, fitted.wish.fdr)
    if account.adjusted is not None:
        paragraph(out, f"{account.adjusted} {_adjustment(fitted)}")
    if account.beside:
        _answer(out, "Would a Lasso or a ridge do better?", [account.beside])
    _answer(out, "What next?", [f"- {each}" for each in account.next_steps])
    details = list(_details(fitted))
    if details:
        _answer(out, "Details", details)


def _adjustment(fitted: Fitted) -> str:
    """The coefficients of what the model is adjusted for."""
    told = [f"{shown(name)} {value:.4g}" for name, value in fitted.adjustment.items()]
    return f"{'Its coefficient' if len(told) == 1 else 'Their coefficients'}: {', '.join(told)}."


def _answer(out: Console, question: str, texts: list[str]) -> None:
    heading(out, f"\n{question}")
    for text in texts:
        paragraph(out, text)


def _tell_features(out: Console, fitted: Fitted, account: Account) -> None:
    certain, halves = fitted.chosen.probability is not None, fitted.stability is not None
    header = [
        "feature", *["probability"] * certain, "effect", "coefficient",
        *["speaks for"] * (len(account.classes) > 2), *["chosen on halves"] * halves,
    ]  # fmt: skip
    found = account.found
    shown_rows, left = _told_rows(found)
    effects = account.told_effects
    table(out, header, [_row(fitted, each, certain, halves, effects) for each in shown_rows])
    if left:
        out.print(f"and {left} more: --coefficients or --report")
    paragraph(out, " ".join(_column_words(fitted, account)))


def _tell_at_rate(out: Console, fitted: Fitted, fdr: float) -> None:
    """The features and sets that are named at a false discovery rate."""
    named = at_rate(fitted, fdr)
    heading(out, f"\nWhich, if at most {fdr:.0%} of those named may be false?")
    paragraph(out, f"Features: {', '.join(map(shown, named['features'])) or 'none'}.")
    sets = [
        [" or ".join(map(shown, each["features"])), certainty(each["probability"])]
        for each in named["sets"]
    ]
    if sets:
        table(out, ["feature or set", "probability"], sets)
    words = "Sets: one or more of these features matter; what can be told apart stands alone."
    paragraph(out, words if sets else "No set of features is sure enough.")


def at_rate(fitted: Fitted, fdr: float) -> dict[str, Any]:
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


def _column_words(fitted: Fitted, account: Account) -> Iterator[str]:
    """What the columns of the table mean."""
    yield (
        f"Effect: change of {account.wording.scale} for one standard deviation more of the "
        "feature, the others as they are."
    )
    if fitted.chosen.positive:
        yield "Effects were taken to be positive (--positive)."
    judged = account.chosen.judgement
    if judged is not None and judged.beta != 1.0:
        more = "missed" if judged.beta > 1.0 else "named in vain"
        yield f"A feature that is {more} counts more (--beta {judged.beta:g})."
    if account.kind != "survival":
        yield _intercept(fitted, account)
    if _any_beneath(account.found):
        also = ", or matters with it" if any(each.together for each in account.found) else ""
        yield f"Beneath a feature: what could stand in for it{also}."


def _intercept(fitted: Fitted, account: Account) -> str:
    """What is said where all features are zero."""
    first, *others = fitted.intercept
    if not others:
        return f"Intercept {first:.6g}."
    pairs = zip(account.classes, fitted.intercept, strict=True)
    return f"Intercepts {', '.join(f'{shown(str(name))} {value:.4g}' for name, value in pairs)}."


def _any_beneath(found: list[Found]) -> bool:
    return any(each.stands_in_for is not None for each in found)


def _told_rows(found: list[Found]) -> tuple[list[Found], int]:
    """The rows that fit a terminal, and how many are left out: of stand-ins some for each."""
    beneath: Counter[int | None] = Counter()
    rows = []
    for each in found:
        beneath[each.stands_in_for] += not each.chosen
        if each.chosen or beneath[each.stands_in_for] <= BENEATH:
            rows.append(each)
    return rows[:MOST], len(found) - len(rows[:MOST])


def _row(
    fitted: Fitted, each: Found, certain: bool, halves: bool, effects: Mapping[int, str]
) -> list[str]:
    j, name = each.feature, shown(fitted.data.feature_names[each.feature])
    row = ["  " * bool(each.prefix) + each.prefix + name]
    if certain:
        row.append(certainty(each.probability or 0.0))
    row += [effects[j], f"{fitted.coef[j]:.4g}"] if each.chosen else ["", ""]
    if len(fitted.intercept) > 1:
        row.append(fitted.speaks_for(j) or "")
    if halves and fitted.stability is not None:
        row.append(f"{fitted.stability.frequency[j]:.0%}")
    return row


def _details(fitted: Fitted) -> Iterator[str]:
    yield from fitted.remarks
    if fitted.chosen.size and fitted.chosen.judgement is None:
        yield fitted.decision
    if fitted.stability is not None:
        yield f"Stability: {fitted.stability.words}"
    if fitted.chosen.judgement is None:
        yield from _alternatives(fitted)
    certificate = fitted.certificate
    if certificate is not None:
        yield f"Certificate: {certificate.words[0]} {certificate.words[-1]}"


def _alternatives(fitted: Fitted) -> Iterator[str]:
    swaps = alternatives(fitted)
    if swaps:
        listed = "; ".join(
            f"{_joined(each['in'])} instead of {_joined(each['out'])} "
            f"({each['worse']:+.2f} in the criterion)"
            for each in swaps[:MOST_ALTERNATIVES]
        )
        more = len(swaps) - MOST_ALTERNATIVES
        yield f"Alternatives, nearly as good: {listed}{f'; and {more} more' if more > 0 else ''}."
    elif fitted.certificate is not None and fitted.certificate.duplicates:
        pairs = fitted.certificate.duplicates[:MOST_ALTERNATIVES]
        names = fitted.data.feature_names
        listed = "; ".join(
            f"{shown(names[i])} for {shown(names[j])} ({c:.2f})" for j, i, c in pairs
        )
        yield f"Alternatives, near-duplicates left outside (with their cosine): {listed}."


def _joined(names: list[str]) -> str:
    return " and ".join(map(shown, names)) or "nothing"


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


def features(fitted: Fitted, account: Account) -> list[dict[str, Any]]:
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
            "speaks_for": fitted.speaks_for(each.feature),
            "effect": float(fitted.effects[each.feature]),
            "frequency": None if shares is None else float(shares.frequency[each.feature]),
            "stands_in_for": None if each.stands_in_for is None else names[each.stands_in_for],
        }
        for each in account.found
    ]


def as_data(fitted: Fitted, target: str, made: dict[str, Any]) -> dict[str, Any]:
    """All that `tell` says, for programs."""
    account = fitted.account(target)
    stability, certificate = fitted.stability, fitted.certificate
    told = features(fitted, account)
    value = {
        "target": target,
        "title": account.title,
        "signal": account.sign,
        "verdict": account.verdict,
        "intercept": fitted.intercept[0] if len(fitted.intercept) == 1 else fitted.intercept,
        "features": [each for each in told if each["chosen"]],
        "stand_ins": [each for each in told if not each["chosen"]],
        "adjusted_for": fitted.adjustment,
        "held_out": None if fitted.trials is None else _held_out(fitted.trials, account),
        "beside": account.beside,
        "next": account.next_steps,
        "methods": methods_data(account, made),
        "judgement": _judgement(fitted),
        "decision": fitted.decision,
        "false_discovery_rate": None
        if fitted.wish.fdr is None
        else at_rate(fitted, fitted.wish.fdr),
        "permutation_test": None
        if fitted.test is None
        else vars(fitted.test) | {"standard_error": fitted.test.standard_error},
        "remarks": fitted.remarks,
        "stability": None
        if stability is None
        else {
            "words": stability.words,
            "n_pairs": stability.n_pairs,
            "threshold": stability.threshold,
            "error_bound": stability.error_bound,
        },
        "certificate": None if certificate is None else certificate.to_dict(),
        "alternatives": alternatives(fitted),
        "seconds": round(fitted.seconds, 3),
        "passes": fitted.model.n_passes_,
        "made": made,
    }
    return dict(plain(value))


def methods_data(account: Account, made: dict[str, Any]) -> dict[str, Any]:
    """The paragraph for a paper, and its references."""
    text, references = methods(account, made.get("versions"))
    return {"text": text, "references": references}


def _held_out(trials: Trials, account: Account) -> dict[str, Any]:
    return {
        "folds": trials.folds,
        "score": account.wording.score,
        "nothing": _trial(trials.nothing),
        "ours": _trial(trials.ours),
        "others": [_trial(each) for each in trials.others],
        "clearly_better": [each.name for each in trials.clearly_better],
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "name": trial.name,
        "score": trial.score,
        "standard_error": trial.standard_error,
        "features": trial.features,
    }


def _judgement(fitted: Fitted) -> dict[str, Any] | None:
    """What the choice itself believes, where it gives probabilities."""
    judged = fitted.chosen.judgement
    if judged is None:
        return None
    names, seen = fitted.data.feature_names, judged.performance
    return {
        "signal": judged.signal,
        "expected_f1": judged.expected_f1,
        "p_value": judged.p_value,
        "agreement": judged.posterior.agreement,
        "sets": [
            {
                "features": [names[j] for j in each.features],
                "probability": each.probability,
                "together": each.together,
            }
            for each in judged.sets
        ],
        "performance": None
        if seen is None
        else {"score": seen.score, "standard_error": seen.standard_error},
    }


def features_table(fitted: Fitted, target: str) -> list[list[Any]]:
    """The features as a table for spreadsheets: names of columns, then a row for each feature."""
    several = ["speaks_for"] * (len(fitted.intercept) > 1)
    numbers = ("probability", "coefficient", "lower", "upper", "effect", "frequency")
    head = ["name", *numbers, "stands_in_for", *several]
    rows: list[list[Any]] = [["feature", *(name.replace("_", " ") for name in head[1:])]]
    for each in features(fitted, fitted.account(target)):
        rows.append([each[name] for name in head])
    return rows
