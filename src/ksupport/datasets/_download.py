"""Downloads: https only, redirects included; limited in size; checked against digests.

These guarantees are why the package downloads by itself: a general-purpose downloader follows
redirects to other schemes and sets no limit on the size of a file.
"""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Any

from .._common.phases import Update, phase
from ._registry import RemoteFile

LARGEST = 1 << 28  # bytes of a file; the largest of the registry has a tenth of that
_TIMEOUT = 60.0  # seconds without a byte
_PIECE = 1 << 18  # bytes to take at once


class SecureRedirects(urllib.request.HTTPRedirectHandler):
    """Follows an origin that has moved, but never to an address without encryption."""

    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str):  # type: ignore[no-untyped-def]
        try:
            check_secure(newurl)
        except OSError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_secure(url: str) -> None:
    """Refuse other schemes: http can be tampered with, and file: would read the local disk."""
    if not url.startswith("https://"):
        raise OSError(f"{url} must be an https address")


def open_url(url: str) -> IO[bytes]:
    """The answer of an origin, or OSError."""
    check_secure(url)
    request = urllib.request.Request(url, headers={"User-Agent": "ksupport"})
    answer: IO[bytes] = urllib.request.build_opener(SecureRedirects).open(request, timeout=_TIMEOUT)
    return answer


def download(file: RemoteFile, scratch: Path) -> tuple[Path | None, list[str]]:
    """Download into ``scratch`` from the first address that works; also the failures before it."""
    path, reasons = scratch / file.filename, []
    for url in file.urls:
        try:
            _retrieve(url, path)
        except (OSError, http.client.HTTPException) as error:
            reasons.append(f"{url}: {error}")
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            continue
        problem = digest_problem(path, file)
        if problem is None:
            return path, reasons
        reasons.append(f"{url}: {problem}")
    return None, reasons


def _retrieve(url: str, path: Path) -> None:
    with open_url(url) as answer, path.open("wb") as stream:
        announced = _announced(answer)
        _check_size(announced or 0)
        with phase(f"downloading {path.name}", announced) as update:
            _copy(answer, stream, update)
        if announced is not None and stream.tell() != announced:
            raise OSError(f"the connection broke after {stream.tell()} of {announced} bytes")


def _announced(answer: Any) -> int | None:
    size = answer.headers.get("Content-Length")
    return int(size) if size is not None and size.isdecimal() else None


def _check_size(size: int) -> None:
    if size > LARGEST:
        raise OSError(f"more than {LARGEST} bytes, which no dataset here has")


def _copy(source: IO[bytes], target: IO[bytes], update: Update) -> None:
    while piece := source.read(_PIECE):
        target.write(piece)
        _check_size(target.tell())
        update(target.tell())


def digest_problem(path: Path, file: RemoteFile) -> str | None:
    """How the digest of a file differs from the expected one; None if it agrees."""
    if file.digest is None:
        return None
    algorithm, expected = file.digest.split(":")
    with path.open("rb") as stream:
        # MD5 serves here against accidents, not against attackers.
        found = hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False))
    digest = found.hexdigest()
    return None if digest == expected else f"{algorithm} is {digest}, expected {expected}"
