"""The gallery's scripts: what can be told without running them; `make docs` does run them."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = [ROOT / "examples", ROOT / "tutorials"]
SCRIPTS = sorted(script for folder in FOLDERS for script in folder.glob("*.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_there_is_a_gallery(folder):
    assert any(script.parent == folder for script in SCRIPTS)
    assert (folder / "GALLERY_HEADER.rst").exists()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_has_a_title_cells_and_compiles(script):
    text = script.read_text(encoding="utf-8")
    compile(text, str(script), "exec")
    title, line, *rest = (ast.get_docstring(ast.parse(text)) or "").split("\n")
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert "".join(rest).strip(), "the introduction is shown below the picture in the gallery"
    assert "\n# %%\n" in text
    assert script.stem.startswith("plot_"), "others are not run"
