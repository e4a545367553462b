"""The manual: what its pages claim to print is what is printed."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page for page in DOCS.glob("user_guide/*.rst") if ">>>" in page.read_text("utf-8"))


def test_there_are_pages_with_examples():
    assert {"choosing.rst"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_a_page_print_what_they_say(page, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")  # the width of pandas' tables
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=flags, encoding="utf-8"
    )
    assert tried
    assert not failed
