"""Who may speak to the page: nobody without the token, and no other page."""

import asyncio

import pytest

from ksupport.app.gate import Gate

TOKEN, PORT = "secret-token", 5000
HOST = (b"host", b"127.0.0.1:5000")


async def application(scope, receive, send):
    """Says how long the body is and which path was asked for."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    length = 0
    while True:
        message = await receive()
        length += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    headers = [(b"Cache-Control", b"public")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": f"{scope['path']} {length}".encode()})


def asked(path, headers=(HOST,), pieces=(b"",), kind="http"):
    """The messages that a request is answered with."""
    bodies = [
        {"type": "http.request", "body": each, "more_body": at + 1 < len(pieces)}
        for at, each in enumerate(pieces)
    ]
    answers = []

    async def receive():
        return bodies.pop(0)

    async def send(message):
        answers.append(message)

    gate = Gate(application, TOKEN, PORT, largest=100)
    scope = {"type": kind, "path": path, "headers": list(headers)}
    asyncio.run(gate(scope, receive, send))
    return answers


def status(*args, **kwargs):
    return asked(*args, **kwargs)[0]["status"]


def test_the_token_is_taken_off_the_path():
    answer = asked(f"/{TOKEN}/lib/x.js")
    assert answer[0]["status"] == 200
    assert answer[1]["body"] == b"/lib/x.js 0"


@pytest.mark.parametrize(
    "path", ["/", "", "/lib/x.js", "/secret", "/secret-token2/", "/x/secret-token/", f"//{TOKEN}/"]
)
def test_without_the_token_all_is_refused(path):
    assert status(path) == 403
    assert asked(path, kind="websocket")[0]["type"] == "websocket.close"


@pytest.mark.parametrize(
    "host", [b"evil.example", b"evil.example:5000", b"127.0.0.1", b"127.0.0.1:5001", b""]
)
def test_another_name_is_refused(host):
    assert status(f"/{TOKEN}/", headers=[(b"host", host)]) == 403
    assert status(f"/{TOKEN}/", headers=[]) == 403


@pytest.mark.parametrize("origin", [b"http://evil.example", b"null", b"https://127.0.0.1:5000"])
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_other_pages_are_refused(origin, kind):
    (first, *_) = asked(f"/{TOKEN}/", headers=[HOST, (b"origin", origin)], kind=kind)
    assert first.get("status") == 403 or first["type"] == "websocket.close"


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_the_page_itself_is_let_in(kind):
    origin = (b"origin", b"http://127.0.0.1:5000")
    (first, *_) = asked(f"/{TOKEN}/", headers=[HOST, origin], kind=kind)
    assert first.get("status") == 200 or first["type"] == "websocket.accept"


def test_what_says_that_it_is_too_large_is_refused_unread():
    answer = asked(f"/{TOKEN}/", headers=[HOST, (b"content-length", b"101")], pieces=[])
    assert answer[0]["status"] == 413
    assert b"0.0001 MB" in answer[1]["body"]
    assert status(f"/{TOKEN}/", headers=[HOST, (b"content-length", b"-1")], pieces=[]) == 413


def test_what_is_too_large_without_saying_so_is_refused_as_well():
    assert status(f"/{TOKEN}/", pieces=[b"x" * 60, b"x" * 60]) == 413
    assert asked(f"/{TOKEN}/", pieces=[b"x" * 60, b"x" * 40])[1]["body"] == b"/ 100"


def test_every_answer_forbids_what_the_page_does_not_need():
    for path in (f"/{TOKEN}/", "/"):
        headers = dict(asked(path)[0]["headers"])
        policy = headers[b"content-security-policy"].decode()
        assert "default-src 'self'" in policy
        assert "http" not in policy
        assert headers[b"referrer-policy"] == b"no-referrer"
        assert headers[b"cache-control"] == b"no-store"
