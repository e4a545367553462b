"""How Sphinx builds these pages; `make docs` runs it, with warnings as errors."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import ksupport

project = "ksupport"
author = "the ksupport developers"
copyright = author
version = release = ksupport.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # of our own, in _ext:
    "api_pages",
    "command_line",
    "mathml",
    "measured",
    "promises",
]
exclude_patterns = ["_build", "*.inc"]
html_math_renderer = "mathml"
default_role = "py:obj"  # `IRKSN` in our docstrings links to its page
rst_prolog = ".. currentmodule:: ksupport\n"

# Examples run for real while the pages are built; one that fails stops the build.
sphinx_gallery_conf = {
    "examples_dirs": ["../tutorials", "../examples"],
    "gallery_dirs": ["auto_tutorials", "auto_examples"],
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
    "show_memory": False,
    "ignore_repr_types": r"matplotlib\.",  # pictures speak for themselves
}

autodoc_typehints = "none"  # numpydoc sections already name the types
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"ksupport {release}"
html_theme_options = {"show_prev_next": False, "show_toc_level": 2}
WIDE = (
    "how_good", "promises", "truth", "methods", "theory", "reproduction", "auto_tutorials/*",
    "auto_examples/*",
)  # fmt: skip
html_sidebars = {name: [] for name in WIDE}  # code, tables and pictures need the room
html_static_path = ["_static"]
html_css_files = ["manual.css"]


def typeset(text: str) -> str:
    """A condition as it is printed on a terminal, x_l and max_{l∉S}, with its indices set low."""
    text = re.sub(r"[*|\\]", r"\\\g<0>", text)
    return re.sub(r"_(?:\{([^}]+)\}|(\w\u0304?|∞))", lambda m: rf"\ :sub:`{m[1] or m[2]}`\ ", text)


def methods_table() -> str:
    """Table 1 of the paper, and the parameters, as the methods describe themselves."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 12 38 22 10 18",
        "",
        "   * - Method",
        "     - Recovers when",
        "     - Model error",
        "     - Cost",
        "     - Parameters",
    ]
    for method in ksupport.METHODS.values():
        about = method.describe()
        parameters = ", ".join(f"``{name}``" for name in about.parameters)
        cells = [f"**{about.title}**, {about.citation}", about.condition, about.bound]
        for i, cell in enumerate([*cells, about.complexity, parameters]):
            text = cell if i in (0, 4) else typeset(cell)
            lines.append(f"   {'*' if i == 0 else ' '} - {text}")
    return "\n".join(lines) + "\n"


def setup(app: object) -> None:
    Path(__file__).with_name("methods_table.inc").write_text(methods_table(), encoding="utf-8")
