"""HTML from the Markdown of reports and notes, by markdown-it."""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt


def to_html(text: str, link: Callable[[str], str] = str) -> str:
    r"""Return the HTML of the Markdown of reports and notes; tags are escaped, and images are left out.

    `link` maps the target of a link to its target in the site, or to "" to drop the link.

    Examples
    --------
    >>> to_html("A *b* and `c`.")
    '<p>A <em>b</em> and <code>c</code>.</p>\n'
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    for opened, inside, closed in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opened.type == "heading_open":
            opened.attrSet("id", re.sub(r"[^a-z0-9]+", "-", inside.content.lower()).strip("-"))
        elif opened.type == "th_open" and inside.content:
            opened.attrSet("scope", "col")
        elif opened.type == "th_open":  # a heading without words is none
            opened.tag = closed.tag = "td"
        if opened.attrs.pop("style", "") == "text-align:right":
            opened.attrSet("class", "n")
    for token in tokens:
        token.children = [child for child in token.children or [] if child.type != "image"]
        for child in token.children:
            if child.type == "link_open":
                child.attrs["href"] = target = link(str(child.attrs["href"]))
            if child.type.startswith("link_"):
                child.hidden = not target
    html: str = reader.renderer.render(tokens, reader.options, {})
    html = html.replace("<table>", '<div class="scroll" tabindex="0"><table class="sortable">')
    return html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
