"""Formulas as MathML, which browsers set themselves: no script, no font, no network.

docutils translates from LaTeX. A formula that it does not understand is a warning, and with it the
end of the build.
"""

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

# The bars of a norm grow with what they enclose only where \left and \right have made a row of it.
NORM = re.compile(r"(?<!<mrow>)(\n\s*)<mo>‖</mo>(?!\n\s*</mrow>)")


def mathml(formula: str, node: nodes.Node, *, block: bool) -> str:
    """Translate a formula; warn, and show it as it was written, where that is not possible."""
    try:
        found = tex2mathml(formula, as_block=block)
    except MathError as error:
        logger.warning("the formula %r is not understood: %s", formula, error, location=node)
        return f"<code>{escape(formula)}</code>"
    return NORM.sub(r'\1<mo stretchy="false">‖</mo>', found)


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(mathml(node.astext(), node, block=False))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    formula = mathml(node.astext(), node, block=True)
    self.body.append(f'<div class="formula notranslate" tabindex="0">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
