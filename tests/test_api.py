"""Public names, their signatures and their docstrings; `make api` renews the list."""

import runpy
from itertools import dropwhile, takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
API = runpy.run_path(str(ROOT / "tools" / "api.py"))
LISTED = (ROOT / "tests" / "api.txt").read_text().splitlines()
NEEDS = {"fmri": "nilearn", "benchopt": "benchopt", "modopt": "modopt",
         "pyproximal": "pyproximal", "skglm": "skglm"}  # fmt: skip
MODULES = list(API["MODULES"])


@pytest.fixture(params=MODULES)
def module(request):
    name = request.param.rpartition(".")[2]
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    return request.param


def of(line):
    """The module whose names begin here, if it is the first line of one."""
    return line.partition("(")[0].rpartition(".")[0] if line[0] != " " else None


def listed(module):
    """The lines from the first name of a module to that of another."""
    rest = dropwhile(lambda line: of(line) != module, LISTED)
    return list(takewhile(lambda line: of(line) in (None, module), rest))


def test_public_names_and_signatures_are_those_listed(module):
    assert list(API["listing"](module)) == listed(module), "if that is meant: make api"


def test_every_listed_name_belongs_to_a_module():
    assert {of(line) for line in LISTED} - {None} == set(MODULES)


def test_docstrings_tell_of_every_parameter_and_of_no_other(module):
    pytest.importorskip("numpydoc")
    assert API["faults"](module) == []
