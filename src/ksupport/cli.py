"""The command line, put together; each command is a file of `ksupport.commands`.

A command prints its result on standard output and what went wrong on standard error, and ends
with one of the codes below.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import Annotated, Any

from ._common.telling import listening
from .commands.fitting.provenance import told_versions
from .commands.terminal.errors import WRONG_USAGE
from .commands.terminal.streams import lasting_streams
from .walking import whole_walks_only

with suppress(ImportError):  # without the extra `cli`, app() says what to install
    import typer

EXIT_CODES = (
    "Exit codes: 0 done, 1 could not be done (the message says why), 2 wrong usage or input, "
    "130 interrupted."
)
SETTINGS: dict[str, Any] = {
    "no_args_is_help": True,
    "rich_markup_mode": None,
    "epilog": EXIT_CODES,
}


def app() -> None:
    """Run the command line."""
    if find_spec("typer") is None or find_spec("rich") is None:
        print(
            "the command line needs two more packages: pip install 'ksupport[cli]'", file=sys.stderr
        )
        raise SystemExit(WRONG_USAGE)
    with lasting_streams(), whole_walks_only(), listening():
        program()()


def program() -> Any:
    """Every command, in the order of the help."""
    from .commands.bench import bench  # these need typer, of which app() has made sure
    from .commands.check import check
    from .commands.compare import compare
    from .commands.data import DATA, HELP
    from .commands.demo import demo
    from .commands.fit import fit
    from .commands.predict import predict
    from .commands.rehearse import rehearse
    from .commands.reproduce import reproduce
    from .commands.terminal.help import Sectioned

    main = typer.Typer(**SETTINGS, pretty_exceptions_enable=False)
    main.callback()(_root)
    for command in (fit, predict, check, compare, rehearse, demo, reproduce, bench):
        main.command(cls=Sectioned, epilog=EXIT_CODES)(command)
    data = typer.Typer(**SETTINGS, help=HELP)
    for name, command in DATA.items():
        data.command(name, cls=Sectioned, epilog=EXIT_CODES)(command)
    main.add_typer(data, name="data")
    return main


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(told_versions())
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print versions and exit."
        ),
    ] = False,
) -> None:
    """Which of many measurements matter, and how sure one can be.

    Start with ksupport demo, then ksupport fit data.csv --target y --report report.html.
    """


if __name__ == "__main__":
    app()
