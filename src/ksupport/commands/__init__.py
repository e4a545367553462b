"""What the commands on data files do, one file each; `ksupport.cli` offers them."""

from __future__ import annotations

from collections.abc import Callable


def file_commands() -> tuple[Callable[..., None], ...]:
    """The commands; importing them needs typer and rich."""
    from .check import check
    from .compare import compare
    from .fit import fit
    from .predict import predict

    return fit, predict, check, compare
