"""Checks of every request: token, address, size."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from .. import limits

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# The page loads nothing from elsewhere, even if it were made to ask; Shiny has scripts in place.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class TooLarge(Exception):
    """A request has more bytes than are allowed."""


class Gate:
    """An ASGI application that lets through only what begins with ``/token/``.

    A page on the web can send requests to 127.0.0.1, but knows no token; one whose name was made
    to point to 127.0.0.1 (DNS rebinding) sends its own name as Host, and is refused for that.
    """

    def __init__(
        self, inner: Application, token: str, port: int, largest: int = limits.UPLOAD
    ) -> None:
        self._inner, self._token, self._largest = inner, token, largest
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["path"] == "/favicon.ico":  # which browsers ask for whatever the page says
            await _refuse(scope, send, 204, "")
            return
        headers = dict(scope["headers"])
        if (status := self._refusal(scope, headers)) is not None:
            await _refuse(scope, send, *status)
            return
        begin = f"/{self._token}"
        path = scope["path"].removeprefix(begin) or "/"
        within = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        try:
            await self._inner(within, self._limit_body(receive), _with_headers(send))
        except TooLarge:
            await _refuse(scope, send, 413, self._too_large)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        """Return the status and the message of a refusal; None if the request may pass."""
        if headers.get(b"host") not in self._hosts:
            return 403, "this page is only served at 127.0.0.1"
        if headers.get(b"origin", next(iter(self._origins))) not in self._origins:
            return 403, "requests from other pages are refused"
        given = scope["path"].partition("/")[2].partition("/")[0]
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return 403, "the address lacks its token: open the one that ksupport app printed"
        if scope["path"] == f"/{self._token}":
            return 404, "the address must end with a slash"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._largest:
            return 413, self._too_large
        return None

    @property
    def _too_large(self) -> str:
        return f"files of more than {self._largest / 1e6:g} MB are refused"

    def _limit_body(self, receive: Receive) -> Receive:
        """Count the bytes of a body, whatever its headers say."""
        save_uploads = 0

        async def receive_counted() -> Message:
            nonlocal save_uploads
            message = await receive()
            if message["type"] == "http.request":
                save_uploads += len(message.get("body", b""))
                if save_uploads > self._largest:
                    raise TooLarge
            return message

        return receive_counted


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = {name for name, _ in HEADERS}
            kept = [(name, value) for name, value in message["headers"] if name.lower() not in ours]
            message = {**message, "headers": [*kept, *HEADERS]}
        await send(message)

    return sent


async def _refuse(scope: Scope, send: Send, status: int, words: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": words})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{words}\n".encode() if words else b""})
