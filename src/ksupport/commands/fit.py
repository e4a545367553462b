"""``ksupport fit``: from a data file to the features that matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .._common.names import title
from .._common.phases import phase
from ..explain.report import build_report
from .fitting.fitted import Fitted, fit_data
from .fitting.model_file import Model
from .fitting.provenance import provenance
from .fitting.telling import as_data, features_csv, tell
from .fitting.wish import AUTO, CHOICES, Wish
from .reading import Columns, read
from .reading.options import CheckedReading, DataFile, Groups, Ignore, Target, reads_a_file
from .terminal.completion import among
from .terminal.ending import ends_in_words
from .terminal.errors import CommandError
from .terminal.options import Json, Seed, Standardize
from .terminal.outputs import as_json, check_outputs, write_text
from .terminal.printing import console, say

WRITTEN = {"--output": "model", "--coefficients": "coefficients", "--report": "report"}


@ends_in_words
@reads_a_file
def fit(
    data: DataFile,
    target: Target = None,
    method: Annotated[
        str,
        typer.Option(
            help=f"How to find the features: {', '.join(CHOICES)}.",
            autocompletion=among(lambda: CHOICES),
        ),
    ] = AUTO,
    k: Annotated[
        int | None, typer.Option(help="Sparsity level; the data decide if left out.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Weight of the squared l2 norm, between 0 and 1.")
    ] = None,
    cv: Annotated[int, typer.Option(help="Number of folds.")] = 5,
    standardize: Standardize = True,
    groups: Groups = None,
    compare: Annotated[
        bool,
        typer.Option(
            help="Predict rows held out, beside a Lasso and a ridge; takes most of the time."
        ),
    ] = True,
    stability: Annotated[
        int | None,
        typer.Option(
            help="Pairs of half-samples on which to repeat the choice; by default 10, or none "
            "where features have probabilities.",
            min=0,
        ),
    ] = None,
    ignore: Ignore = [],  # noqa: B006 (typer reads it, and hands over a fresh list)
    *,
    reading: CheckedReading,
    seed: Seed = 0,
    output: Annotated[Path | None, typer.Option(help="Write the model here, as JSON.")] = None,
    coefficients: Annotated[
        Path | None, typer.Option(help="Write the chosen features here, as CSV.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report here, one HTML file.")] = None,
    in_json: Json = False,
) -> None:
    """Find the features of a data file that explain a target."""
    wish = Wish(method, k, alpha, cv, standardize, seed)
    wish.check_options()
    outputs = {"--output": output, "--coefficients": coefficients, "--report": report}
    check_outputs({"DATA": data}, outputs)
    how = reading()
    columns = Columns(target, groups, ignore)
    say(f"reading {title(data)}")
    table = read(data, columns, how)
    fitted = fit_data(table, wish, stability, compare, say)
    made = provenance(table, seed)
    named = target or "y"
    files, problems = _write(fitted, named, made, outputs)
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


def _write(
    fitted: Fitted, target: str, made: dict[str, Any], outputs: Mapping[str, Path | None]
) -> tuple[list[str], list[str]]:
    """Write the files that were asked for, each whatever becomes of the others.

    Returns a line on each file, and what went wrong.
    """
    texts: dict[str, Callable[[], str]] = {
        "--output": lambda: as_json(model_of(fitted, target, made).to_dict()),
        "--coefficients": lambda: features_csv(fitted, target),
        "--report": lambda: report_text(fitted, target, made),
    }
    done, problems = [], []
    for option, path in outputs.items():
        if path is None:
            continue
        try:
            with phase(f"writing the {WRITTEN[option]}"):
                write_text(path, texts[option]())
            done.append(f"{WRITTEN[option]}: {path}")
        except CommandError as problem:
            problems.append(str(problem))
    return done, problems


def report_text(fitted: Fitted, target: str, made: dict[str, Any]) -> str:
    """The report of a fit."""
    assert fitted.data.y is not None
    return build_report(
        fitted.model, fitted.data.X, fitted.data.y,
        feature_names=fitted.data.names, target=target, stability=fitted.stability,
        certificate=fitted.certificate, trials=fitted.trials, made=made, remarks=fitted.remarks,
    )  # fmt: skip


def model_of(fitted: Fitted, target: str, made: dict[str, Any]) -> Model:
    """The model file of a fit."""
    account, probability = fitted.account(target), fitted.chosen.probability
    chosen = {
        "estimator": type(fitted.model).__name__,
        "method": fitted.wish.method,
        "standardize": fitted.wish.standardize,
        "signal": account.sign,
        "verdict": account.verdict,
        "decision": fitted.decision,
    }
    order = account.order
    return Model(
        target,
        tuple(fitted.data.names[j] for j in order),
        fitted.model.coef_[order],
        float(fitted.model.intercept_),
        chosen,
        made,
        None if probability is None else probability[order],
    )
