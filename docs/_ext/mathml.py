"""Mathematics as MathML, made when the pages are built: no script, no network.

docutils translates; what it cannot is a warning, which stops the build.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml, unichar2tex
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(node: nodes.Element, block: bool) -> str:
    """The formula of a node; the TeX itself, with a warning, where it has no translation."""
    tex = node.astext().translate(unichar2tex.uni2tex_table)
    try:
        return str(latex2mathml.tex2mathml(tex, as_block=block))
    except MathError as error:
        logger.warning("no MathML for %r: %s", tex, error, location=node)
        return f"<code>{escape(tex)}</code>"


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node, block=False))
    raise nodes.SkipNode


def displayed(translator: Any, node: nodes.math_block) -> None:
    translator.body += [translator.starttag(node, "div", CLASS="math"), mathml(node, block=True)]
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
