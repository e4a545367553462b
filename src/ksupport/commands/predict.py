"""``ksupport predict``: apply a model file to new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .._common.errors import InputError
from .._common.names import spreadsheet_safe, title
from .._common.phases import phase
from ..design import Floats
from ..reading import read_columns
from .fitting.model_file import Model, load
from .terminal.data_options import (
    DEFAULT_MEMORY,
    DataFile,
    Decimal,
    MaxMemory,
    Separator,
    Thousands,
    how_to_read,
)
from .terminal.ending import ends_in_words
from .terminal.outputs import as_csv, check_outputs, write_text


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
    reading = how_to_read(
        separator=separator, decimal=decimal, thousands=thousands, max_memory=max_memory
    )
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


@phase("writing the predictions")
def _as_csv(model: Model, predictions: Floats) -> str:
    head = [spreadsheet_safe(f"predicted {model.target}")]
    return as_csv([head, *([repr(float(value))] for value in predictions)])
