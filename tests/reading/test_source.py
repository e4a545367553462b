"""A file is read once, from wherever it comes; what cannot be read is told in one message."""

import bz2
import gzip
import hashlib
import lzma
import os
import socket
import threading
from pathlib import Path

import pytest

from ksupport._common.errors import InputError
from ksupport.commands.fitting.model_file import load
from ksupport.reading.size import Budget
from ksupport.reading.source import open_source

TEXT = b"a,y\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(50))
PACKERS = {".gz": gzip, ".bz2": bz2, ".xz": lzma}


def opened(path):
    return open_source(Path(path), Budget(0.001))


@pytest.mark.parametrize("suffix", ["", *PACKERS])
def test_packed_text_is_unpacked_whatever_its_name_says(suffix, tmp_path):
    data = PACKERS[suffix].compress(TEXT) if suffix else TEXT
    for name in (f"data.csv{suffix}", "data.csv"):
        (tmp_path / name).write_bytes(data)
        source = opened(tmp_path / name)
        assert (source.kind, source.data) == ("csv", TEXT)
        assert source.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("suffix", ["", *PACKERS])
def test_reading_and_unpacking_are_told_to_their_ends(suffix, tmp_path, heard):
    path = tmp_path / f"data.csv{suffix}"
    path.write_bytes(PACKERS[suffix].compress(TEXT) if suffix else TEXT)
    opened(path)
    assert heard.shares("from disk") == [1.0]
    assert heard.shares("unpacking") == ([1.0] if suffix else [])


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("damage", ["cut", "changed", "not packed"])
def test_a_damaged_packed_file_is_named_with_what_to_do(suffix, damage, tmp_path):
    whole = PACKERS[suffix].compress(TEXT)
    changed = whole[:20] + bytes(255 - byte for byte in whole[20:60]) + whole[60:]
    data = {"cut": whole[:-12], "changed": changed, "not packed": TEXT}[damage]
    (tmp_path / f"data.csv{suffix}").write_bytes(data)
    with pytest.raises(InputError, match=rf"data\.csv\{suffix} cannot be unpacked .*again$"):
        opened(tmp_path / f"data.csv{suffix}")


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("kind", ["csv", "svm"])
def test_no_more_is_unpacked_than_memory_is_allowed(suffix, kind, tmp_path):
    path = tmp_path / f"zeros.{kind}{suffix}"
    path.write_bytes(PACKERS[suffix].compress(b"0" * 20_000_000))
    with pytest.raises(InputError, match=r"at least 0\.00\d GB of memory, more than --max-memory"):
        opened(path)


needs_pipes = pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")


@needs_pipes
@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT)], ids=["plain", "packed"])
def test_a_pipe_brings_a_csv(data):
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    source = opened(f"/dev/fd/{reader}")
    os.close(reader)
    assert (source.kind, source.data, source.name) == ("csv", TEXT, f"/dev/fd/{reader}")


@needs_pipes
def test_an_endless_pipe_is_read_as_far_as_is_allowed():
    reader, writer = os.pipe()

    def write_on():
        try:
            while True:
                os.write(writer, b"0" * 10_000)
        except BrokenPipeError:
            os.close(writer)

    thread = threading.Thread(target=write_on)
    thread.start()
    try:
        with pytest.raises(InputError, match="--max-memory"):
            opened(f"/dev/fd/{reader}")
    finally:
        os.close(reader)
        thread.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_brings_what_its_name_says(tmp_path):
    path = tmp_path / "data.svm"
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_bytes, args=(b"1 1:2\n",))
    thread.start()
    source = opened(path)
    thread.join()
    assert (source.kind, source.data) == ("libsvm", b"1 1:2\n")


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege elsewhere")
def test_a_link_has_the_kind_of_what_it_links_to(tmp_path):
    (tmp_path / "data.csv").write_bytes(TEXT)
    (tmp_path / "link").symlink_to("data.csv")
    assert opened(tmp_path / "link").data == TEXT


def _loop(folder):
    (folder / "loop.csv").symlink_to("loop.csv")
    return folder / "loop.csv"


def _dangling(folder):
    (folder / "dangling.csv").symlink_to("nowhere.csv")
    return folder / "dangling.csv"


def _socket(folder):
    os.chdir(folder)  # the address of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.csv")
    return Path("s.csv")


def _closed(folder):
    (folder / "closed.csv").write_bytes(TEXT)
    (folder / "closed.csv").chmod(0)
    if os.access(folder / "closed.csv", os.R_OK):
        pytest.skip("nothing is closed to this user")
    return folder / "closed.csv"


UNREADABLE = {
    "absent": (lambda folder: folder / "no.csv", "no.csv does not exist; "),
    "in a file": (lambda folder: Path(__file__) / "no.csv", "no.csv does not exist; "),
    "dangling link": (_dangling, "dangling.csv does not exist; "),
    "circle of links": (_loop, "loop.csv cannot be read: "),
    "directory": (lambda folder: folder, " is a directory; "),
    "device": (lambda folder: Path(os.devnull), " is a device, neither a file nor a pipe; "),
    "socket": (_socket, " is a device, neither a file nor a pipe; "),
    "long name": (lambda folder: folder / ("x" * 300 + ".csv"), "cannot be read: "),
    "closed": (_closed, "closed.csv cannot be read: "),
}


@pytest.mark.skipif(os.name != "posix", reason="kinds of files as POSIX has them")
@pytest.mark.parametrize("read", [opened, load], ids=["data", "model"])
@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_file_is_called_what_it_is(case, read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, says = UNREADABLE[case]
    with pytest.raises(InputError) as caught:
        read(make(tmp_path))
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400
