"""``ksupport data``: list, download and locate the real datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from .. import datasets
from .terminal.exit import fail
from .terminal.options import among
from .terminal.outputs import console, table


def _known_datasets() -> list[str]:
    return [info.name for info in datasets.list_datasets()]


Name = typer.Argument(help="A name of `ksupport data list`.", autocompletion=among(_known_datasets))


def show() -> None:
    """Show the real datasets, and which of them are on this machine."""
    rows = [
        [
            info.name,
            *map(str, info.shape),
            "yes" if datasets.dataset_path(info.name).exists() else "no",
            info.description,
        ]
        for info in datasets.list_datasets()
    ]
    table(console(), ["name", "rows", "features", "here", "description"], rows)


def fetch(
    name: Annotated[str, Name],
    download: Annotated[
        bool, typer.Option(help="Download the dataset if it is not on this machine.")
    ] = True,
) -> None:
    """Download a dataset into the data directory, and check it."""
    _check_name(name)
    try:
        bunch = datasets.fetch_dataset(name, download_if_missing=download)
    except (OSError, ImportError, ValueError) as error:  # network, disk, extra, bad contents
        fail(str(error))
    n, d = bunch.data.shape
    typer.echo(f"{name}: {n} x {d}, in {datasets.dataset_path(name)}")


def path(name: Annotated[str | None, Name] = None) -> None:
    """Print the data directory, or the file of one dataset."""
    if name is None:
        typer.echo(datasets.data_home())
    else:
        _check_name(name)
        typer.echo(datasets.dataset_path(name))


def _check_name(name: str) -> None:
    known = _known_datasets()
    if name not in known:
        raise typer.BadParameter(f"{name!r} is not a dataset; choose one of {', '.join(known)}")


DATA: dict[str, Callable[..., None]] = {"list": show, "fetch": fetch, "path": path}
