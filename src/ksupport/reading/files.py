"""`ksupport.read`: a data file as what a fit needs."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from .._common.errors import InputError
from .._common.extra import extra
from .cells import Marks
from .columns import read_data
from .data import Columns, Data, Missing, Reading
from .missing import POLICIES
from .size import Budget
from .spelling import as_in_python, option

DEFAULT_MEMORY = 2.0  # gigabytes


def read(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    time: str | None = None,
    event: str | None = None,
    response: Literal["numbers", "classes"] | None = None,
    adjust_for: str | Sequence[str] = (),
    id: str | None = None,
    groups: str | None = None,
    ignore: str | Sequence[str] = (),
    transpose: bool = False,
    phenotypes: str | os.PathLike[str] | None = None,
    sheet: str | None = None,
    missing: Missing = "refuse",
    separator: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    max_memory: float = DEFAULT_MEMORY,
) -> Data:
    """Read a data file: features, what is to be explained, and what is known besides.

    CSV and TSV (also packed), Excel and LibreOffice, Parquet, Arrow and Feather, NPZ (arrays X
    and y), LIBSVM, genotypes of PLINK (``.bed``, left on disk) and AnnData (``.h5ad``).  The
    command ``ksupport fit`` reads files by the same rules.

    Parameters
    ----------
    path : path
        The file; the end of its name tells its kind.
    target : str, optional
        Column to explain.  NPZ takes the array y and LIBSVM the first entry.  Text, truth values
        and two codes (0 and 1, -1 and 1, 1 and 2) are classes, other numbers are numbers.
    time, event : str, optional
        Instead of a target: the time until an event or until a row was last seen, and whether it
        was the event (1) or not (0); ``"column=value"`` says which value means that it was.
    response : "numbers" or "classes", optional
        What the target is, where it does not tell.
    adjust_for : str or sequence of str
        Columns that are in every model: age, sex, batch.  Text is coded as columns of 0 and 1.
    id : str, optional
        Column that names the rows.
    groups : str, optional
        Column of labels; rows with the same one are to share a fold.
    ignore : str or sequence of str
        Columns to leave out.
    transpose : bool
        Whether features are in rows: then the first column names them.
    phenotypes : path, optional
        Another file with a row for each sample, found by its name: in the column ``id``, or in
        the first one.
    sheet : str, optional
        Of a spreadsheet; the first if left out.
    missing : "refuse", "drop-rows", "drop-columns" or "impute"
        What to do about missing values.  To impute is to replace them by the means of their
        columns; an estimator does so within its folds too.
    separator : str, optional
        What separates the columns of a CSV; a comma, or a tab in ``.tsv``.
    decimal : str
        What stands before the decimals of numbers.
    thousands : str, optional
        What separates thousands in numbers.
    max_memory : float
        Files that would take more memory than this, in GB, are refused.

    Returns
    -------
    Data
        With X, y, ``kind`` ("numbers", "classes" or "survival"), ``feature_names``, ``ids``,
        ``groups``, ``covariates``, and ``remarks``: what was assumed, in words.  ``unpenalized``
        tells estimators which columns of X are to adjust for.

    Examples
    --------
    >>> import ksupport, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "samples.csv"
    >>> _ = file.write_text("name,g1,g2,sex,dose\\nA,1,4,f,2.5\\nB,2,5,m,3.5\\nC,3,7,f,4.5\\n")
    >>> data = ksupport.read(file, target="dose", id="name", adjust_for="sex")
    >>> data
    Data(samples.csv: 3 rows, 2 features, 1 to adjust for; response: numbers)
    >>> data.feature_names, data.ids.tolist(), data.y.tolist()
    (('g1', 'g2', 'sex=m'), ['A', 'B', 'C'], [2.5, 3.5, 4.5])
    """
    with as_in_python(), extra("files", "reading files needs"):
        how = how_to_read(
            separator=separator, decimal=decimal, thousands=thousands, missing=missing,
            max_memory=max_memory, sheet=sheet, transpose=transpose,
            phenotypes=None if phenotypes is None else Path(phenotypes),
        )  # fmt: skip
        columns = Columns(
            target, groups, _several(ignore), time, event, id, _several(adjust_for), response
        )
        if response not in (None, "numbers", "classes"):
            raise InputError(f"response must be 'numbers' or 'classes', got {response!r}")
        return read_data(Path(path), columns, how, need_target=False)


def _several(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def how_to_read(
    *,
    separator: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    missing: str = "refuse",
    max_memory: float = DEFAULT_MEMORY,
    sheet: str | None = None,
    transpose: bool = False,
    phenotypes: Path | None = None,
) -> Reading:
    r"""The options on reading, checked; ``\t`` as people type it stands for the tab."""
    separator = "\t" if separator in ("\\t", "tab") else separator
    given = {"separator": separator, "decimal": decimal, "thousands": thousands}
    _check_marks({name: mark for name, mark in given.items() if mark is not None})
    policy = next((each for each in POLICIES if each == missing), None)
    if policy is None:
        raise InputError(
            f"{option('missing')} must be one of {', '.join(POLICIES)}; got {missing!r}"
        )
    if not 0 < max_memory < math.inf:
        raise InputError(
            f"{option('max-memory')} must be a number of gigabytes above 0, such as "
            f"{DEFAULT_MEMORY:g}; got {max_memory:g}"
        )
    marks, budget = Marks(decimal, thousands), Budget(max_memory)
    return Reading(separator, marks, budget, policy, sheet, transpose, phenotypes)


def _check_marks(given: dict[str, str]) -> None:
    for name, mark in given.items():
        if len(mark) != 1 or mark.isalnum() or mark in '"+-\r\n':
            raise InputError(
                f"{option(name)} must be one character (\\t for a tab) that is no part of a number "
                f"or a name; got {mark!r}"
            )
        if name != "thousands" and not mark.isascii():
            raise InputError(f"{option(name)} must be an ASCII character; got {mark!r}")
        others = [other for other in given if other < name and given[other] == mark]
        if others:
            raise InputError(
                f"{option(others[0])} and {option(name)} must differ; both are {mark!r}"
            )
