"""``ksupport fit``: from a data file to the features that matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import limits
from .._common.errors import InputError
from .._common.names import title
from .._common.phases import phase
from ..design import Floats, Genotypes, Incomplete
from ..explain.paper import methods_text
from ..explain.report import build_report
from ..inference.permutation import MOST as MOST_PERMUTATIONS
from ..reading import Columns, Data, read_data
from .fitting.fitted import Fitted, fit_data
from .fitting.model_file import Model
from .fitting.provenance import provenance
from .fitting.tables import all_features, ranked_features
from .fitting.telling import as_data, features_table, tell
from .fitting.understood import tell_understood, understood
from .fitting.wish import AUTO, CHOICES, Wish, estimator_for
from .terminal.completion import among
from .terminal.data_options import (
    CheckedColumns,
    CheckedReading,
    DataFile,
    reads_a_file,
    table_of_inputs,
)
from .terminal.ending import ends_in_words
from .terminal.errors import CommandError
from .terminal.help import of_result, of_way
from .terminal.options import Json, Seed, Standardize
from .terminal.outputs import as_json, check_outputs, check_table, write_table, write_text
from .terminal.printing import console, say

WRITTEN = {
    "--output": "model", "--coefficients": "coefficients", "--table": "table of all features",
    "--ranked": "ranked list", "--report": "report", "--methods": "methods paragraph",
}  # fmt: skip


@ends_in_words
@reads_a_file
def fit(
    data: DataFile,
    *,
    columns: CheckedColumns,
    method: Annotated[
        str,
        of_way(
            metavar="NAME",
            help=f"How to find the features: {', '.join(CHOICES)}.",
            autocompletion=among(lambda: CHOICES),
        ),
    ] = AUTO,
    k: Annotated[
        int | None,
        of_way(
            metavar="NUMBER",
            help="About how many features to look for; the data decide if left out.",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        of_way(
            metavar="NUMBER",
            help="Between 0 and 1; the larger, the more features are kept beyond k.",
        ),
    ] = None,
    cv: Annotated[
        int, of_way(metavar="NUMBER", help="Parts of the rows, each of which is held out once.")
    ] = 5,
    standardize: Standardize = True,
    positive: Annotated[
        bool,
        of_way(
            "--positive",
            help="Effects can only be positive: features raise the target, the odds of the second "
            "of two classes (by the alphabet), or the risk. Columns of --adjust-for may do both.",
        ),
    ] = False,
    beta: Annotated[
        float | None,
        of_way(
            metavar="NUMBER",
            help="Above 1 names more features, to predict or to look at candidates again; below 1 "
            "the surest alone.",
        ),
    ] = None,
    fdr: Annotated[
        float | None,
        of_way(
            metavar="NUMBER",
            help="Also name the features, and sets of features that cannot be told apart, of which "
            "at most this share is expected to be false, such as 0.1.",
        ),
    ] = None,
    permutations: Annotated[
        int | None,
        of_way(
            metavar="NUMBER",
            help="Test whether there is anything by so many permutations of the target.",
            min=1,
            max=MOST_PERMUTATIONS,
        ),
    ] = None,
    compare: Annotated[
        bool,
        of_way(help="Predict rows held out, beside a Lasso and a ridge; takes most of the time."),
    ] = True,
    stability: Annotated[
        int | None,
        of_way(
            metavar="NUMBER",
            help="Pairs of half-samples on which to repeat the choice; by default 10, or none "
            "where features have probabilities.",
            min=0,
            max=limits.MOST_PAIRS,
        ),
    ] = None,
    reading: CheckedReading,
    seed: Seed = 0,
    output: Annotated[
        Path | None, of_result(metavar="FILE", help="Write the model here, as JSON.")
    ] = None,
    coefficients: Annotated[
        Path | None,
        of_result(metavar="FILE", help="Write the chosen features here, as CSV or .xlsx."),
    ] = None,
    table: Annotated[
        Path | None,
        of_result(
            metavar="FILE",
            help="Write every feature here, as CSV or .xlsx: means or slope, p-value, adjusted "
            "p-value, probability, coefficient, rank.",
        ),
    ] = None,
    ranked: Annotated[
        Path | None,
        of_result(
            metavar="FILE",
            help="Write all names with signed scores here, for tools of enrichment (.rnk).",
        ),
    ] = None,
    report: Annotated[
        Path | None, of_result(metavar="FILE", help="Write a report here, one HTML file.")
    ] = None,
    methods: Annotated[
        Path | None,
        of_result(
            metavar="FILE",
            help="Write a paragraph for the methods section of a paper here, as text.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, of_result("--dry-run", help="Tell what was understood of the file, and stop.")
    ] = False,
    in_json: Json = False,
) -> None:
    """Find the features of a data file that explain a target.

    For example: ksupport fit cohort.xlsx --target response --id patient --adjust-for age
    --missing impute --report report.html
    """
    wish = Wish(method, k, alpha, cv, standardize, seed, positive, beta, fdr, permutations)
    wish.check_options()
    outputs = {
        "--output": output, "--coefficients": coefficients, "--table": table,
        "--ranked": ranked, "--report": report, "--methods": methods,
    }  # fmt: skip
    how, parts = reading(), columns()
    check_outputs(table_of_inputs(data, how), outputs)
    for name in ("--coefficients", "--table"):
        check_table(name, outputs[name])
    say(f"reading {title(data)}")
    read = read_data(data, parts, how)
    if dry_run:
        _tell_understood(read, parts, wish, in_json)
        return
    fitted = fit_data(read, wish, stability, compare, say)
    made = provenance(read, seed)
    named = parts.target or parts.time or "y"
    files, problems = _write(fitted, named, parts.id, made, outputs)
    if in_json:
        typer.echo(as_json(as_data(fitted, named, made)), nl=False)
    else:
        out = console()
        tell(out, fitted, named)
        for line in files:
            out.print(f"\n{line}", soft_wrap=True, end="")
        out.print()
    if problems:
        raise CommandError("\n".join(problems))


def _tell_understood(data: Data, columns: Columns, wish: Wish, in_json: bool) -> None:
    try:
        to_fit = type(estimator_for(wish, data)).__name__
    except InputError as error:
        to_fit = f"nothing: {error}"
    if in_json:
        typer.echo(as_json(understood(data, columns, to_fit)), nl=False)
    else:
        tell_understood(console(), data, columns, to_fit)


def _write(
    fitted: Fitted,
    target: str,
    ids: str | None,
    made: dict[str, Any],
    outputs: Mapping[str, Path | None],
) -> tuple[list[str], list[str]]:
    """Write the files that were asked for, each whatever becomes of the others.

    Returns a line on each file, and what went wrong.
    """
    writers: dict[str, Callable[[Path], None]] = {
        "--output": lambda path: write_text(
            path, as_json(model_of(fitted, target, ids, made).to_dict())
        ),
        "--coefficients": lambda path: write_table(path, features_table(fitted, target)),
        "--table": lambda path: write_table(path, all_features(fitted)),
        "--ranked": lambda path: write_text(path, ranked_features(fitted)),
        "--report": lambda path: write_text(path, report_text(fitted, target, made)),
        "--methods": lambda path: write_text(
            path, methods_text(fitted.account(target), made["versions"])
        ),
    }
    done, problems = [], []
    for option, path in outputs.items():
        if path is None:
            continue
        try:
            with phase(f"writing the {WRITTEN[option]}"):
                writers[option](path)
            done.append(f"{WRITTEN[option]}: {path}")
        except CommandError as problem:
            problems.append(str(problem))
    return done, problems


def report_text(fitted: Fitted, target: str, made: dict[str, Any]) -> str:
    """The report of a fit."""
    assert fitted.data.y is not None
    return build_report(
        fitted.model, fitted.data.X, fitted.data.y,
        feature_names=fitted.data.feature_names, target=target, stability=fitted.stability,
        certificate=fitted.certificate, trials=fitted.trials, made=made, remarks=fitted.remarks,
    )  # fmt: skip


def model_of(fitted: Fitted, target: str, ids: str | None, made: dict[str, Any]) -> Model:
    """The model file of a fit; columns to adjust for are in it as features are."""
    account, probability = fitted.account(target), fitted.chosen.probability
    chosen = {
        "estimator": type(fitted.model).__name__,
        "method": fitted.wish.method,
        "standardize": fitted.wish.standardize,
        "positive": fitted.wish.positive,
        "beta": fitted.wish.beta,
        "signal": account.sign,
        "verdict": account.verdict,
        "decision": fitted.decision,
    }
    data = fitted.data
    order = account.order
    used = [*order, *data.unpenalized.tolist()]
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
        fill=means_of(data.X, used),
        probability=None if probability is None else probability[order],
        duplicates=data.duplicates,
    )


def means_of(X: Any, columns: list[int]) -> Floats | None:
    """The means of columns that new rows may lack, if rows of the fit did."""
    if not isinstance(X, Genotypes | Incomplete):
        return None
    return np.asarray(X[:, np.array(columns, np.intp)].mean(axis=0))
