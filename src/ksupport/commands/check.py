"""``ksupport check``: correlation of features and recovery conditions, before any fit."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from rich.console import Console

from .._common.checks import dense
from .._common.errors import InputError
from .._common.names import listed, title
from ..design import Design, Ints
from ..reading import Data, in_memory, read_data
from ..theory import Recommendation, recommend
from ..theory.report import NEAR_COPY
from .terminal import options as shared
from .terminal.exit import with_exit_codes
from .terminal.outputs import console, heading, paragraph, print_json, say, table

FEATURES_SAMPLED = 500  # features among which correlations are counted
SPREAD_OF_ROUNDING = 5 * float(np.finfo(np.float64).eps)


@with_exit_codes
@shared.reads_a_file
def check(
    data: shared.DataFile,
    *,
    columns: shared.CheckedColumns,
    k: Annotated[
        int | None,
        shared.method_option(
            metavar="NUMBER", help="Largest number of features that matter; by default up to 10."
        ),
    ] = None,
    grouped: Annotated[
        bool,
        shared.method_option(
            help="Simulate groups of correlated features that matter, not scattered ones."
        ),
    ] = False,
    standardize: shared.Standardize = True,
    reading: shared.CheckedReading,
    seed: shared.Seed = 0,
    in_json: shared.Json = False,
) -> None:
    """Measure correlations, and check recovery conditions.

    Sparse models are simulated on the features of a data file. For each method, the share of them
    is reported for which its theory guarantees recovery.
    """
    if k is not None and k < 1:
        raise InputError(f"--k must be at least 1; got {k}")
    how, parts = reading(), columns()
    say(f"reading {title(data)}")
    table_read = in_memory(read_data(data, parts, how, need_target=False), how.budget)
    facts, design = _facts(table_read, standardize, seed)
    say("checking the recovery conditions on simulated models")
    if k is not None and k > design.d:
        raise InputError(
            f"--k must be at most the number of features that vary, {design.d}; got {k}"
        )
    most = min(design.d, max(design.n // 4, 1), 10)
    kind = "grouped" if grouped else "scattered"
    try:
        advice = recommend(design, k or most, support=kind, random_state=seed)
    except ValueError as error:
        raise InputError(str(error)) from error
    if in_json:
        print_json({**facts, "advice": advice.to_dict()})
    else:
        _tell(console(), table_read, facts, advice)


def _facts(data: Data, standardize: bool, seed: int) -> tuple[dict[str, Any], Design]:
    """Shape, constant columns and correlation of the features; the design."""
    n, d = data.shape
    if n < 3:
        raise InputError(f"at least 3 rows are needed; got {n}")
    varies = _varying_columns(data.X)
    constant = [data.feature_names[j] for j in np.setdiff1d(np.arange(d), varies)]
    if varies.size == 0:
        raise InputError(
            f"every column of {title(data.path)} is constant; check that it is the right file"
        )
    design = Design.of(data.X[:, varies] if constant else data.X).centred(standardize=standardize)
    rng = np.random.default_rng(seed)
    some = np.sort(rng.choice(varies.size, min(FEATURES_SAMPLED, varies.size), replace=False))
    columns = design.columns(some)
    columns = columns / np.linalg.norm(columns, axis=1, keepdims=True)
    cosines = np.abs(columns @ columns.T) - np.eye(len(some))
    facts = {
        "rows": n,
        "features": d,
        "constant": constant,
        "looked_at": len(some),
        "share_with_near_duplicate": float((cosines.max(axis=1) >= NEAR_COPY).mean()),
        "median_strongest_correlation": float(np.median(cosines.max(axis=1))),
    }
    return facts, design


def _varying_columns(X: Any) -> Ints:
    """The columns whose entries differ by more than rounding, whatever their units."""
    low, high = (np.ravel(dense(each)) for each in (X.min(axis=0), X.max(axis=0)))
    size = np.maximum(np.abs(low), np.abs(high))
    half = high / 2 - low / 2  # 1e308 has no double
    return np.flatnonzero(half > SPREAD_OF_ROUNDING * size)


def _tell(out: Console, data: Data, facts: dict[str, Any], advice: Recommendation) -> None:
    heading(out, f"{facts['rows']} rows, {facts['features']} features")
    for remark in data.remarks:
        paragraph(out, remark)
    if facts["constant"]:
        paragraph(out, f"Constant columns, which are left out: {listed(facts['constant'])}.")
    if facts["looked_at"] > 1:
        paragraph(
            out,
            f"Of {facts['looked_at']} features looked at, {facts['share_with_near_duplicate']:.0%} "
            f"correlate at {NEAR_COPY} or more with another; the strongest correlation of a "
            f"feature is {facts['median_strongest_correlation']:.2f} in the median.",
        )
    out.print()
    for sentence in advice.words:
        paragraph(out, sentence)
    out.print(f"\nShare of simulated models whose recovery condition holds, {facts['rows']} rows")
    rows = [
        [method, *("-" if np.isnan(rate) else f"{rate:.0%}" for rate in rates[-1])]
        for method, rates in advice.rates.items()
    ]
    table(out, ["method", *(f"k={size}" for size in advice.ks)], rows)
    out.print()
    paragraph(
        out,
        "Next: ksupport compare compares the methods on held-out rows, which is more informative "
        "than these sufficient conditions; ksupport fit finds the features.",
    )
