"""What an origin, or someone between it and us, could send: refused in words, before it costs."""

import bz2
import io
import tarfile
import urllib.error
import urllib.request
import urllib.response
import zipfile
from email.message import Message
from typing import Any

import numpy as np
import pytest

from ksupport.datasets import DatasetUnavailableError, _cache, _convert, _download, fetch_leukemia
from ksupport.datasets._registry import RemoteFile

FILE = RemoteFile("file", ("https://origin.example/file",))


class Answer(io.BytesIO):
    def __init__(self, body, **headers):
        super().__init__(body)
        self.headers = {key.replace("_", "-"): value for key, value in headers.items()}


@pytest.mark.parametrize(
    "url", ["http://origin.example/a", "file:///etc/passwd", "ftp://origin.example/a", "data:,a"]
)
def test_only_addresses_of_https_are_opened(url, tmp_path):
    with pytest.raises(OSError, match="must be an https address"):
        _download.open_url(url)
    path, reasons = _download.download(RemoteFile("file", (url,)), tmp_path)
    assert path is None
    assert "must be an https address" in reasons[0]


class Moved(urllib.request.HTTPSHandler):
    """An origin that answers with another address."""

    def __init__(self, to):
        super().__init__()
        self.to = to

    def https_open(self, request):
        headers = Message()
        headers["Location"] = self.to
        answer: Any = urllib.response.addinfourl(io.BytesIO(), headers, request.full_url, 302)
        answer.msg = "Found"
        return answer


@pytest.mark.parametrize("to", ["http://elsewhere.example/a", "ftp://elsewhere.example/a"])
def test_an_origin_that_has_moved_is_not_followed_out_of_https(to):
    opener = urllib.request.build_opener(Moved(to), _download.SecureRedirects)
    with pytest.raises(OSError, match="must be an https address"):
        opener.open("https://origin.example/a")


def test_an_origin_that_has_moved_within_https_is_followed():
    opener = urllib.request.build_opener(
        Moved("https://origin.example/a"), _download.SecureRedirects
    )
    with pytest.raises(urllib.error.HTTPError, match="infinite loop") as told:
        opener.open("https://origin.example/a")
    told.value.close()


@pytest.mark.parametrize("headers", [{}, {"Content_Length": "99"}, {"Content_Length": "much"}])
def test_a_file_that_is_too_large_is_refused_while_it_comes(headers, tmp_path, monkeypatch):
    monkeypatch.setattr(_download, "LARGEST", 10)
    monkeypatch.setattr(_download, "_PIECE", 4)
    answer = Answer(b"x" * 99, **headers)
    monkeypatch.setattr(_download, "open_url", lambda url: answer)
    path, reasons = _download.download(FILE, tmp_path)
    assert path is None
    assert "more than 10 bytes" in reasons[0]
    assert (tmp_path / "file").stat().st_size <= 12


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_convert, "UNPACKED", 1000)
    bomb = tmp_path / "leu.bz2"
    bomb.write_bytes(bz2.compress(b"1 1:1\n" * 1000))
    with pytest.raises(ValueError, match=r"leu\.bz2 unpacks to more than 1000 bytes"):
        _convert.leukemia((bomb, bomb))


def test_many_short_rows_are_not_made_dense(tmp_path):
    many = tmp_path / "leu.bz2"
    many.write_bytes(bz2.compress(b"1 1:1\n" * 1000))
    with pytest.raises(ValueError, match="has 38 and 34 rows, got 1000 and 1000"):
        _convert.leukemia((many, many))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.REGTYPE])
def test_members_of_an_archive_that_are_links_or_huge_are_refused(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(_convert, "UNPACKED", 10)
    member = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
    member.type, member.linkname = kind, "/etc/hostname"
    member.size = 11 if kind == tarfile.REGTYPE else 0
    path = tmp_path / "cal_housing.tgz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(member, io.BytesIO(b"1" * 11))
    with pytest.raises(ValueError, match="must be a file of at most 10 bytes"):
        _convert.california_housing((path,))


def test_a_raw_file_that_is_something_else_is_one_error_with_what_to_do(tmp_path):
    folder = tmp_path / "leukemia"
    folder.mkdir()
    for name in ("leu.bz2", "leu.t.bz2"):
        (folder / name).write_bytes(b"<html>gone</html>")
    with pytest.raises(DatasetUnavailableError, match=r"leu\.bz2 and .*; download it again"):
        fetch_leukemia(data_home=tmp_path)


def npz_with(path, header, body=b""):
    """An archive whose array X has this header."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, header)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", stream.getvalue() + body)


def test_an_array_that_claims_more_than_is_there_takes_no_memory(tmp_path):
    path = tmp_path / "a.npz"
    npz_with(path, {"descr": "<f8", "fortran_order": False, "shape": (10**13, 1)})
    with pytest.raises(DatasetUnavailableError, match=r"X\.npy claims .*more than it has"):
        _cache.read_arrays(path)


def test_a_cache_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_cache, "_LARGEST", 1000)
    path = tmp_path / "a.npz"
    npz_with(path, {"descr": "<f8", "fortran_order": False, "shape": (200,)}, bytes(1600))
    with pytest.raises(DatasetUnavailableError, match="unpacks to more than 1000 bytes"):
        _cache.read_arrays(path)
