"""``ksupport fit``: from a data file to the features that matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..report import build_report
from .choosing import AUTO, CHOICES, Wish
from .completion import among
from .fitting import Fitted, fit_data
from .model_file import Model, write_json, write_text
from .names import title
from .options import (
    DEFAULT_MEMORY,
    DataFile,
    Decimal,
    Groups,
    HowMissing,
    Ignore,
    Json,
    MaxMemory,
    Seed,
    Separator,
    Standardize,
    Target,
    Thousands,
    ends_in_words,
    how_to_read,
)
from .printing import console, say
from .provenance import provenance
from .reading import Columns, read
from .telling import as_csv, as_data, tell


@ends_in_words
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
    stability: Annotated[
        int, typer.Option(help="Pairs of half-samples on which to repeat the choice.", min=0)
    ] = 10,
    ignore: Ignore = [],  # noqa: B006 (typer reads it, and hands over a fresh list)
    separator: Separator = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    missing: HowMissing = "refuse",
    max_memory: MaxMemory = DEFAULT_MEMORY,
    seed: Seed = 0,
    output: Annotated[Path | None, typer.Option(help="Write the model here, as JSON.")] = None,
    coefficients: Annotated[
        Path | None, typer.Option(help="Write the chosen features here, as CSV.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report here, one HTML file.")] = None,
    as_json: Json = False,
) -> None:
    """Find the features of a data file that explain a target."""
    wish = Wish(method, k, alpha, cv, standardize, seed)
    wish.check_options()
    reading = how_to_read(separator, decimal, thousands, max_memory, missing)
    columns = Columns(target, groups, ignore)
    say(f"reading {title(data)}")
    table = read(data, columns, reading)
    fitted = fit_data(table, wish, stability, say)
    made = provenance(table, seed)
    named = target or "y"
    files = _write(fitted, named, made, output, coefficients, report)
    if as_json:
        typer.echo(json.dumps(as_data(fitted, named, made), indent=1, allow_nan=False))
        return
    out = console()
    tell(out, fitted, named)
    for what, path in files:
        out.print(f"\n{what}: {path}", soft_wrap=True, end="")
    out.print()


def _write(
    fitted: Fitted,
    target: str,
    made: dict[str, Any],
    output: Path | None,
    coefficients: Path | None,
    report: Path | None,
) -> list[tuple[str, Path]]:
    """Write the files that were asked for; their kinds and names."""
    files = []
    if output is not None:
        write_json(output, model_of(fitted, target, made).to_dict())
        files.append(("model", output))
    if coefficients is not None:
        write_text(coefficients, as_csv(fitted))
        files.append(("coefficients", coefficients))
    if report is not None:
        say("writing the report")
        write_text(report, report_text(fitted, target, made))
        files.append(("report", report))
    return files


def report_text(fitted: Fitted, target: str, made: dict[str, Any]) -> str:
    """The report of a fit."""
    assert fitted.data.y is not None
    return build_report(
        fitted.model, fitted.data.X, fitted.data.y,
        feature_names=fitted.data.names, target=target, stability=fitted.stability,
        certificate=fitted.certificate, made=made, remarks=fitted.remarks,
    )  # fmt: skip


def model_of(fitted: Fitted, target: str, made: dict[str, Any]) -> Model:
    """The model file of a fit."""
    chosen = {
        "estimator": type(fitted.model).__name__,
        "method": fitted.wish.method,
        "standardize": fitted.wish.standardize,
        "decision": fitted.decision,
    }
    order = fitted.order
    return Model(
        target,
        tuple(fitted.data.names[j] for j in order),
        fitted.model.coef_[order],
        float(fitted.model.intercept_),
        chosen,
        made,
    )
