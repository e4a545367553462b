"""``ksupport fit``: from a data file to the features that matter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from .. import limits
from .._common.errors import InputError
from .._common.names import title
from .._common.phases import phase
from ..explain.paper import methods_text
from ..inference.permutation import MOST as MOST_PERMUTATIONS
from ..reading import read_data
from .fitting import results
from .fitting.fitted import Fitted, fit_data
from .fitting.options import AUTO, CHOICES, FitOptions, estimator_for
from .fitting.provenance import provenance
from .fitting.summary import data_summary, print_data_summary, print_summary
from .terminal import options as shared
from .terminal.exit import CommandError, with_exit_codes
from .terminal.outputs import (
    as_json,
    check_outputs,
    check_table,
    console,
    print_json,
    say,
    write_table,
    write_text,
)

WRITTEN = {
    "output": "model", "coefficients": "coefficients", "table": "table of all features",
    "ranked": "ranked list", "report": "report", "methods": "methods paragraph",
}  # fmt: skip


def _method(
    name: str, words: str, kind: Any = float | None, default: Any = None, *flags: str,
    metavar: str | None = "NUMBER", **how: Any,
) -> inspect.Parameter:  # fmt: skip
    panel = shared.METHOD_PANEL
    return shared.option(name, kind, default, panel, words, *flags, metavar=metavar, **how)


def _result(
    name: str, words: str, kind: Any = Path | None, metavar: str = "FILE"
) -> inspect.Parameter:
    return shared.option(name, kind, None, shared.RESULT_PANEL, words, metavar=metavar)


NOUN = str | None, "NOUN"
FIT = shared.Group(FitOptions, [
    _method(
        "method", f"Method of feature selection: {', '.join(CHOICES)}.", str, AUTO,
        metavar="NAME", autocompletion=shared.among(lambda: CHOICES),
    ),
    _method("k", "Approximate number of features; chosen from the data if left out.", int | None),
    _method("alpha", "Parameter of IRKSN, between 0 and 1: larger values select more features."),
    _method("cv", "Number of cross-validation folds.", int, 5),
    _method(
        "standardize", "Scale the columns to unit variance while fitting.", bool, True, metavar=None
    ),
    _method(
        "positive",
        "Only allow positive effects: features can raise the target, the odds of the second of two "
        "classes (in alphabetical order) or the risk, but not lower them. Columns of --adjust-for "
        "may have either sign.",
        bool, False, "--positive", metavar=None,
    ),
    _method(
        "beta",
        "Weight of recall relative to precision (F-beta score), 1 by default: above 1 more "
        "features are selected, below 1 only the most certain.",
    ),
    _method(
        "predict_by",
        "How to predict: average (over sampled models, with some hundred features; the default) or "
        "support (with the selected features only).",
        str | None, metavar="NAME",
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
    _method(
        "compare", "Compare with a Lasso and a ridge on held-out rows; takes most of the time.",
        bool, True, metavar=None,
    ),
    _method(
        "stability",
        "Pairs of half-samples for stability selection; by default 10, or none if features have "
        "probabilities.",
        int | None, min=0, max=limits.MOST_PAIRS,
    ),
    _result("rows", "What the rows are called in results, such as patients.", *NOUN),
    _result(
        "features",
        "What the features are called in results, such as genes; guessed from their names if left "
        "out.", *NOUN,
    ),
])  # fmt: skip
OUTPUTS = shared.Group(dict, [
    _result("output", "Write the model here, as JSON."),
    _result(
        "coefficients", "Write the selected features here, with coefficients, as CSV or .xlsx."
    ),
    _result(
        "table",
        "Write every feature here, as CSV or .xlsx: means or slope, p-value, adjusted p-value, "
        "probability, coefficient, rank.",
    ),
    _result("ranked", "Write all names with signed scores here, for enrichment tools (.rnk)."),
    _result("report", "Write a report here, one HTML file."),
    _result("methods", "Write a paragraph for the methods section of a paper here, as text."),
])  # fmt: skip


@with_exit_codes
@shared.with_groups(
    columns=shared.WHICH_COLUMNS, reading=shared.READING, outputs=OUTPUTS, options=FIT
)
def fit(
    data: shared.DataFile,
    *,
    columns: shared.CheckedColumns,
    reading: shared.CheckedReading,
    outputs: Callable[[], dict[str, Path | None]],
    options: Callable[..., FitOptions],
    seed: shared.Seed = 0,
    dry_run: Annotated[
        bool, shared.output_option("--dry-run", help="Show how the file is understood, and stop.")
    ] = False,
    in_json: shared.Json = False,
) -> None:
    """Find the features of a data file that explain a target.

    For example: ksupport fit cohort.xlsx --target response --id patient --adjust-for age
    --missing impute --report report.html
    """
    asked, files = options(seed=seed), outputs()
    asked.check_options()
    how, parts = reading(), columns()
    check_outputs(
        shared.input_files(data, how), {f"--{name}": path for name, path in files.items()}
    )
    for name in ("coefficients", "table"):
        check_table(f"--{name}", files.get(name))
    say(f"reading {title(data)}")
    read = read_data(data, parts, how)
    if dry_run:
        try:
            to_fit = type(estimator_for(asked, read)).__name__
        except InputError as error:
            to_fit = f"nothing: {error}"
        if in_json:
            print_json(data_summary(read, parts, to_fit))
        else:
            print_data_summary(console(), read, parts, to_fit)
        return
    fitted = fit_data(read, asked, say)
    made = provenance(read, seed)
    named = parts.target or parts.time or "y"
    written, problems = _write(fitted, named, parts.id, made, files)
    if in_json:
        print_json(results.as_data(fitted, named, made))
    else:
        out = console()
        print_summary(out, fitted, named)
        for line in written:
            out.print(f"\n{line}", soft_wrap=True, end="")
        out.print()
    if problems:
        raise CommandError("\n".join(problems))


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
    contents: dict[str, Callable[[], Any]] = {
        "output": lambda: as_json(results.model_of(fitted, target, ids, made).to_dict()),
        "coefficients": lambda: results.features_table(fitted, target),
        "table": lambda: results.all_features(fitted),
        "ranked": lambda: results.ranked_features(fitted),
        "report": lambda: results.report_text(fitted, target, made),
        "methods": lambda: methods_text(fitted.findings(target), made["versions"]),
    }
    done, problems = [], []
    for name, path in outputs.items():
        if path is None:
            continue
        try:
            with phase(f"writing the {WRITTEN[name]}"):
                content = contents[name]()
                if isinstance(content, str):
                    write_text(path, content)
                else:
                    write_table(path, content)
            done.append(f"{WRITTEN[name]}: {path}")
        except CommandError as problem:
            problems.append(str(problem))
    return done, problems
