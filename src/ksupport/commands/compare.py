"""``ksupport compare``: every method on one data file, scored on held-out rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Annotated

import numpy as np

from .._common.errors import InputError
from .._common.names import title
from .._common.phases import Update, no_update, phase
from ..design import Genotypes, Ints
from ..explain.cross_validation import filled
from ..reading import Data, in_memory, read_data
from .fitting.options import inner_folds, outer_folds
from .rivals import BASELINES, ERRORS, Make, as_in_fit, candidates, names, size_of
from .terminal import options as shared
from .terminal.exit import CommandError, with_exit_codes
from .terminal.outputs import console, heading, paragraph, print_json, say, table


@dataclass(frozen=True)
class Score:
    """One method over the outer folds."""

    method: str
    error: float | None  # on held-out rows, see `ERRORS`
    error_se: float | None
    features: float | None
    seconds: float | None  # of one fit, tuning included
    note: str


@with_exit_codes
@shared.reads_a_file
def compare(
    data: shared.DataFile,
    *,
    columns: shared.CheckedColumns,
    methods: Annotated[
        str | None,
        shared.method_option(
            metavar="NAMES",
            help="Names of the methods to compare, separated by commas, including those of "
            "ksupport "
            "fit --method; all by default.",
            autocompletion=shared.some_of(names),
        ),
    ] = None,
    folds: Annotated[
        int,
        shared.method_option(
            metavar="NUMBER", help="Outer folds, on which methods are compared.", min=2
        ),
    ] = 5,
    cv: Annotated[
        int,
        shared.method_option(
            metavar="NUMBER", help="Inner folds, on which each method is tuned.", min=2
        ),
    ] = 5,
    reading: shared.CheckedReading,
    seed: shared.Seed = 0,
    in_json: shared.Json = False,
) -> None:
    """Compare all methods on held-out rows.

    Each method is tuned by cross-validation within the training rows (nested cross-validation).
    """
    known = names()
    if methods is not None and (
        not (given := _parse_methods(methods, known)) or set(given) - set(known)
    ):
        raise InputError(f"--methods must name some of {', '.join(known)}; got {methods!r}")
    how, parts = reading(), columns()
    say(f"reading {title(data)}")
    table_read = read_data(data, parts, how)
    if isinstance(table_read.X, Genotypes):
        table_read = in_memory(table_read, how.budget)
    assert table_read.kind is not None
    unpenalized = table_read.unpenalized.tolist()
    wanted = _select_methods(methods, candidates(seed, table_read.kind, unpenalized))
    splits = _splits(table_read, folds, cv, seed)
    scores: list[Score] = []
    with phase("comparing", len(wanted)) as update:
        for name, make in wanted.items():
            say(f"{name} ({len(scores) + 1} of {len(wanted)})")
            score = _score(
                name, make, table_read, splits, cv, lambda part: update(len(scores) + part)
            )
            scores.append(score)
    _refuse_only_failures(scores)
    scores.sort(key=lambda each: np.inf if each.error is None else each.error)
    if in_json:
        print_json([asdict(score) for score in scores])
    else:
        _tell(table_read, scores, len(splits), cv)


def _parse_methods(methods: str, known: Iterable[str]) -> list[str]:
    known = list(known)
    return [as_in_fit(name.strip(), known) for name in methods.split(",") if name.strip()]


def _select_methods(methods: str | None, known: dict[str, Make]) -> dict[str, Make]:
    if methods is None:
        return known
    given = _parse_methods(methods, known)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(
            f"--methods: {', '.join(unknown)} cannot explain this target; those that can are "
            f"{', '.join(known)}"
        )
    return {name: known[name] for name in known if name in {*given, *BASELINES}}


def _splits(data: Data, folds: int, cv: int, seed: int) -> list[tuple[Ints, Ints]]:
    assert data.y is not None
    n = data.shape[0]
    if n < 2 * folds:
        raise InputError(f"--folds {folds} needs at least {2 * folds} rows; got {n}")
    sorts = ERRORS[data.kind or "numbers"].sorts(data.y)
    if data.kind == "numbers" and np.ptp(data.y) == 0:
        raise InputError("the target is constant, so there is nothing to predict; name another one")
    least = n - -(-n // folds)  # rows of the smallest training part
    if data.groups is None and cv > least:
        raise InputError(
            f"--cv must be at most the number of training rows of a fold, {least}; got {cv}"
        )
    if data.groups is not None and (labels := len(np.unique(data.groups))) < 3:
        raise InputError(
            f"--groups needs at least three different labels, because methods are tuned on the "
            f"groups of the training rows; got {labels}"
        )
    return outer_folds(folds, data.groups, data.y, seed, sorts)


def _refuse_only_failures(scores: list[Score]) -> None:
    """A table of methods that all failed is no comparison."""
    failed = [each for each in scores if each.error is None]
    if failed and len(failed) == sum(each.method not in BASELINES for each in scores):
        raise CommandError(f"no method could be fitted; {failed[0].method} {failed[0].note}")


def _score(
    name: str,
    make: Make,
    data: Data,
    splits: list[tuple[Ints, Ints]],
    cv: int,
    update: Update = no_update,
) -> Score:
    """Fit on every training part, and measure the error on the others."""
    assert data.y is not None
    X, y = data.X, data.y
    if data.kind == "classes":
        y = np.unique(y, return_inverse=True)[1]  # not all methods take text
    judged, unpenalized = ERRORS[data.kind or "numbers"], data.unpenalized.tolist()
    error_of, sorts = judged.of, judged.sorts(data.y)
    errors, sizes, seconds, notes = [], [], [], set()
    for train, test in splits:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            started = time.perf_counter()
            try:
                seen, unseen = filled(X[train], X[test])
                inner = inner_folds(cv, data.groups, 0, sorts, train)
                model = make(inner, seen).fit(seen, y[train])
                error = error_of(model, unseen, y[test], y[train])
            except Exception as problem:  # of other packages too: the others are still compared
                reason = f"{type(problem).__name__}: {problem}"
                return Score(name, None, None, None, None, f"failed, {reason[:80]}")
            seconds.append(time.perf_counter() - started)
        if any("onverge" in str(each.message) for each in caught):
            notes.add("did not always converge")
        errors.append(error)
        sizes.append(size_of(model, unpenalized))
        update(len(errors) / len(splits))
    spread = float(np.std(errors, ddof=1) / np.sqrt(len(errors)))
    means = float(np.mean(sizes)), float(np.mean(seconds))
    return Score(name, float(np.mean(errors)), spread, *means, ", ".join(sorted(notes)))


def _tell(data: Data, scores: list[Score], folds: int, cv: int) -> None:
    out, n, d = console(), data.shape[0], data.n_features
    groups = "" if data.groups is None else ", which keep groups together"
    heading(out, f"{n} rows, {d} features: error on held-out rows, {folds} folds")
    for remark in data.remarks:
        paragraph(out, remark)
    rows = []
    for each in scores:
        cells = ["-"] * 4
        if each.error is not None:
            cells = [f"{each.error:.3f}", f"{each.error_se:.3f}"]
            cells += [f"{each.features:.0f}", f"{each.seconds:.2f}"]
        rows.append([each.method, *cells, each.note])
    table(out, ["method", "error", "+-", "features", "seconds", "note"], rows)
    out.print()
    paragraph(
        out,
        f"Error: {ERRORS[data.kind or 'numbers'].words}; +-: its standard error over the folds. "
        f"Every method is tuned on {cv} inner folds of the training rows{groups} (abess: by its "
        "own criterion). Differences of about one standard error may be due to chance.",
    )
    if data.covariates:
        paragraph(
            out,
            f"All are adjusted for {', '.join(data.covariates)}: methods of ksupport never "
            "penalise these columns and do not count them; other methods treat them as features.",
        )
