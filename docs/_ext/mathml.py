"""Mathematics as MathML, made when the pages are built: no script, and no network to read them.

latex2mathml translates; what it cannot is a warning, which stops the build.  Browsers that have no
font for mathematics get that of ziamath, STIX Two Math, with the pages (`_static/manual.css`).
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(tex: str, display: str) -> str:
    """The formula; lines that are aligned become a table."""
    if r"\\" in tex and r"\begin" not in tex:
        tex = rf"\begin{{align*}}{tex}\end{{align*}}"
    made = convert(" ".join(tex.split()), display=display)
    if "\\" in made:
        raise ValueError("a command is not known")
    return str(made)


def shown(node: nodes.Element, display: str) -> str:
    """The formula of a node; its TeX, with a warning, where there is no translation."""
    try:
        return mathml(node.astext(), display)
    except Exception as error:  # of several kinds, all about the formula
        logger.warning("no MathML for %r: %r", node.astext(), error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(shown(node, "inline"))
    raise nodes.SkipNode


def displayed(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(f"{shown(node, 'block')}</div>\n")
    raise nodes.SkipNode


def add_font(app: Any, config: Any) -> None:
    config.html_static_path.append(str(files("ziamath") / "fonts"))


def setup(app: Any) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    app.connect("config-inited", add_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
