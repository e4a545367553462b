"""``ksupport predict``: apply a model file to new rows."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .._common.names import spreadsheet_safe, title
from ..design import Floats
from .errors import InputError
from .model_file import Model, load
from .options import (
    DEFAULT_MEMORY,
    DataFile,
    Decimal,
    MaxMemory,
    Separator,
    Thousands,
    ends_in_words,
    how_to_read,
)
from .outputs import check_outputs, write_text
from .reading import read_columns


@ends_in_words
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="What ksupport fit --output wrote.")
    ],
    data: DataFile,
    output: Annotated[
        Path | None, typer.Option(help="Write the predictions here, as CSV; else print them.")
    ] = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    max_memory: MaxMemory = DEFAULT_MEMORY,
) -> None:
    """Predict the target for the rows of a file; its columns are found by name."""
    check_outputs({"MODEL": model, "DATA": data}, {"--output": output})
    loaded = load(model)
    reading = how_to_read(separator, decimal, thousands, max_memory)
    rows = read_columns(data, loaded.names, reading)
    predictions = loaded.predict(rows)
    if not np.isfinite(predictions).all():
        raise InputError(f"{title(data)} holds numbers too large to predict from")
    text = _as_csv(loaded, predictions)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        typer.echo(f"{len(predictions)} predictions of {len(loaded.names)} features: {output}")


def _as_csv(model: Model, predictions: Floats) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([spreadsheet_safe(f"predicted {model.target}")])
    writer.writerows([repr(float(value))] for value in predictions)
    return text.getvalue()
