"""The command line, put together; each command is a file of `ksupport.commands`.

A command prints its result on standard output and what went wrong on standard error, and ends
with one of the codes below.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

from ._common.progress import show_progress
from .commands.terminal.exit import WRONG_USAGE, fail_safe_streams

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
COMMANDS = {  # in the order of the help, each with the first line of its docstring
    "fit": "Find the features of a data file that explain a target.",
    "app": "Open a page on this computer: drop a file, read the report.",
    "predict": "Predict new rows with a model of ksupport fit.",
    "check": "Measure correlations, and check recovery conditions.",
    "compare": "Compare all methods on held-out rows.",
    "rehearse": "Test a fit on simulated responses with known true features.",
    "demo": "Show results on simulated data, compared with the Lasso.",
    "reproduce": "Run the paper's experiments again.",
    "bench": "Measure speed, compared with NumPy and scikit-learn.",
    "data": "List, download and locate the real datasets.",
}
COMPLETION = "_KSUPPORT_COMPLETE"  # set by a shell that asks which words may follow


def app() -> None:
    """Run the command line."""
    if find_spec("typer") is None or find_spec("rich") is None:
        print(
            "the command line needs two more packages: pip install 'ksupport[cli]'", file=sys.stderr
        )
        raise SystemExit(WRONG_USAGE)
    called = needed()
    with fail_safe_streams(), _whole_walks(called), show_progress():
        program(called)()


def _whole_walks(called: set[str]) -> AbstractContextManager[None]:
    """Ctrl-C ends a walk, and the command with it; help, lists of data and pages walk nowhere."""
    if called <= {"data", "app"}:
        return nullcontext()
    from .walking import whole_walks_only

    return whole_walks_only()


def needed() -> set[str]:
    """The commands that have to be imported: the one that is called, none for help alone."""
    if COMPLETION in os.environ:
        return set(COMMANDS)
    return {word for word in sys.argv[1:] if not word.startswith("-")} & set(COMMANDS)


def program(imported: set[str] | None = None) -> Any:
    """Every command, in the order of the help.

    Importing one takes seconds, so only those ``imported`` (None: all) can be called; of the
    others there is the line in the help.
    """
    main = typer.Typer(**SETTINGS, pretty_exceptions_enable=False)
    main.callback()(_root)
    for name, summary in COMMANDS.items():
        if imported is not None and name not in imported:
            main.command(name, help=summary)(_not_imported)
        elif name == "data":
            main.add_typer(_data(), name=name)
        else:
            _add(main, name, getattr(import_module(f".commands.{name}", __package__), name))
    return main


def _add(group: Any, name: str, command: Any) -> None:
    from .commands.terminal.options import (
        CommandWithSections,  # needs typer, of which app() has made sure
    )

    group.command(name, cls=CommandWithSections, epilog=EXIT_CODES)(command)


def _not_imported() -> None:
    raise AssertionError("a command was called that needed() did not name")


def _data() -> Any:
    from .commands.data import DATA

    data = typer.Typer(**SETTINGS, help=COMMANDS["data"])
    for name, command in DATA.items():
        _add(data, name, command)
    return data


def _show_version(wanted: bool) -> None:
    if wanted:
        from .commands.fitting.provenance import version_text

        typer.echo(version_text())
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print versions and exit."
        ),
    ] = False,
) -> None:
    """Find which of many measurements matter, and how sure you can be.

    Start with ksupport demo, then ksupport fit data.csv --target y --report report.html.
    """


if __name__ == "__main__":
    app()
