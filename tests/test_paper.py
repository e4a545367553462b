"""The paper says nothing that the manual's measurements do not say."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "paper" / "paper.md"
if not PAPER.exists():
    pytest.skip("the paper is not part of this distribution", allow_module_level=True)
TEXT = PAPER.read_text(encoding="utf-8")
BODY = TEXT.split("---", 2)[2]
MANUAL = "".join(
    (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name in ("developers/targets.rst", "how_good.rst")
)


def test_every_measured_number_stands_in_the_manual():
    measured = re.findall(r"(?<![\w.])(?:\d*\.\d+|\d[\d ]{2,}\d|\d{2,})(?![\w])", BODY)
    assert len(measured) > 30
    known = re.sub(r"(?<=\d) (?=\d{3}\b)", "", MANUAL)
    for number in measured:
        plain = re.escape(number.replace(" ", ""))
        assert re.search(rf"(?<![\d.]){plain}(?!\d)", known), number


def test_what_is_cited_is_listed_and_what_is_listed_is_cited():
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(set(re.findall(r"@(\w+)", BODY)))


def test_it_says_what_it_is_for_and_what_it_cannot_do():
    for heading in ("Summary", "Statement of need", "State of the field", "Limits", "References"):
        assert f"\n# {heading}\n" in BODY
    assert len(BODY.split()) < 1100  # two pages


def test_its_figure_is_of_the_manual_s_tables():
    pytest.importorskip("matplotlib")
    figures = runpy.run_path(str(ROOT / "paper" / "figures.py"))
    text = figures["TARGETS"].read_text(encoding="utf-8")
    scores = figures["scores"](text)
    claimed, true = figures["bins"](text)
    worst = max(abs(a - b) for a, b in zip(claimed, true, strict=True))
    assert (len(claimed), len(true)) == (10, 10)
    assert f"a mean F1 of {scores['AutoIRKSN']['all']:.2f}".replace(" 0.", " .") in BODY
    assert f"off by {worst:.3f}".replace(" 0.", " .") in BODY
