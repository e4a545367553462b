"""Damaged files are read or refused in words; `make fuzz-files` tries many more."""

import lzma
import os
from pathlib import Path

import pytest

from . import files

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")

FOUND = sorted(Path(__file__).with_name("found").glob("*.xz"))
RUNS = int(os.environ.get("FUZZ_RUNS", "60"))


@pytest.mark.parametrize("kind", files.kinds())
def test_only_documented_errors_in_bounded_time_and_memory(kind, tmp_path):
    tried = files.Tried(kind, tmp_path)
    files.change_at_random(tried, kind, 2, 0)
    before = files.peak()
    files.change_at_random(files.Tried(kind, tmp_path), kind, RUNS, 0)
    assert files.peak() - before < files.MEGABYTES


@pytest.mark.parametrize("found", FOUND, ids=lambda path: path.name)
def test_what_was_found_once_is_refused_in_words(found, tmp_path):
    """By readers that crashed, or took all memory: pandas' and HDF5's."""
    kind = found.name.removesuffix(".xz").partition(".")[2]
    if kind not in files.kinds():
        pytest.skip(f"{kind} cannot be read here")
    before, tried = files.peak(), files.Tried(kind, tmp_path)
    tried(lzma.decompress(found.read_bytes()))
    assert tried.read == 0
    assert files.peak() - before < files.MEGABYTES
