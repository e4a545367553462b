"""Damaged files are read or refused in words; `make fuzz-files` tries many more."""

import os

import pytest

from . import files

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")

RUNS = int(os.environ.get("FUZZ_RUNS", "60"))


@pytest.mark.parametrize("kind", files.kinds())
def test_only_documented_errors_in_bounded_time_and_memory(kind, tmp_path):
    tried = files.Tried(kind, tmp_path)
    files.change_at_random(tried, kind, 2, 0)
    before = files.peak()
    files.change_at_random(files.Tried(kind, tmp_path), kind, RUNS, 0)
    assert files.peak() - before < files.MEGABYTES
