"""The manual: examples print what they say, and formulas are shown without a network."""

import doctest
import re
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


# What `docs/_ext/mathml.py` translates when the manual is built.
TEX = re.compile(r":math:`([^`]+)`|^ *\.\. math::\n\n((?:(?: {3,}.*)?\n)+)", re.MULTILINE)
TEXTS = sorted([*DOCS.glob("**/*.rst"), *(DOCS.parent / "src").rglob("*.py")])
FORMULAS = [
    (inline or block, bool(block))
    for text in TEXTS
    if "_build" not in text.parts
    for inline, block in TEX.findall(text.read_text("utf-8"))
]


def test_there_are_formulas_in_lines_and_by_themselves():
    assert {block for _, block in FORMULAS} == {False, True}


def test_every_formula_has_mathml(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    mathml = pytest.importorskip("mathml", reason="needs the extra doc", exc_type=ImportError)
    for tex, block in FORMULAS:
        made = mathml.mathml(tex, "block" if block else "inline")
        assert made.startswith("<math")
        assert "\\" not in made
