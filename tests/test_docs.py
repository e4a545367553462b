"""The manual: examples print what they say, and formulas are shown without a network."""

import doctest
import re
import runpy
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


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<a href="gone.html">x</a>', "gone.html is not there"),
        ('<a href="#gone">x</a>', "#gone has no such place"),
        ('<script src="https://example.org/x.js"></script>', "needs a network"),
        (r"<p>\(x^2\)</p>", "TeX was left over"),
        ('<p id="here"><a href="page.html#here">x</a> <code>\\frac</code></p>', ""),
    ],
)
def test_a_manual_that_was_built_is_looked_over(tmp_path, body, words):
    faults = runpy.run_path(str(DOCS.parent / "tools" / "manual.py"))["faults"]
    (tmp_path / "page.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    found = list(faults(tmp_path))
    assert len(found) == bool(words)
    assert all(words in fault for fault in found)
