"""``ksupport app``: a graphical interface in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from .terminal.exit import with_exit_codes


@with_exit_codes
def app(
    port: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, max=65535, help="Port on 127.0.0.1; 0 picks a free one."
        ),
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a page on this computer: drop a file, read the report.

    The page can only be reached from this computer, at the address that is printed. Stop it with
    Ctrl-C; uploaded data are deleted then.
    """
    from ..app.server import serve

    words = "Open this address on this computer; Ctrl-C ends it."
    serve(port, browser, lambda address: typer.echo(f"{address}\n{words}"))
