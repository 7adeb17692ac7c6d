"""HTML from the Markdown of this project, as CommonMark with tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def to_html(text: str, link: Callable[[str], str] = str) -> str:
    """Return the HTML of the Markdown of reports and notes; tags are escaped, comments and pictures are left out.

    `link` maps the target of a link to its target in the site, or to "" to drop the link.

    Examples
    --------
    >>> to_html("A *b* and `c`.")
    '<p>A <em>b</em> and <code>c</code>.</p>'
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(_COMMENT.sub("", text))
    for position, token in enumerate(tokens):
        match token.type:
            case "heading_open":
                words = tokens[position + 1].content.lower()
                token.attrSet("id", re.sub(r"[^a-z0-9]+", "-", words).strip("-"))
            case "table_open":
                token.attrSet("class", "sortable")
            case "th_open" | "td_open":
                _set_cell(*tokens[position : position + 3])
            case "code_block":
                token.attrSet("tabindex", "0")
            case "inline":
                token.children = list(_inline(token.children or [], link))
    made: str = parser.renderer.render(tokens, parser.options, {})
    made = made.replace("<table ", '<div class="scroll" tabindex="0"><table ').replace("</table>", "</table></div>")
    return made.strip()


def _set_cell(start: Token, content: Token, end: Token) -> None:
    """Set the attributes of a cell of a table; a heading without words is a cell."""
    right = start.attrs.pop("style", "") == "text-align:right"
    if not content.content:
        start.tag = end.tag = "td"
    if start.tag == "th":
        start.attrSet("scope", "col")
    if right:
        start.attrSet("class", "n")


def _inline(tokens: list[Token], link: Callable[[str], str]) -> Iterator[Token]:
    """Yield the parts of a line, without pictures and dropped links."""
    dropped = False
    for token in tokens:
        if token.type == "link_open":
            target = link(str(token.attrs["href"]))
            dropped = not target
            token.attrSet("href", target)
        if token.type != "image" and not (dropped and token.type in ("link_open", "link_close")):
            yield token
