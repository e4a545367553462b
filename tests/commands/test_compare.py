"""``ksupport compare`` where there is nothing to compare."""

import numpy as np
import pandas as pd
import pytest

from ksupport.commands.compare import Score, _refuse_only_failures
from ksupport.commands.terminal.errors import CommandError


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (lambda f: f.assign(y=3.0), (), "the target is constant"),
        (lambda f: f.assign(y=f.y * 1e200), (), "the target has 1.28e+201 for its largest number"),
        (lambda f: f.assign(y=f.y * 1e-300), (), "the target has 1.28e-299 for its largest number"),
        (lambda f: f.assign(g1=f.g1 * 1e200), (), "column g1 has 2e+200 for its largest number"),
        (lambda f: f.assign(y=np.nan), ("--missing", "drop-rows"), "has no finite value"),
        (lambda f: f[:1], (), "--folds 5 needs at least 10 rows; got 1"),
        (lambda f: f, ("--cv", 49), "--cv must be at most the rows that a fold trains on, 48"),
        (lambda f: f, ("--seed", 2**32), "--seed"),
        (lambda f: f, ("--methods", ","), "--methods must name some of"),
    ],
    ids=["constant", "huge y", "tiny y", "huge X", "no y", "one row", "folds", "seed", "methods"],
)
def test_what_cannot_be_compared_is_refused(change, options, says, run, small_csv):
    change(pd.read_csv(small_csv)).to_csv(small_csv, index=False)
    done = run("compare", small_csv, "--target", "y", *options, cwd=small_csv.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_table_of_failures_is_no_comparison():
    mean, failed = Score("mean of y", 1.0, 0.0, 0, 0, ""), Score("iht", *[None] * 4, "failed, why")  # type: ignore[call-arg]
    with pytest.raises(CommandError, match="no method could be fitted; iht failed, why"):
        _refuse_only_failures([mean, failed])
    _refuse_only_failures([mean])
    _refuse_only_failures([mean, failed, Score("lasso", 0.5, 0.1, 3, 0.1, "")])
