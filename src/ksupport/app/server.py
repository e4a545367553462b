"""Starts the page: on 127.0.0.1 alone, under an address that holds a random token."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path

from .._common.errors import InputError
from .._common.extra import extra

LOOPBACK = "127.0.0.1"
GRACE = 3  # seconds that open pages are given when the server ends


def serve(port: int, open_browser: bool, tell: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C; ``tell`` is given its address."""
    with extra("app", "the page needs"):
        import uvicorn

        from .gate import Gate
        from .session import application

    with _bound(port) as listening:
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(32)
        address = f"http://{LOOPBACK}:{port}/{token}/"
        folder = Path(tempfile.mkdtemp(prefix="ksupport-app-"))  # for its owner alone
        tempfile.tempdir = str(folder)  # what Shiny is sent lies there, too
        config = uvicorn.Config(
            Gate(application(folder), token, port),
            log_level="error", access_log=False, server_header=False, lifespan="on",
            timeout_graceful_shutdown=GRACE, ws_max_size=1 << 20,
        )  # fmt: skip
        try:
            tell(address)
            if open_browser:
                webbrowser.open(address)
            _run(uvicorn.Server(config), listening)
        finally:
            tempfile.tempdir = None
            shutil.rmtree(folder, ignore_errors=True)


def _run(server: object, listening: socket.socket) -> None:
    try:
        asyncio.run(server.serve(sockets=[listening]))  # type: ignore[attr-defined]
    except KeyboardInterrupt:  # uvicorn has ended everything, and hands it on
        print(file=sys.stderr)


def _bound(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # there it would let others listen, too
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen()  # whoever asks before all is imported waits
    except (OSError, OverflowError) as error:
        listening.close()
        raise InputError(
            f"--port {port} cannot be used ({error}); leave it out to use a free one"
        ) from None
    return listening
