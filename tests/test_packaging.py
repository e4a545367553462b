"""What pyproject.toml promises: everything imported is declared, and tested from the oldest on."""

import ast
import runpy
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = {
    "sklearn": "scikit-learn", "nibabel": "nilearn", "bed_reader": "bed-reader",
    "python_calamine": "python-calamine", "sksurv": "scikit-survival",
}  # fmt: skip


def name(requirement):
    return requirement.partition(">")[0].partition("[")[0]


def imported(node):
    if isinstance(node, ast.Import):
        return {each.name.partition(".")[0] for each in node.names}
    if isinstance(node, ast.ImportFrom) and not node.level:
        return {node.module.partition(".")[0]}
    return set()


def imports(nodes):
    found = set().union(*map(imported, nodes)) - set(sys.stdlib_module_names) - {"ksupport"}
    return {DISTRIBUTIONS.get(each, each) for each in found}


def sources():
    for path in (ROOT / "src").rglob("*.py"):
        yield path, ast.parse(path.read_text())


def test_every_import_is_declared():
    extras = chain(*PROJECT["optional-dependencies"].values())
    declared = set(map(name, chain(PROJECT["dependencies"], extras)))
    for path, tree in sources():
        assert imports(ast.walk(tree)) <= declared, path


def test_what_the_package_itself_imports_is_no_extra():
    declared = set(map(name, PROJECT["dependencies"]))
    parts = ("neighbours", "fmri", "experiments", "commands")
    for path, tree in sources():
        if not path.name.startswith("dask_") and not set(parts) & set(path.parts):
            assert imports(tree.body) <= declared, path


def test_the_readme_is_the_long_description():
    assert (ROOT / PROJECT["readme"]).read_text().startswith("# ksupport")


def test_a_package_has_one_oldest_version():
    script = ROOT / "tools" / "oldest.py"
    if not script.exists():
        pytest.skip("the tools are not part of this distribution")
    pins = runpy.run_path(str(script))["constraints"]()
    names = [pin.partition("==")[0] for pin in pins]
    assert len(names) == len(set(names))
    assert set(names) >= set(map(name, PROJECT["dependencies"]))
