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


def test_what_it_says_of_each_kind_is_in_the_table_that_it_draws():
    pytest.importorskip("matplotlib")
    kinds = runpy.run_path(str(ROOT / "paper" / "figures.py"))["kinds"]()
    held, sets = (
        sum(int(row[name]) for row in kinds.values()) for name in ("sets held", "of sets")
    )
    assert f"{held} of {sets} credible sets" in " ".join(BODY.split())
    assert f"over {sum(int(row['problems']) for row in kinds.values())} problems" in BODY
    for kind, words in (("blocks", "blocks"), ("many effects", "many effects")):
        assert f"{kinds[kind]['F1']} for {words}" in " ".join(BODY.split())
