"""``ksupport predict``: apply a model file to new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import spreadsheet_safe, title
from .._common.phases import phase
from ..reading import Rows, read_rows
from ..reading.files import DEFAULT_MEMORY
from .fitting.model_file import load
from .terminal.data_options import (
    DataFile,
    Decimal,
    Id,
    MaxMemory,
    Phenotypes,
    Separator,
    Sheet,
    Thousands,
    Transpose,
    how_to_read,
    table_of_inputs,
)
from .terminal.ending import ends_in_words
from .terminal.help import of_result
from .terminal.outputs import as_csv, check_outputs, write_text
from .terminal.printing import say


@ends_in_words
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="What ksupport fit --output wrote.")
    ],
    data: DataFile,
    id: Id = None,
    output: Annotated[
        Path | None,
        of_result(metavar="FILE", help="Write the predictions here, as CSV; else print them."),
    ] = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    sheet: Sheet = None,
    transpose: Transpose = False,
    phenotypes: Phenotypes = None,
    max_memory: MaxMemory = DEFAULT_MEMORY,
) -> None:
    """Predict new rows by a model of ksupport fit.

    Columns are found by name. The names of rows are those of --id, or of the column that named
    them in the fit.
    """
    reading = how_to_read(
        separator=separator, decimal=decimal, thousands=thousands, max_memory=max_memory,
        sheet=sheet, transpose=transpose, phenotypes=phenotypes,
    )  # fmt: skip
    check_outputs({"MODEL": model} | table_of_inputs(data, reading), {"--output": output})
    loaded = load(model)
    rows = read_rows(
        data, loaded.names, reading, loaded.codings, id, fill=loaded.fill, likely_id=loaded.ids
    )
    if not np.isfinite(loaded.scores(rows.X)).all():
        raise InputError(f"{title(data)} holds numbers too large to predict from")
    for remark in rows.remarks:
        say(remark)
    text = _as_csv(rows, loaded.predict(rows.X))
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        typer.echo(f"{len(rows.X)} predictions of {loaded.size} features: {output}")


@phase("writing the predictions")
def _as_csv(rows: Rows, predictions: dict[str, NDArray[Any]]) -> str:
    named = {} if rows.ids is None else {rows.id_name: rows.ids}
    columns = {**named, **predictions}
    head = [spreadsheet_safe(name) for name in columns]
    cells = ([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return as_csv([head, *cells])


def _cell(value: Any) -> str:
    return spreadsheet_safe(value) if isinstance(value, str) else repr(float(value))
