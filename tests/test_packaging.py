"""What pyproject.toml promises: everything imported is declared, and tested from the oldest on."""

import ast
import runpy
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from ksupport import __version__

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
    parts = ("neighbours", "fmri", "experiments", "commands", "app")
    for path, tree in sources():
        if not path.name.startswith("dask_") and not set(parts) & set(path.parts):
            assert imports(tree.body) <= declared, path


def test_the_versions_told_are_those_of_everything_declared():
    from ksupport.commands.fitting.provenance import OPTIONAL_PACKAGES, PACKAGES

    assert set(PACKAGES) == set(map(name, PROJECT["dependencies"]))
    known = set(map(name, chain(*PROJECT["optional-dependencies"].values())))
    assert set(OPTIONAL_PACKAGES) <= known - set(PACKAGES)


def test_the_readme_is_the_long_description():
    assert (ROOT / PROJECT["readme"]).read_text().startswith("# ksupport")


def tool(script):
    path = ROOT / "tools" / script
    if not path.exists():
        pytest.skip("the tools are not part of this distribution")
    return runpy.run_path(str(path))


def test_a_package_has_one_oldest_version():
    pins = tool("oldest.py")["constraints"]()
    names = [pin.partition("==")[0] for pin in pins]
    assert len(names) == len(set(names))
    assert set(names) >= set(map(name, PROJECT["dependencies"]))


def test_everything_that_names_the_version_names_the_same():
    release = tool("release.py")
    if not (ROOT / "src").exists():
        pytest.skip("the source is not part of this distribution")
    assert set(release["named"]().values()) == {__version__}
    assert release["main"]("v" + __version__) == 0
    assert release["main"]("v9.9.9") == 1
    assert release["notes"](__version__).startswith("### Added")


def test_the_recipe_needs_what_the_package_and_its_command_need():
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]
    run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    found = [line.strip("- ").replace(" ", "") for line in run.splitlines() if " >=" in line]
    assert found == ["python>=${{python_min}}", *needed]
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in recipe


def test_every_extra_for_users_is_tried_on_what_was_built():
    ours = {"bench", "test", "doc", "check", "hooks", "dist", "audit", "fuzz", "cover"}
    assert set(tool("smoke.py")["EXTRAS"]) == {"nothing", *PROJECT["optional-dependencies"]} - ours


def test_the_site_of_manuals_leads_to_the_newest(tmp_path):
    for version in ("0.2.0", "0.10.0", "0.9.1", "drafts"):
        (tmp_path / version).mkdir()
    tool("manual_versions.py")["write"](tmp_path)
    first = (tmp_path / "index.html").read_text()
    places = [
        first.index(f'href="{version}/index.html"') for version in ("0.10.0", "0.9.1", "0.2.0")
    ]
    assert places == sorted(places)
    assert "drafts" not in first
    assert "url=../0.10.0/index.html" in (tmp_path / "stable" / "index.html").read_text()
