"""``ksupport fit``: from a data file to the features that matter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import limits
from .._common.errors import InputError
from .._common.names import title
from .._common.phases import phase
from ..explain.paper import methods_text
from ..inference.permutation import MOST as MOST_PERMUTATIONS
from ..reading import Columns, Data, read_data
from .fitting.fitted import Fitted, fit_data
from .fitting.options import AUTO, CHOICES, FitOptions, estimator_for
from .fitting.provenance import provenance
from .fitting.results import (
    all_features,
    as_data,
    features_table,
    model_of,
    ranked_features,
    report_text,
)
from .fitting.summary import data_summary, print_data_summary, print_summary
from .terminal.exit import CommandError, with_exit_codes
from .terminal.options import (
    METHOD_PANEL,
    READING,
    RESULT_PANEL,
    WHICH_COLUMNS,
    CheckedColumns,
    CheckedReading,
    DataFile,
    Group,
    Json,
    Seed,
    among,
    input_files,
    option,
    output_option,
    with_groups,
)
from .terminal.outputs import as_json, check_outputs, check_table, write_table, write_text
from .terminal.printing import console, say

WRITTEN = {
    "output": "model", "coefficients": "coefficients", "table": "table of all features",
    "ranked": "ranked list", "report": "report", "methods": "methods paragraph",
}  # fmt: skip


def _method(name: str, words: str, kind: Any = float | None, **how: Any) -> inspect.Parameter:
    return option(name, kind, None, METHOD_PANEL, words, metavar="NUMBER", **how)


def _file(name: str, words: str) -> inspect.Parameter:
    return option(name, Path | None, None, RESULT_PANEL, words, metavar="FILE")


def _noun(name: str, words: str) -> inspect.Parameter:
    return option(name, str | None, None, RESULT_PANEL, words, metavar="NOUN")


FIT = Group(FitOptions, [
    option(
        "method", str, AUTO, METHOD_PANEL, f"Method of feature selection: {', '.join(CHOICES)}.",
        metavar="NAME", autocompletion=among(lambda: CHOICES),
    ),
    _method("k", "Approximate number of features; chosen from the data if left out.", int | None),
    _method("alpha", "Parameter of IRKSN, between 0 and 1: larger values select more features."),
    option("cv", int, 5, METHOD_PANEL, "Number of cross-validation folds.", metavar="NUMBER"),
    option(
        "standardize", bool, True, METHOD_PANEL,
        "Scale the columns to unit variance while fitting.",
    ),
    option(
        "positive", bool, False, METHOD_PANEL,
        "Only allow positive effects: features can raise the target, the odds of the second of two "
        "classes (in alphabetical order) or the risk, but not lower them. Columns of --adjust-for "
        "may have either sign.",
        "--positive",
    ),
    _method(
        "beta",
        "Weight of recall relative to precision (F-beta score), 1 by default: above 1 more "
        "features are selected, below 1 only the most certain.",
    ),
    option(
        "predict_by", str | None, None, METHOD_PANEL,
        "How to predict: average (over sampled models, with some hundred features; the default) or "
        "support (with the selected features only).", metavar="NAME",
    ),
    _method(
        "fdr",
        "Also select features, and sets of features that cannot be distinguished, at this false "
        "discovery rate, such as 0.1.",
    ),
    _method(
        "permutations", "Test for any signal with this number of permutations of the target.",
        int | None, min=1, max=MOST_PERMUTATIONS,
    ),
    option(
        "compare", bool, True, METHOD_PANEL,
        "Compare with a Lasso and a ridge on held-out rows; takes most of the time.",
    ),
    _method(
        "stability",
        "Pairs of half-samples for stability selection; by default 10, or none if features have "
        "probabilities.",
        int | None, min=0, max=limits.MOST_PAIRS,
    ),
    _noun("rows", "What the rows are called in results, such as patients."),
    _noun(
        "features",
        "What the features are called in results, such as genes; guessed from their names if left "
        "out.",
    ),
])  # fmt: skip
OUTPUTS = Group(dict, [
    _file("output", "Write the model here, as JSON."),
    _file("coefficients", "Write the selected features here, with coefficients, as CSV or .xlsx."),
    _file(
        "table",
        "Write every feature here, as CSV or .xlsx: means or slope, p-value, adjusted p-value, "
        "probability, coefficient, rank.",
    ),
    _file("ranked", "Write all names with signed scores here, for enrichment tools (.rnk)."),
    _file("report", "Write a report here, one HTML file."),
    _file("methods", "Write a paragraph for the methods section of a paper here, as text."),
])  # fmt: skip


@with_exit_codes
@with_groups(columns=WHICH_COLUMNS, reading=READING, outputs=OUTPUTS, options=FIT)
def fit(
    data: DataFile,
    *,
    columns: CheckedColumns,
    reading: CheckedReading,
    outputs: Callable[[], dict[str, Path | None]],
    options: Callable[..., FitOptions],
    seed: Seed = 0,
    dry_run: Annotated[
        bool, output_option("--dry-run", help="Show how the file is understood, and stop.")
    ] = False,
    in_json: Json = False,
) -> None:
    """Find the features of a data file that explain a target.

    For example: ksupport fit cohort.xlsx --target response --id patient --adjust-for age
    --missing impute --report report.html
    """
    asked, files = options(seed=seed), outputs()
    asked.check_options()
    how, parts = reading(), columns()
    check_outputs(input_files(data, how), {f"--{name}": path for name, path in files.items()})
    for name in ("coefficients", "table"):
        check_table(f"--{name}", files.get(name))
    say(f"reading {title(data)}")
    read = read_data(data, parts, how)
    if dry_run:
        _print_data_summary(read, parts, asked, in_json)
        return
    fitted = fit_data(read, asked, say)
    made = provenance(read, seed)
    named = parts.target or parts.time or "y"
    written, problems = _write(fitted, named, parts.id, made, files)
    if in_json:
        typer.echo(as_json(as_data(fitted, named, made)), nl=False)
    else:
        out = console()
        print_summary(out, fitted, named)
        for line in written:
            out.print(f"\n{line}", soft_wrap=True, end="")
        out.print()
    if problems:
        raise CommandError("\n".join(problems))


def _print_data_summary(data: Data, columns: Columns, options: FitOptions, in_json: bool) -> None:
    try:
        to_fit = type(estimator_for(options, data)).__name__
    except InputError as error:
        to_fit = f"nothing: {error}"
    if in_json:
        typer.echo(as_json(data_summary(data, columns, to_fit)), nl=False)
    else:
        print_data_summary(console(), data, columns, to_fit)


def _write(
    fitted: Fitted,
    target: str,
    ids: str | None,
    made: dict[str, Any],
    outputs: Mapping[str, Path | None],
) -> tuple[list[str], list[str]]:
    """Write each file that was asked for, even if another fails.

    Returns a line on each file, and what went wrong.
    """
    writers: dict[str, Callable[[Path], None]] = {
        "output": lambda path: write_text(
            path, as_json(model_of(fitted, target, ids, made).to_dict())
        ),
        "coefficients": lambda path: write_table(path, features_table(fitted, target)),
        "table": lambda path: write_table(path, all_features(fitted)),
        "ranked": lambda path: write_text(path, ranked_features(fitted)),
        "report": lambda path: write_text(path, report_text(fitted, target, made)),
        "methods": lambda path: write_text(
            path, methods_text(fitted.findings(target), made["versions"])
        ),
    }
    done, problems = [], []
    for name, path in outputs.items():
        if path is None:
            continue
        try:
            with phase(f"writing the {WRITTEN[name]}"):
                writers[name](path)
            done.append(f"{WRITTEN[name]}: {path}")
        except CommandError as problem:
            problems.append(str(problem))
    return done, problems
