"""``ksupport predict``: apply a model file to new rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import title
from .._common.phases import phase
from ..reading import Reading, Rows, read_rows
from .fitting.model_file import Model, load
from .terminal import options as shared
from .terminal.exit import with_exit_codes
from .terminal.outputs import as_csv, check_outputs, check_table, say, write_table


@with_exit_codes
@shared.with_groups(
    columns=shared.WHICH_COLUMNS.only("id"), reading=shared.READING.without("missing", "duplicates")
)
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file written by ksupport fit --output.")
    ],
    data: shared.DataFile,
    *,
    columns: shared.CheckedColumns,
    output: Annotated[
        Path | None,
        shared.output_option(
            metavar="FILE", help="Write the predictions here, as CSV or .xlsx; else print them."
        ),
    ] = None,
    reading: shared.CheckedReading,
) -> None:
    """Predict new rows with a model of ksupport fit.

    Columns are found by name, and those that share one are merged as in the fit. The names of
    rows are those of --id, or of the column that named them in the fit.
    """
    how = reading()
    check_outputs({"MODEL": model} | shared.input_files(data, how), {"--output": output})
    check_table("--output", output)
    loaded = load(model)
    table, remarks = predictions(loaded, data, how, columns().id)
    for remark in remarks:
        say(remark)
    if output is None:
        typer.echo(as_csv(table), nl=False)
    else:
        write_table(output, table)
        typer.echo(f"{len(table) - 1} predictions of {loaded.size} features: {output}")


def predictions(
    model: Model, data: Path, reading: Reading, id: str | None
) -> tuple[list[list[Any]], Sequence[str]]:
    """Predictions of the rows of a file, as a table with a header, and remarks on the file."""
    rows = read_rows(
        data, model.names, reading, model.codings, id, fill=model.fill, likely_id=model.ids,
        duplicates=model.duplicates,
    )  # fmt: skip
    if not np.isfinite(model.scores(rows.X)).all():
        raise InputError(
            f"{title(data)} holds numbers so large that predictions overflow; check its columns"
        )
    return _table(rows, model.predict(rows.X)), rows.remarks


@phase("writing the predictions")
def _table(rows: Rows, predictions: dict[str, NDArray[Any]]) -> list[list[Any]]:
    """The names of the columns, and below them a row for each prediction."""
    named = {} if rows.ids is None else {rows.id_name: rows.ids}
    columns = {**named, **predictions}
    cells = [
        [value if isinstance(value, str) else float(value) for value in row]
        for row in zip(*columns.values(), strict=True)
    ]
    return [list(columns), *cells]
