"""The manual: examples print what they say, and formulas are shown without a network."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

from ksupport import AutoIRKSN
from ksupport.datasets import make_block_data

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
        ("<p>max_{l}</p>", "TeX was left over"),
        ('<p id="here"><a href="page.html#here">x</a> <code>\\frac</code></p>', ""),
    ],
)
def test_a_manual_that_was_built_is_looked_over(tmp_path, body, words):
    faults = runpy.run_path(str(DOCS.parent / "tools" / "manual.py"))["faults"]
    (tmp_path / "page.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    found = list(faults(tmp_path))
    assert len(found) == bool(words)
    assert all(words in fault for fault in found)


def test_pictures_are_drawn_of_the_measurements(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    measured = pytest.importorskip("measured", exc_type=ImportError)
    text = (DOCS / "developers" / "targets.rst").read_text("utf-8")
    for draw in measured.PICTURES.values():
        assert draw(text).axes
        measured.plt.close("all")
    for row in measured.table_after(text, "Power is the share").values():
        assert measured.numbers(row["sets held"])[0] <= measured.numbers(row["of sets"])[0]
    with pytest.raises(ValueError, match="there is no"):
        measured.table_after(text, "nowhere")
    told = measured.table_after(SHEET, "words")
    assert told == {"a b": {"one": "1 to 2", "two": ".5"}, "c": {"one": "3", "two": ""}}
    assert measured.numbers("1 to 2 000, **.5**") == [1, 2, 0, 0.5]


SHEET = """words

=====  =======  ====
what   one      two
=====  =======  ====
a b    1 to 2   .5
c      **3**
=====  =======  ====
"""


def test_the_first_example_is_told_as_it_ends():
    X, y, w = make_block_data(n_samples=100, n_features=2000, random_state=0)
    model = AutoIRKSN().fit(X, y)
    count, seen = int(model.support_.sum()), model.performance_
    assert w[model.support_].all()
    score, error = f"{seen.score:.2f}", f"{seen.standard_error:.2f}"
    told = {
        "user_guide/getting_started.rst": (
            f"here {count}, all of them true",
            f"it explains {score[1:]} of the variance (standard error {error[1:]})",
        ),
        "user_guide/certificates.rst": (f"{count}, all of them true", f"{score} ± {error}"),
    }
    for page, sentences in told.items():
        text = (DOCS / page).read_text("utf-8")
        assert all(each in text for each in sentences), page


def test_promises_that_were_not_kept_are_red(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    promises = pytest.importorskip("promises", exc_type=ImportError)
    line = {
        "promise": "features", "level": "0.1", "kind": "genes", "method": "one", "draws": "2",
        "hits": "3", "count": "10", "share": "0.300", "low": "0.067", "high": "0.652",
        "power": "0.500", "claimed": "", "length": "", "seconds": "1.00", "met": "no",
    }  # fmt: skip
    told = "3 of 10 (0.067 to 0.652), rate 0.300, power 0.500"
    assert promises.cell_of(line) == f":miss:`{told}`"
    assert promises.cell_of(line | {"met": "yes"}) == told
    assert f":miss:`{told}`" in promises.board([line], "features", "0.1")
    assert "at most 2 draws of each kind" in promises.about([line])
    assert "power by squared effects" in promises.foretold(
        promises.read(DOCS / "tables" / "rehearsal.csv")
    )
    for file in ("promises", "truth"):
        lines = promises.read(DOCS / "tables" / f"{file}.csv")
        for name, draw in promises.PICTURES.values():
            if name == file:
                draw(lines)
                promises.plt.close("all")
